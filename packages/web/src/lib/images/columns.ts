/** Which columns a table of images has. */
import { ownOf } from '../json.ts';
import { attributeKeys, type ImagesPage, isMixed, isNumeric, typeKeys } from './filters.ts';

export interface Columns {
  status: boolean;
  attributes: string[];
  /** Numbers stand right. */
  numeric: ReadonlySet<string>;
  /** Attributes with the text "1" beside the number 1: told apart by quotation marks. */
  mixed: ReadonlySet<string>;
  types: string[];
  /** Types that need a look: those with mixed values before a run. */
  marked: ReadonlySet<string>;
  /** Time and memory. */
  units: boolean;
}

export function imageColumns(
  page: ImagesPage | undefined,
  locked: Readonly<Record<string, boolean>>,
  marked: readonly string[],
): Columns {
  const values = page?.attributes ?? {};
  const attributes = attributeKeys(values);
  return {
    status: page?.status_counts !== undefined,
    attributes,
    numeric: new Set(attributes.filter((key) => isNumeric(ownOf(values, key) ?? []))),
    mixed: new Set(attributes.filter((key) => isMixed(ownOf(values, key) ?? []))),
    types: typeKeys(page?.types ?? [], locked),
    marked: new Set(marked),
    units: page?.items.some(({ unit }) => unit !== undefined) ?? false,
  };
}
