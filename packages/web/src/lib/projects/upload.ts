/**
 * Sends what was read from a file, such as a dataset of a hundred thousand images.
 *
 *     await uploadJson(addressOf('projects.importDataset', { params }), body, (part) => (sent = part));
 */
import { clean } from '../api/clean.ts';
import { type Progress, upload } from '../api/upload.ts';
import { writeJson } from '../json.ts';
import { counted } from '../ui/format.ts';
import { toast } from '../ui/toasts.svelte.ts';

export function uploadJson(address: string, given: unknown, onprogress: Progress): Promise<unknown> {
  const { value, changed } = clean(given);
  if (changed.length > 0)
    toast(`Blanks and unseen signs were removed in ${counted(changed.length, 'place')} of the file.`);
  return upload(address, new Blob([writeJson(value)], { type: 'application/json' }), onprogress);
}
