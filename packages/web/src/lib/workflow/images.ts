/** The images of a task: which types are decided by the task, how an image is called, which comes next. */
import type { ImageStatus } from '@service/contract';

import { type ListedImage, relativePath } from '../images/filters.ts';
import { statusOf } from '../images/image-state.ts';

type TypeFlags = Record<string, boolean>;

/** What the task takes, whatever the reader chooses. */
export const fixedTypes = (task: { type_filters: TypeFlags; task: { input_types: TypeFlags } }): TypeFlags => ({
  ...task.type_filters,
  ...task.task.input_types,
});

/**
 * Images that a task has looked at are shown whatever their types are now: a count must lead to as many images. Only for
 * those it has not looked at the types say which it could take.
 */
export const lockedTypes = (fixed: TypeFlags, status: readonly ImageStatus[]): TypeFlags =>
  status.length === 0 || status.includes('unset') ? fixed : {};

export interface ImageName {
  name: string;
  /** Where it lies. */
  place: string | undefined;
}

/** By its well where it has one, as people call it; else by its path. */
export function imageName(image: Pick<ListedImage, 'zarr_url' | 'attributes'>, zarrDir: string): ImageName {
  const { well, plate } = image.attributes;
  const path = relativePath(image.zarr_url, zarrDir);
  if (typeof well !== 'string' || well === '') return { name: path, place: undefined };
  return { name: well, place: typeof plate === 'string' || typeof plate === 'number' ? String(plate) : undefined };
}

/** The one after or before, among the failed where there are some. */
export function nextImage<I extends ListedImage>(
  items: readonly I[],
  current: string | undefined,
  step: 1 | -1,
): I | undefined {
  const at = items.findIndex(({ zarr_url }) => zarr_url === current);
  const rest = step === 1 ? items.slice(at + 1) : items.slice(0, Math.max(0, at)).reverse();
  const someFailed = items.some((image) => statusOf(image) === 'failed');
  return rest.find((image) => !someFailed || statusOf(image) === 'failed');
}
