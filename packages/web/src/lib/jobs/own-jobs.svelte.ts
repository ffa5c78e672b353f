/**
 * Looks after the reader's own running jobs: their number for the bar on top, and a notice when one ends while another page
 * is open. Asked on load, on navigation, and every half minute as long as something runs and somebody looks.
 */
import { goto } from '$app/navigation';
import { page } from '$app/state';

import { call } from '../api/client.ts';
import { pageId } from '../route.ts';
import { notify, notifiesOn } from './notify.ts';
import { gone, isShown, type JobNotice, noticeOf, type RunningJob, runningOf } from './own-jobs.ts';

const EVERY_MS = 30_000;
/** The workflow page has six calls to begin with, and hears of its own job by itself. */
const AFTER_LOAD_MS = 10_000;
const firstWait = (): number | undefined =>
  lastLook === 0 && page.route.id === pageId.workflow ? AFTER_LOAD_MS : undefined;
const MOST = 20;
const KEY = 'running-jobs';

let count = $state(0);
let notices = $state<JobNotice[]>([]);
let email: string | undefined;
let lastLook = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let isLooking = false;

export const ownJobs = {
  get count(): number {
    return count;
  },
  get notices(): readonly JobNotice[] {
    return notices;
  },
  putAway(id: number): void {
    notices = notices.filter((notice) => notice.id !== id);
  },
};

/** Kept for the tab, so that a reloaded page still tells. */
function known(): RunningJob[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as { email?: string; jobs?: RunningJob[] };
    return kept.email === email ? (kept.jobs ?? []) : [];
  } catch {
    return [];
  }
}

async function tell({ id, project_id }: RunningJob): Promise<void> {
  const params = { project_id, job_id: id };
  // a job that is not there any more went with its project
  const job = await call('jobs.getJob', { params }, { quiet: true }).catch(() => undefined);
  if (job === undefined || job.status === 'submitted') return;
  const notice = noticeOf(job);
  if (document.hidden) notify(notice.words, notice.note, `job-${id}`, () => void goto(notice.href));
  if (isShown(location.pathname, job)) return;
  notices = [...notices.filter((one) => one.id !== id), notice].slice(-3);
}

async function look(): Promise<void> {
  if (email === undefined || isLooking) return;
  isLooking = true;
  lastLook = Date.now();
  const asked = email;
  try {
    const query = { status: 'submitted' as const, user_email: email, log: false, page: 1, page_size: MOST };
    const page = await call('jobs.listAllJobs', { query }, { quiet: true });
    if (asked !== email || Array.isArray(page)) return;
    count = page.total_count;
    const now = runningOf(page.items);
    const ended = gone(known(), now);
    sessionStorage.setItem(KEY, JSON.stringify({ email, jobs: now }));
    await Promise.all(ended.map(tell));
  } catch {
    // the number stays as it was; what is wrong is said where somebody asked for something
  } finally {
    isLooking = false;
    plan();
  }
}

/** The next look: only while something runs, and somebody looks or wants to be told. */
function plan(): void {
  clearTimeout(timer);
  if (count === 0 && known().length === 0) return;
  timer = setTimeout(() => {
    if (!document.hidden || notifiesOn()) void look();
  }, EVERY_MS);
}

/** After a navigation: now, or when half a minute is over since the last look. */
export function lookSoon(): void {
  clearTimeout(timer);
  const wait = firstWait() ?? lastLook + EVERY_MS - Date.now();
  if (wait <= 0) void look();
  else timer = setTimeout(() => void look(), wait);
}

/** For pages that start or stop a job: the number on top follows at once. */
export const lookNow = (): Promise<void> => look();

/** Begins for this person, or ends without one. */
export function takeCareOfJobs(person: string | undefined): () => void {
  if (person !== email) {
    email = person;
    count = 0;
    notices = [];
    lastLook = 0;
    const wait = firstWait();
    if (wait === undefined) void look();
    else timer = setTimeout(() => void look(), wait);
  }
  const onvisibility = () => {
    if (!document.hidden) lookSoon();
  };
  document.addEventListener('visibilitychange', onvisibility);
  return () => document.removeEventListener('visibilitychange', onvisibility);
}
