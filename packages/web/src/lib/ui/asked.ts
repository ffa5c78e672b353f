/** What the address of a list asks for: texts, numbers, pages, and moments that people enter as a day and a time. */
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

/** A month of the reader's own time zone, from its first moment to the first moment of the next. */
export function monthBounds(month: string): { start_timestamp_min: string; start_timestamp_max: string } {
  const [year, number] = month.split('-').map(Number);
  return {
    start_timestamp_min: new Date(year!, number! - 1, 1).toISOString(),
    start_timestamp_max: new Date(year!, number!, 1).toISOString(),
  };
}

/** Moments that people enter as a day and an optional time of theirs, and that the service gets in UTC. */
const two = (value: number) => String(value).padStart(2, '0');

/** `2026-11-09` and `08:30` in the reader's own zone. */
export function partsOf(iso: string | undefined): { day: string; time: string } {
  const date = iso === undefined ? undefined : new Date(iso);
  if (date === undefined || Number.isNaN(date.getTime())) return { day: '', time: '' };
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return { day, time: time === '00:00' ? '' : time };
}

/** Without a time the beginning of the day; without a day nothing. */
export function momentOf(day: string, time: string): string | undefined {
  if (day === '') return undefined;
  const date = new Date(`${day}T${time === '' ? '00:00' : time}`);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A moment in the address that is none asks for nothing. */
export function momentIn(search: URLSearchParams, key: string): string | undefined {
  const text = textOf(search, key);
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}
