/** The images of the plate that is shown, asked for in the browser: the page does not wait for them. */
import { untrack } from 'svelte';

import type { Scalar } from '@service/contract';

import { ApiProblem } from '#lib/api/problem.ts';
import { changed, type ImagesQuery } from '#lib/images/filters.ts';
import { writeJson } from '#lib/json.ts';

import { type Gathered, gatherPlate, type Place } from './images.ts';

/** Which of the plates the map shows: the one that is filtered for, else the first. */
export const shownPlate = (plates: readonly unknown[], query: ImagesQuery): Scalar | undefined =>
  (query.attributes['plate']?.[0] ?? plates[0]) as Scalar | undefined;

/** All filters but those that the map itself sets, and the status, which it shows. */
export function plateQuery(query: ImagesQuery, plate: Scalar): ImagesQuery {
  const { well: _, ...attributes } = query.attributes;
  return changed(query, { attributes: { ...attributes, plate: [plate] }, status: [], sort: undefined });
}

export interface PlateQuestion {
  place: Place;
  task: number | undefined;
  /** Undefined: there is no plate to ask for. */
  query: ImagesQuery | undefined;
  /** Counts what was changed here, so that it is asked again. */
  version: number;
}

export function createPlateData(asked: () => PlateQuestion) {
  let images = $state.raw<Gathered>();
  let problem = $state<string>();
  let busy = $state(false);
  // the same question in other objects is not asked again
  const question = $derived(writeJson(asked()));

  $effect(() => {
    void question;
    const { place, task, query } = untrack(asked);
    if (!query) return;
    const { signal, abort } = newAbort();
    busy = true;
    gatherPlate(place, task, query, { signal, quiet: true }).then(
      (answer) => {
        if (!signal.aborted) [images, problem, busy] = [answer, undefined, false];
      },
      (error: unknown) => {
        if (!signal.aborted) [problem, busy] = [error instanceof ApiProblem ? error.message : String(error), false];
      },
    );
    return abort;
  });

  return {
    get images() {
      return images;
    },
    get problem() {
      return problem;
    },
    get busy() {
      return busy;
    },
  };
}

function newAbort() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}
