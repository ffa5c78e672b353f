/** Wells of a plate that tasks write while it is looked at: what is on the screen is from before. */
import { untrack } from 'svelte';

import { createPolling } from '../live/polling.svelte.ts';
import type { Where } from './where.svelte.ts';

const EVERY_MS = 8000;
/** A task may begin at any time. */
const EVERY_MS_AT_REST = 30_000;

/** Call it while a component is made. */
export function createWritten(where: Where, isPlate: () => boolean) {
  const writing = $derived(
    isPlate() ? (where.info?.wells.flatMap(({ name, state }) => (state === 'being_written' ? [name] : [])) ?? []) : [],
  );
  /** Since the plate was read. */
  let touched = $state.raw<readonly string[]>([]);
  $effect(() => {
    const now = writing;
    if (now.length === 0) return;
    const before = untrack(() => touched);
    touched = [...before, ...now.filter((name) => !before.includes(name))];
  });
  createPolling({
    ask: () => {
      where.refresh();
      return Promise.resolve(true);
    },
    isNeeded: isPlate,
    every: () => (writing.length > 0 ? EVERY_MS : EVERY_MS_AT_REST),
  });

  return {
    /** How many are done and not shown yet. */
    get wells() {
      return touched.filter((name) => !writing.includes(name)).length;
    },
    /** The plate is read again. */
    see: () => void (touched = writing),
  };
}
