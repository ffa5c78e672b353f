/** A list of images with what a task did with them, as the text of a file. */
import { csvOf } from '@service/contract/csv';

import { attributeKeys, type ListedImage, STATUS_KEY, valueWords } from '#lib/images/filters.ts';
import { imageState } from '#lib/images/image-state.ts';
import { ownOf, writeJson } from '#lib/json.ts';

/** With a column for the status in words, and one for what went wrong. */
export function statusCsv(
  items: readonly ListedImage[],
  attributes: Record<string, unknown>,
  types: readonly string[],
) {
  const keys = attributeKeys(attributes);
  const lines = items.map((image) => [
    image.zarr_url,
    imageState(image).word,
    image.unit?.message ?? '',
    ...keys.map((key) => valueWords(ownOf(image.attributes, key))),
    ...types.map((key) => valueWords(ownOf(image.types, key))),
  ]);
  return csvOf(['zarr_url', 'status', 'message', ...keys, ...types], lines);
}

export const statusJson = (items: readonly ListedImage[]) =>
  writeJson(
    items.map(({ zarr_url, origin, attributes: { [STATUS_KEY]: status, ...attributes }, types, unit }) => ({
      zarr_url,
      origin,
      attributes,
      types,
      status,
      message: unit?.message ?? null,
    })),
    2,
  );
