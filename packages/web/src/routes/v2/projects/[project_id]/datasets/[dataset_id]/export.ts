/** The list of images as a file. The API writes it; only a list by status is made here, where the status is known. */
import { addressOf, type DatasetIds } from '#lib/api/client.ts';
import { bodyOf, type ImagesQuery } from '#lib/images/filters.ts';
import { writeJson } from '#lib/json.ts';
import { saveFile, saveFrom } from '#lib/ui/export.ts';

import { gatherImages } from './images.ts';
import { statusCsv, statusJson } from './status-list.ts';

export type Format = 'csv' | 'json';

const safe = (name: string) => name.replace(/[^\p{L}\p{N}._-]+/gu, '_');

/** Whether all images of the list are in the file. */
export async function exportList(
  ids: DatasetIds,
  name: string,
  query: ImagesQuery,
  task: number | undefined,
  format: Format,
): Promise<boolean> {
  const file = `${safe(name)}-images.${format}`;
  if (query.status.length === 0 || task === undefined) {
    const address = addressOf('projects.exportImages', { params: ids, query: { format } });
    const headers = { 'content-type': 'application/json' };
    await saveFrom(address, file, { method: 'POST', headers, body: writeJson(bodyOf({ ...query, status: [] })) });
    return true;
  }
  const { items, attributes, types, cut } = await gatherImages(ids, task, query, { exact: true });
  if (format === 'json') saveFile(file, statusJson(items));
  else saveFile(file, statusCsv(items, attributes, types), 'text/csv');
  return !cut;
}

export const exportDataset = (ids: DatasetIds, name: string): Promise<void> =>
  saveFrom(addressOf('projects.exportDataset', { params: ids }), `dataset-export-${safe(name)}-${Date.now()}.json`);
