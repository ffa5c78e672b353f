/** The address of the page and the view follow each other: what is set is written, Back and links are read. */
import { goto } from '$app/navigation';
import { navigating, page } from '$app/state';
import { untrack } from 'svelte';

import { readView, writeView } from './address.ts';
import type { View } from './view.svelte.ts';

const PAUSE_MS = 300;

interface Shown {
  image: string | undefined;
  plate: string | undefined;
}

/** Call it while a component is made. */
export function followAddress(view: View, shown: () => Shown) {
  /** The last that was read or written. */
  let search = untrack(() => page.url.search);
  const now = $derived.by(() => {
    if (!view.facts || view.settings.length === 0) return undefined;
    return `?${writeView({ ...view.state, ...shown() }).toString()}`;
  });

  $effect(() => {
    const next = now;
    if (next === undefined || next === search) return undefined;
    const write = () => {
      // on the way to another image, the view belongs to that one; behind an address of our own, it is the next
      if (navigating.to !== null) {
        timer = setTimeout(write, PAUSE_MS);
        return;
      }
      search = next;
      void goto(page.url.pathname + next, { replace: true, reset: false });
    };
    let timer = setTimeout(write, PAUSE_MS);
    return () => clearTimeout(timer);
  });
  $effect(() => {
    const { search: read, searchParams } = page.url;
    if (read === search) return;
    search = read;
    untrack(() => view.take(readView(searchParams)));
  });

  return {
    get link() {
      return location.origin + page.url.pathname + (now ?? page.url.search);
    },
    /** Another image, with the same view: Back leads to the one before. What is marked is of this one. */
    show(image: string) {
      const next = { ...view.state, image, plate: undefined, marks: [] };
      search = `?${writeView(next).toString()}`;
      view.take(next);
      void goto(page.url.pathname + search, { reset: false });
    },
  };
}
