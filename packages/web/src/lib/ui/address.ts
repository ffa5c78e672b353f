/** Filters are in the address, so that a view can be kept, sent and found again after going back. */
import { goto } from '$app/navigation';
import { page } from '$app/state';

type Value = string | number | boolean | null | undefined;

/** The query with some values changed; what is empty is left out. */
export function changedQuery(search: string, changes: Record<string, Value>): string {
  const next = new URLSearchParams(search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === null || value === '') next.delete(key);
    else next.set(key, String(value));
  }
  const text = next.toString();
  return text === '' ? '' : `?${text}`;
}

/** Changes the query of the page that is shown, without a new entry in the history and without moving it. */
export const setQuery = (changes: Record<string, Value>): Promise<void> =>
  goto(page.url.pathname + changedQuery(page.url.search, changes), { replace: true, reset: false });
