/** What lists and tables are told: columns, and which pages of a long list are offered. */
import type { Snippet } from 'svelte';
import type { ClassValue } from 'svelte/elements';

export interface Column {
  name: string;
  /** In the place of the name: a checkbox for all rows. */
  head?: Snippet;
  /** For screen readers alone. */
  hidden?: boolean;
  /** What its cells are too: `num`, `low`, `lower`. */
  class?: ClassValue;
  width?: number | string;
  /** How the rows are sorted by it, where they are or could be. */
  sort?: 'ascending' | 'descending' | 'none';
  /** Sorts by it; without this the order is only told. */
  onsort?: () => void;
}

/** The number that something is known by. */
export const ID: Column = { name: 'Id', class: 'num id' };

/** A column with what can be done with a row. */
export const ACTIONS: Column = { name: 'Actions', hidden: true, width: '1%' };

/** Columns that are there only sometimes. */
export const columnsOf = (columns: (Column | false | undefined)[]): Column[] =>
  columns.filter((column) => column !== false && column !== undefined);

/** Where in a long list a page of it is, as the API answers. */
export interface Found {
  current_page: number;
  page_size: number;
  total_count: number;
}

/** Which pages of a long list are offered. */
export const PAGE_SIZES = [10, 20, 50, 100, 500];

const AROUND = 3;

/** The current page with three on each side, the first and the last; null stands for those left out. */
export function pageNumbers(page: number, last: number): (number | null)[] {
  const near = Array.from({ length: 2 * AROUND + 1 }, (_, index) => page - AROUND + index);
  const shown = [...new Set([1, ...near, last])].filter((number) => number >= 1 && number <= last);
  return shown.flatMap((number, index) => {
    const before = shown[index - 1];
    const gap = before === undefined ? 1 : number - before;
    // a gap of one page is that page
    return gap === 2 ? [number - 1, number] : gap > 2 ? [null, number] : [number];
  });
}
