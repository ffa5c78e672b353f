/** Lists that people search and page through: patterns for what they type, and the rows of a page. */
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

/** What a person typed stands for itself in a pattern for `ilike`: `50%` finds `50%`, not everything. */
const literal = (text: string) => text.replace(/[\\%_]/g, '\\$&');

/** The pattern of texts that have this one inside. */
export const contains = (text: string) => `%${literal(text)}%`;

/** The pattern of texts that begin with this one. */
export const startsWith = (text: string) => `${literal(text)}%`;
