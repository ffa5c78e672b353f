/** Which tasks made and changed an image, followed while it is looked at: what is written meanwhile is not on the screen yet. */
import type { ImageHistory } from '@service/contract';

import { call, type DatasetIds } from '../api/client.ts';
import { createAnswer } from '../images/answer.svelte.ts';
import { createPolling } from '../live/polling.svelte.ts';
import { endedSince, runningOf } from './history.ts';

const BUSY_MS = 5000;
const QUIET_MS = 20_000;

interface Question {
  ids: DatasetIds;
  zarr_url: string;
}

/** Call it while a component is made. */
export function createHistory(question: () => Question | undefined) {
  let version = $state(0);
  /** How it was when the image that is shown was read. */
  let seen = $state.raw<{ of: string; history: ImageHistory }>();
  const answer = createAnswer(
    () => {
      const asked = question();
      return asked && { ...asked, version };
    },
    ({ ids: { project_id, dataset_id }, zarr_url }, options) => {
      const asked = { params: { project_id }, query: { dataset_id, zarr_url } };
      return call('jobs.imageHistory', asked, { ...options, exact: true });
    },
  );
  /** Not of the image before. */
  const value = $derived(answer.of?.zarr_url === question()?.zarr_url ? answer.value : undefined);
  const running = $derived(value && runningOf(value));
  $effect(() => {
    const of = question()?.zarr_url;
    if (value && of !== undefined && seen?.of !== of) seen = { of, history: value };
  });
  createPolling({
    ask: () => {
      version++;
      return Promise.resolve(running !== undefined);
    },
    isNeeded: () => value !== undefined,
    every: () => (running ? BUSY_MS : QUIET_MS),
  });

  return {
    get value() {
      return value;
    },
    get running() {
      return running;
    },
    /** The task that wrote since the image was read. */
    get ended() {
      return value && seen?.of === question()?.zarr_url ? endedSince(seen!.history, value) : undefined;
    },
    /** The image is read again. */
    see() {
      const of = question()?.zarr_url;
      if (value && of !== undefined) seen = { of, history: value };
    },
  };
}
