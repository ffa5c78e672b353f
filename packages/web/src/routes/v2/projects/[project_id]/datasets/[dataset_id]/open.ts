/** What can be open over the page of a dataset. */
import type { ListedImage } from '#lib/images/filters.ts';

export type ChangeOfMany = 'set' | 'unset' | 'type' | 'remove';

export type Open =
  /** Without an image a new one is added. */
  | { what: 'edit'; image: ListedImage | undefined }
  | { what: 'remove'; image: ListedImage }
  | { what: 'log'; image: ListedImage }
  | { what: 'bulk'; change: ChangeOfMany }
  | { what: 'delete' };
