/** A list of images with what a task did with them, as the text of a file. */
import { attributeKeys, type ListedImage, STATUS_KEY, valueWords } from '#lib/images/filters.ts';
import { imageState } from '#lib/images/image-state.ts';
import { writeJson } from '#lib/json.ts';

const quoted = (cell: string) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);

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
    ...keys.map((key) => valueWords(image.attributes[key])),
    ...types.map((key) => valueWords(image.types[key])),
  ]);
  return [['zarr_url', 'status', 'message', ...keys, ...types], ...lines]
    .map((cells) => `${cells.map(quoted).join(',')}\r\n`)
    .join('');
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
