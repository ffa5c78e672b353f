/** Where a table is, and what the readers of its kinds give. */
import type { Reading } from '../../zarr/store.ts';
import type { Column, ColumnFacts } from './columns.ts';

export interface TableSource {
  path: string;
  /** Of Zarr. */
  version: 2 | 3;
  /** The name of the index, where the metadata has one. */
  index: string | null;
  /** The index is of whole numbers, though it may be written as texts. */
  isWhole: boolean;
  reading: Reading;
}

/** What a backend gives. */
export interface Content {
  columns: ColumnFacts[];
  /** Undefined where it is known only when a table has been read. */
  rows: number | undefined;
  /** Of names that `columns` lists. */
  read(names: readonly string[]): Promise<Map<string, Column>>;
}
