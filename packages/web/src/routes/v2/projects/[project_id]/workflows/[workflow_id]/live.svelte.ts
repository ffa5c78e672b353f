/**
 * The newest job of a workflow on a dataset, kept up to date: by the stream of the job while it runs, else by that of the
 * project, which tells when a new one begins. Without a stream it is asked for again and again.
 */
import { PUBLIC_UPDATE_JOBS_INTERVAL } from '$app/env/public';
import type { JobWithTaskStatuses } from '@service/contract';
import { untrack } from 'svelte';

import { addressOf, call } from '#lib/api/client.ts';
import { ApiProblem } from '#lib/api/problem.ts';
import { createPolling } from '#lib/live/polling.svelte.ts';
import { type JobNews, type TaskNews, watch } from '#lib/live/watch.ts';

export interface Lost {
  /** As a moment in milliseconds. */
  since: number;
  /** The service answers when it is asked, only its stream does not come. */
  answers: boolean;
}

export interface Live {
  readonly job: JobWithTaskStatuses | null;
  /** Asked for, not there yet. */
  readonly loading: boolean;
  readonly problem: string | undefined;
  /** Since when the service does not answer. */
  readonly lost: Lost | undefined;
  /** Counts up when units of the job changed: lists that are open ask again. */
  readonly moved: number;
  /** Jobs of this workflow on other datasets came or went. */
  readonly others: number;
  set(job: JobWithTaskStatuses | null): void;
  refresh(): Promise<void>;
}

/** Nobody waits for a job that has ended: only a new one could begin. */
const IDLE_MS = 15_000;

interface Watched {
  project_id: number;
  workflow_id: number;
  dataset_id: () => number | undefined;
  first: JobWithTaskStatuses | null;
  firstDataset: number | undefined;
}

/** Call it while a component is made: it ends with it. */
export function createLive({ project_id, workflow_id, dataset_id, first, firstDataset }: Watched): Live {
  let job = $state.raw(first);
  let loading = $state(false);
  let problem = $state<string>();
  /** Since when no stream comes, and whether something was answered since then. */
  let streamLost = $state<number>();
  let answers = $state(false);
  let moved = $state(0);
  let others = $state(0);
  let shown = firstDataset;
  let asked = 0;
  let statuses: Record<number, string> = {};

  async function refresh(quiet = true) {
    const dataset = dataset_id();
    const number = ++asked;
    if (dataset === undefined) {
      job = null;
      return;
    }
    try {
      const query = { workflow_id, dataset_id: dataset };
      const answer = await call('jobs.latestJob', { params: { project_id }, query }, { quiet });
      if (number !== asked) return;
      job = answer;
      problem = undefined;
    } catch (error) {
      if (number !== asked || !(error instanceof ApiProblem)) return;
      if (error.status === 404) job = null;
      else problem = error.message;
      if (error.status === 0) throw error;
    } finally {
      if (number === asked) loading = false;
    }
  }
  const tryRefresh = () => refresh().catch(() => undefined);

  function take(news: JobNews) {
    if (job?.id === news.id) job = { ...job, ...news };
  }

  function onjob(news: JobNews) {
    if (news.workflow_id !== workflow_id) return;
    if (news.dataset_id !== dataset_id()) {
      if (statuses[news.id] !== news.status) others += 1;
      statuses = { ...statuses, [news.id]: news.status };
    } else if (job === null || news.id > job.id) void tryRefresh();
    else if (news.id === job.id) {
      // with the last word about its tasks, which say what comes next, and its log
      if (job.status === 'submitted' && news.status !== 'submitted') void tryRefresh().then(() => take(news));
      else take(news);
    }
  }

  function ontask({ job_id, workflowtask_id, task_status }: TaskNews) {
    if (job?.id === job_id) job = { ...job, task_statuses: { ...job.task_statuses, [workflowtask_id]: task_status } };
  }

  // another dataset was chosen
  $effect(() => {
    const dataset = dataset_id();
    untrack(() => {
      if (dataset === shown) return;
      shown = dataset;
      job = null;
      loading = dataset !== undefined;
      void tryRefresh();
    });
  });

  const watched = $derived(job?.status === 'submitted' ? job.id : undefined);
  $effect(() => {
    const params = { project_id, job_id: watched };
    const address =
      watched === undefined ? addressOf('jobs.projectEvents', { params }) : addressOf('jobs.jobEvents', { params });
    return watch(address, {
      job: onjob,
      task: ontask,
      units: () => (moved += 1),
      live(isLive) {
        if (isLive) answers = false;
        streamLost = isLive ? undefined : (streamLost ?? Date.now());
      },
    });
  });

  const polling = createPolling({
    async ask() {
      const before = JSON.stringify(job);
      await refresh();
      answers = true;
      return JSON.stringify(job) !== before;
    },
    isNeeded: () => streamLost !== undefined,
    every: () => Math.max(PUBLIC_UPDATE_JOBS_INTERVAL, job?.status === 'submitted' ? 0 : IDLE_MS),
  });
  const lost = $derived<Lost | undefined>(
    streamLost === undefined ? undefined : { since: streamLost, answers: answers && polling.lost === undefined },
  );

  return {
    get job() {
      return job;
    },
    get loading() {
      return loading;
    },
    get problem() {
      return problem;
    },
    get lost() {
      return lost;
    },
    get moved() {
      return moved;
    },
    get others() {
      return others;
    },
    set(next) {
      asked += 1;
      loading = false;
      job = next;
    },
    refresh: () => refresh(false),
  };
}
