/** Pages of long lists: which rows of a query they are, and how the wire shows them. */
import type { PageRequest } from '@service/contract';

/** What to skip and how many to take; without `page_size` everything is one page. */
export function rowsOf({ page, page_size }: PageRequest): { limit: number | null; offset: number } {
  return { limit: page_size, offset: page_size === null ? 0 : (page - 1) * page_size };
}

export const pageOf = <T>({ page, page_size }: PageRequest, total_count: number, items: T[]) => ({
  current_page: page,
  page_size: page_size ?? total_count,
  total_count,
  items,
});
