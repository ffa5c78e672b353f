/** The query of an address: how it changes, and from which address the next change begins. */
export type Changes = Record<string, string | number | boolean | null | undefined>;

/** The query with some values changed; what is empty is left out. */
export function changedQuery(search: string, changes: Changes): string {
  const next = new URLSearchParams(search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === null || value === '') next.delete(key);
    else next.set(key, String(value));
  }
  const text = next.toString();
  return text === '' ? '' : `?${text}`;
}

export const paramsOf = (search: string): URLSearchParams => new URLSearchParams(search);

type Address = Pick<URL, 'href' | 'pathname' | 'search'>;

export interface Places {
  shown: Address;
  /** Where a navigation leads that has begun and not ended. */
  underWay: Address | undefined;
}

/** A query that was asked for, with where the page was and where it went at that moment. */
export interface Asked {
  search: string;
  shown: string;
  underWay: string | undefined;
}

export const askedFrom = ({ shown, underWay }: Places, search: string): Asked => ({
  search,
  shown: shown.href,
  underWay: underWay?.href,
});

/**
 * What the page shows, or will in a moment: a change that begins from an address which is being left would take back the
 * change before it. What was asked for counts until a navigation takes it up, from then on the navigation does.
 */
export function queryNow({ shown, underWay }: Places, asked: Asked | undefined): string {
  if (asked && asked.shown === shown.href && asked.underWay === underWay?.href) return asked.search;
  return underWay?.pathname === shown.pathname ? underWay.search : shown.search;
}
