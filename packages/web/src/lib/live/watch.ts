/**
 * Hears what happens with jobs while it happens.
 *
 *     const stop = watch(addressOf('jobs.projectEvents', { params }), { job: (job) => …, task: (news) => … });
 *
 * One stream a tab: a browser holds six connections to a server, and tabs that nobody looks at would block the others. So
 * a hidden tab hears nothing, and is brought up to date by the snapshot that every stream begins with.
 */
import type { Job, TaskStatus } from '@service/contract';

import { addressOf, answered } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import { listeners } from '../api/listeners.ts';

export interface TaskNews {
  job_id: number;
  workflowtask_id: number;
  task_status: TaskStatus | null;
}

/** A job as streams tell it, without its log. */
export type JobNews = Omit<Job, 'log'>;

export interface LogNews {
  /** Bytes before this text. */
  offset: number;
  text: string;
}

export interface Listeners {
  job?: (job: JobNews) => void;
  task?: (news: TaskNews) => void;
  /** What changed is in the answer of the API: ask again. */
  units?: () => void;
  log?: (news: LogNews) => void;
  /** False when the service does not answer; the stream comes back by itself. */
  live?: (isLive: boolean) => void;
}

const FIRST_WAIT_MS = 3000;
const LONGEST_WAIT_MS = 30_000;

type Session = 'is there' | 'again' | 'given up';

/** What may be the reason of a refusal; whose session is over is asked to sign in again, as after a refused call. */
async function session(): Promise<Session> {
  try {
    const response = await answered(addressOf('accounts.currentUser'), {}, { quiet: true });
    if (response.status !== 401) return 'is there';
  } catch {
    // no answer says nothing about the session
    return 'is there';
  }
  try {
    await listeners.sessionEnd?.signInAgain();
    return 'again';
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    return 'given up';
  }
}

export function watch(address: string, listeners: Listeners): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = FIRST_WAIT_MS;
  /** What was asked before the last of these is about a stream that is not wanted any more. */
  let closed = 0;

  function hear<T>(name: string, tell: ((data: T) => void) | undefined) {
    if (tell) source!.addEventListener(name, (event) => tell(JSON.parse((event as MessageEvent<string>).data) as T));
  }

  function open() {
    source = new EventSource(address);
    hear('job', listeners.job);
    hear('task', listeners.task);
    hear('units', listeners.units);
    hear('log', listeners.log);
    source.onopen = () => {
      wait = FIRST_WAIT_MS;
      listeners.live?.(true);
    };
    source.onerror = () => {
      listeners.live?.(false);
      // the browser tries again after a broken connection, but not after a refusal
      if (source?.readyState === EventSource.CLOSED) void refused();
    };
  }

  async function refused() {
    close();
    const at = closed;
    const found = await session();
    if (at !== closed) return;
    if (found === 'again') open();
    else if (found === 'is there') {
      timer = setTimeout(open, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  }

  function close() {
    closed += 1;
    clearTimeout(timer);
    source?.close();
    source = undefined;
  }

  function onvisibility() {
    if (document.hidden) close();
    else if (source === undefined) open();
  }

  document.addEventListener('visibilitychange', onvisibility);
  if (!document.hidden) open();
  return () => {
    document.removeEventListener('visibilitychange', onvisibility);
    close();
  };
}
