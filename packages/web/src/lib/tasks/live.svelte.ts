/**
 * Activities that stay as they are on the service: unfinished ones are asked for again.
 *
 *     const live = createLive(() => data.activities, { ask, onend: () => invalidate('app:task-groups') });
 *     live.list, live.add(activity)
 */
import { PUBLIC_UPDATE_JOBS_INTERVAL } from '$app/env/public';

import type { Activity } from '@service/contract';

import { createPolling } from '../live/polling.svelte.ts';
import { changed, isUnfinished } from './activity.ts';

interface Options {
  ask: (id: number) => Promise<Activity | undefined>;
  /** One of them has ended. */
  onend?: (activity: Activity) => void;
}

/** Steps of a small package take less than a second each. */
const every = () => Math.min(1000, PUBLIC_UPDATE_JOBS_INTERVAL);

export function createLive(given: () => Activity[], { ask, onend }: Options) {
  // the list of the page, with what is known since it was loaded
  let known = $state.raw<readonly Activity[]>([]);
  let added = $state.raw<readonly number[]>([]);
  const list = $derived.by(() => {
    const loaded = given();
    const fresher = (one: Activity) => {
      const other = known.find(({ id }) => id === one.id);
      return other === undefined || (isUnfinished(other) && !isUnfinished(one)) ? one : other;
    };
    const besides = known.filter(({ id }) => added.includes(id) && loaded.every((one) => one.id !== id));
    return [...besides, ...loaded.map(fresher)].sort((a, b) => b.id - a.id);
  });
  const unfinished = $derived(list.filter(isUnfinished));

  function take(activity: Activity) {
    known = [activity, ...known.filter(({ id }) => id !== activity.id)];
  }

  async function askOne(id: number): Promise<boolean> {
    const before = list.find((one) => one.id === id);
    const after = await ask(id);
    if (after === undefined || !changed(before, after)) return false;
    take(after);
    if (before && isUnfinished(before) && !isUnfinished(after)) onend?.(after);
    return true;
  }

  createPolling({
    ask: async () => (await Promise.all(unfinished.map(({ id }) => askOne(id)))).some(Boolean),
    isNeeded: () => unfinished.length > 0,
    every,
  });

  return {
    get list() {
      return list;
    },
    /** A new one, which the page has not loaded yet. */
    add(activity: Activity) {
      added = [...added, activity.id];
      take(activity);
    },
    /** Asks once, for the log that the list does not have. */
    ask: askOne,
  };
}
