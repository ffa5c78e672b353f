/** Filters of admin lists, as the address has them. */
const PAGE_SIZE = 50;

export const textOf = (search: URLSearchParams, key: string): string | undefined =>
  search.get(key)?.trim() || undefined;

/** A number in the address that is none asks for nothing. */
export function wholeOf(search: URLSearchParams, key: string): number | undefined {
  const text = textOf(search, key);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

export function yesOrNo(search: URLSearchParams, key: string): boolean | undefined {
  const text = textOf(search, key);
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

export const pageOf = (search: URLSearchParams, size = PAGE_SIZE): { page: number; page_size: number } => ({
  page: wholeOf(search, 'page') ?? 1,
  page_size: wholeOf(search, 'page_size') ?? size,
});
