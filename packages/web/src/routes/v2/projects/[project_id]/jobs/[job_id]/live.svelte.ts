/** A job while it runs: told by its event stream, asked for where the stream does not come. */
import { addressOf, call } from '#lib/api/client.ts';
import { isOver } from '#lib/jobs/jobs.ts';
import { streamedLog, type StreamedLog, withNews } from '#lib/logs/log.ts';
import { createPolling, type Polling } from '#lib/live/polling.svelte.ts';
import { watch } from '#lib/live/watch.ts';
import type { SingleJob, Timeline } from '@service/contract';

interface Given {
  ids: { project_id: number; job_id: number };
  job: SingleJob;
  timeline: Timeline;
}

export interface LiveJob {
  readonly job: SingleJob;
  readonly timeline: Timeline;
  /** What `workflow.log` holds so far. */
  readonly log: string;
  readonly polling: Polling;
  reload(): Promise<boolean>;
}

/** Units change all the time; the picture of them needs no more than this. */
const TIMELINE_EVERY_MS = 2500;

export function createLiveJob(given: () => Given): LiveJob {
  let job = $derived(given().job);
  let timeline = $derived(given().timeline);
  let log: StreamedLog = $derived(streamedLog(given().job.workflow_log ?? ''));
  let isLive = $state(true);
  const over = $derived(isOver(job));
  const project_id = $derived(given().ids.project_id);
  const job_id = $derived(given().ids.job_id);
  let timer: ReturnType<typeof setTimeout> | undefined;

  const same = (asked: number) => asked === given().ids.job_id;

  async function reload(): Promise<boolean> {
    const params = { project_id, job_id };
    const before = JSON.stringify([job, timeline]);
    const [next, line] = await Promise.all([
      call('jobs.getJob', { params, query: {} }, { quiet: true }),
      call('jobs.jobTimeline', { params }, { quiet: true }),
    ]);
    if (!same(params.job_id)) return true;
    job = next;
    timeline = line;
    log = streamedLog(next.workflow_log ?? '');
    return JSON.stringify([job, timeline]) !== before;
  }

  /** What fails in the background is left to the next piece of news. */
  const reloadQuietly = () => void reload().catch(() => undefined);

  function redraw() {
    timer ??= setTimeout(() => {
      timer = undefined;
      const params = { project_id, job_id };
      call('jobs.jobTimeline', { params }, { quiet: true })
        .then((line) => {
          if (same(params.job_id)) timeline = line;
        })
        .catch(() => undefined);
    }, TIMELINE_EVERY_MS);
  }

  $effect(() => {
    if (over) return;
    const stop = watch(addressOf('jobs.jobEvents', { params: { project_id, job_id } }), {
      job(news) {
        job = { ...job, ...news };
        if (isOver(news)) reloadQuietly();
      },
      task: redraw,
      units: redraw,
      log(news) {
        const next = withNews(log, news);
        if (next) log = next;
        else reloadQuietly();
      },
      live: (is) => (isLive = is),
    });
    return () => {
      stop();
      clearTimeout(timer);
      timer = undefined;
    };
  });

  const polling = createPolling({ ask: reload, isNeeded: () => !over && !isLive });

  return {
    get job() {
      return job;
    },
    get timeline() {
      return timeline;
    },
    get log() {
      return log.text;
    },
    polling,
    reload,
  };
}
