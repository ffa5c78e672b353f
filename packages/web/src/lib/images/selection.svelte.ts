/**
 * Images that somebody chose: some by name, over several pages, or all that pass the filters.
 *
 *     const selection = createSelection();
 *     selection.toggle(url); selection.chooseAll(); selection.count(total)
 */
import { SvelteSet } from 'svelte/reactivity';

export interface Selection {
  /** All that pass the filters, also on other pages. */
  readonly all: boolean;
  readonly urls: ReadonlySet<string>;
  has: (url: string) => boolean;
  count: (total: number) => number;
  toggle: (url: string) => void;
  /** Chooses all of a page, or none when all were chosen. */
  togglePage: (urls: readonly string[]) => void;
  chooseAll: () => void;
  clear: () => void;
}

export function createSelection(): Selection {
  const urls = new SvelteSet<string>();
  let all = $state(false);

  const clear = () => {
    urls.clear();
    all = false;
  };
  return {
    get all() {
      return all;
    },
    urls,
    has: (url) => all || urls.has(url),
    count: (total) => (all ? total : urls.size),
    toggle(url) {
      all = false;
      if (!urls.delete(url)) urls.add(url);
    },
    togglePage(page) {
      const none = all || page.every((url) => urls.has(url));
      if (all) clear();
      for (const url of page) {
        if (none) urls.delete(url);
        else urls.add(url);
      }
    },
    chooseAll() {
      all = true;
    },
    clear,
  };
}
