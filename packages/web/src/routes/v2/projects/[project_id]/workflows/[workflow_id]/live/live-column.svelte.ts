/**
 * What is shown beside the arguments of a task while it runs: the wells of a plate, and the images that ended last. It is
 * asked for again when units have changed, not more often than eyes follow; while nothing changes nothing is asked.
 */
import type { HistoryUnit, ImageGroup, Scalar } from '@service/contract';
import { untrack } from 'svelte';

import { call, type CallOptions } from '#lib/api/client.ts';
import { ApiProblem } from '#lib/api/problem.ts';
import { platePath } from '#lib/images/viewers.ts';

const PAUSE_MS = 3000;
const SHOWN = 7;

export interface Followed {
  project_id: number;
  dataset_id: number;
  workflowtask_id: number;
  history_run_id: number;
}

export interface LiveColumn {
  readonly latest: HistoryUnit[] | undefined;
  readonly groups: ImageGroup[] | undefined;
  readonly plates: readonly Scalar[];
  /** The number of the plate that is shown. */
  readonly at: number;
  readonly problem: string | undefined;
  /** Shows another plate and stays there. */
  choose(at: number): void;
}

/** Call it while a component is made. `moved` changes when units of the job changed. */
export function createLiveColumn(followed: () => Followed, moved: () => string): LiveColumn {
  let latest = $state.raw<HistoryUnit[]>();
  let groups = $state.raw<ImageGroup[]>();
  let plates = $state.raw<Scalar[]>([]);
  let plate = $state.raw<Scalar>();
  let problem = $state<string>();
  /** The reader chose the plate: it does not follow the work any more. */
  let stays = false;
  /** The folder of the plate that is followed; empty before the first image has ended. */
  let folder: string | undefined;
  let controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let wantsMore = false;

  /** An image tells on which plate it lies; any tells which plates there are. */
  async function findPlate({ project_id, dataset_id }: Followed, newest: string | undefined, options: CallOptions) {
    const now = newest === undefined ? '' : (platePath(newest) ?? newest);
    if (folder !== undefined && (stays || now === folder)) return;
    const page = await call(
      'projects.queryImages',
      { params: { project_id, dataset_id }, query: { page: 1, page_size: 1 }, body: { zarr_url: newest ?? null } },
      options,
    );
    folder = now;
    plates = page.attributes['plate'] ?? [];
    if (!stays) plate = page.items[0]?.attributes['plate'] ?? plates[0];
  }

  function countWells({ project_id, dataset_id, workflowtask_id }: Followed, of: Scalar, options: CallOptions) {
    const query = { dataset_id, workflowtask_id };
    const body = { by: ['well'], attribute_filters: { plate: [of] } };
    return call('jobs.countImageGroups', { params: { project_id }, query, body }, options);
  }

  async function ask(options: CallOptions) {
    const place = untrack(followed);
    const { project_id, history_run_id, dataset_id, workflowtask_id } = place;
    const query = { dataset_id, workflowtask_id };
    const units = await call(
      'jobs.listUnits',
      { params: { project_id, history_run_id }, query: { ...query, ended: true, page: 1, page_size: SHOWN } },
      options,
    );
    await findPlate(place, units.items.find(({ zarr_urls }) => zarr_urls.length > 0)?.zarr_urls[0], options);
    const counted = plate === undefined ? undefined : await countWells(place, plate, options);
    // at once: the list stands below the plate, and would jump
    latest = units.items;
    groups = counted?.groups;
  }

  async function round() {
    clearTimeout(timer);
    timer = undefined;
    isAsking = true;
    wantsMore = false;
    const { signal } = controller;
    try {
      await ask({ signal, quiet: true });
      problem = undefined;
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiProblem)) throw error;
      problem = error.message;
    } finally {
      if (!signal.aborted) {
        isAsking = false;
        if (wantsMore) later();
      }
    }
  }

  function later() {
    if (isAsking) wantsMore = true;
    else timer ??= setTimeout(() => void round(), PAUSE_MS);
  }

  const key = $derived(JSON.stringify(followed()));
  $effect(() => {
    void key;
    [latest, groups, plates, plate, stays, folder] = [undefined, undefined, [], undefined, false, undefined];
    controller = new AbortController();
    untrack(() => void round());
    return () => {
      controller.abort();
      clearTimeout(timer);
      timer = undefined;
      isAsking = false;
    };
  });

  let last = untrack(moved);
  $effect(() => {
    const now = moved();
    if (now === last) return;
    last = now;
    later();
  });

  return {
    get latest() {
      return latest;
    },
    get groups() {
      return groups;
    },
    get plates() {
      return plates;
    },
    get at() {
      return plates.findIndex((one) => JSON.stringify(one) === JSON.stringify(plate));
    },
    get problem() {
      return problem;
    },
    choose(at) {
      stays = true;
      plate = plates[at];
      if (isAsking) wantsMore = true;
      else void round();
    },
  };
}
