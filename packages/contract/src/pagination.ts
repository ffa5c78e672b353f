/** Pages of long lists: `?page=2&page_size=50`. Without `page_size` everything comes in one page. */
import { z } from 'zod';

import { answer, integer } from './wire/scalars.ts';

export const pageQuery = {
  page: integer().default(1),
  page_size: integer().nullable().default(null),
};

export interface PageRequest {
  page: number;
  page_size: number | null;
}

/** What the database can skip. */
const LARGEST_OFFSET = 2 ** 63 - 1024;

/** What is wrong with a page that reads as two integers, or nothing. */
export function pageProblem({ page, page_size }: PageRequest): string | undefined {
  if (page < 1) return 'page must be 1 or more.';
  if (page_size !== null && page_size < 1) return 'page_size must be 1 or more.';
  if (page > 1 && page_size === null) return 'Give page_size together with page.';
  if (page_size !== null && page * page_size > LARGEST_OFFSET) return 'page and page_size are too large.';
  return undefined;
}

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    current_page: answer.integer(),
    page_size: answer.integer(),
    total_count: answer.integer(),
    items: z.array(item),
  });
