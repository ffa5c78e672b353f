/**
 * Filters are in the address, so that a view can be kept, sent and found again after going back.
 *
 *     const text = $derived(address.params.get('text') ?? '');
 *     setQuery({ text: 'nuclei', page: null });
 *
 * A page loads its data from the address that it shows. Its filters come from here: they already are as they were set,
 * while the list for them is still on its way.
 */
import { goto } from '$app/navigation';
import { navigating, page } from '$app/state';
import { untrack } from 'svelte';

import { type Asked, askedFrom, changedQuery, type Changes, paramsOf, type Places, queryNow } from './query.ts';

let asked = $state.raw<Asked>();

const places = (): Places => ({ shown: page.url, underWay: navigating.to?.url });

export const address = {
  /** The query with its question mark, as it was asked for last. */
  get search(): string {
    return queryNow(places(), asked);
  },
  get params(): URLSearchParams {
    return paramsOf(address.search);
  },
};

/** Changes the query of the page that is shown, without a new entry in the history and without moving it. */
export async function setSearch(change: (search: string) => string): Promise<void> {
  const { mine, pathname } = untrack(() => ({
    mine: askedFrom(places(), change(address.search)),
    pathname: page.url.pathname,
  }));
  asked = mine;
  try {
    await goto(pathname + mine.search, { replace: true, reset: false });
  } finally {
    if (asked === mine) asked = undefined;
  }
}

/** `setSearch` for single values: only what is named changes, and what is empty is left out. */
export const setQuery = (changes: Changes): Promise<void> => setSearch((search) => changedQuery(search, changes));
