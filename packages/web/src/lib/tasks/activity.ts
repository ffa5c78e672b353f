/**
 * Activities: what is done with a package, step by step, as pages show it.
 *
 *     activityState({ status: 'ongoing', action: 'collect' }) // { look: 'running', word: 'Collecting' }
 */
import type { Activity, ActivityAction, ActivityStatus, ActivityStep } from '@service/contract';

import { counted, formatCount, formatSeconds, secondsBetween } from '../format.ts';
import type { State } from '../ui/status.ts';

export const ACTION_NAMES: Record<ActivityAction, string> = {
  collect: 'Collect',
  deactivate: 'Deactivate',
  reactivate: 'Reactivate',
  delete: 'Delete',
  reset: 'Reset',
};

export const STATUS_NAMES: Record<ActivityStatus, string> = {
  pending: 'Waiting',
  ongoing: 'Running',
  OK: 'Done',
  failed: 'Failed',
};

const AT_WORK: Record<ActivityAction, string> = {
  collect: 'Collecting',
  deactivate: 'Deactivating',
  reactivate: 'Reactivating',
  delete: 'Removing',
  reset: 'Resetting',
};

export function activityState({ status, action }: Pick<Activity, 'status' | 'action'>): State {
  if (status === 'pending') return { look: 'waiting', word: STATUS_NAMES.pending };
  if (status === 'ongoing') return { look: 'running', word: AT_WORK[action] };
  return status === 'OK' ? { look: 'done', word: STATUS_NAMES.OK } : { look: 'failed', word: STATUS_NAMES.failed };
}

export const isUnfinished = ({ status }: Pick<Activity, 'status'>): boolean =>
  status === 'pending' || status === 'ongoing';

/** From its start to its end, or until now. */
function secondsOf(
  { timestamp_started, timestamp_ended }: { timestamp_started: string | null; timestamp_ended: string | null },
  now: number,
): number | undefined {
  if (timestamp_started === null) return undefined;
  return secondsBetween(timestamp_started, timestamp_ended ?? now);
}

/** How long an activity took so far; undefined where nobody recorded its end. */
export const tookOf = (activity: Pick<Activity, 'status' | 'timestamp_started' | 'timestamp_ended'>, now: number) =>
  activity.timestamp_ended === null && !isUnfinished(activity) ? undefined : secondsOf(activity, now);

export interface StepView {
  name: string;
  state: State;
  /** `71 of 84, numba, 24 s` */
  words: string;
}

const STEP_STATES: Record<ActivityStep['status'], State> = {
  pending: { look: 'unset', word: 'Not started' },
  ongoing: { look: 'running', word: 'Running' },
  OK: { look: 'done', word: 'Done' },
  failed: { look: 'failed', word: 'Failed' },
  skipped: { look: 'unset', word: 'Not needed' },
};

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** Steps keep their names and their order: they are data. Those after a failed one never begin. */
export function stepViews(activity: Pick<Activity, 'steps' | 'status'>, now: number): StepView[] {
  return activity.steps.map((step) => {
    const over = step.status === 'ongoing' && activity.status === 'failed';
    const state = STEP_STATES[over ? 'failed' : step.status];
    const seconds = over ? undefined : secondsOf(step, now);
    const parts = [
      step.total === null
        ? step.done === null
          ? ''
          : formatCount(step.done)
        : `${formatCount(step.done ?? 0)} of ${formatCount(step.total)}`,
      step.status === 'failed' ? '' : (step.detail ?? ''),
      seconds === undefined ? '' : formatSeconds(seconds),
    ].filter((part) => part !== '');
    const idle = step.status === 'skipped' ? 'not needed' : activity.status === 'failed' ? 'not started' : 'pending';
    return { name: capital(step.name), state, words: parts.length > 0 ? parts.join(', ') : over ? 'ended here' : idle };
  });
}

/** Why it failed, as the step says at which it ended. */
export const causeOf = ({ status, steps }: Pick<Activity, 'steps' | 'status'>): string | undefined =>
  status === 'failed' ? (steps.find((step) => step.status === 'failed')?.detail ?? undefined) : undefined;

/** One sentence under the title: where it stands. */
export function progressWords(activity: Pick<Activity, 'steps' | 'status'>): string {
  const needed = activity.steps.filter(({ status }) => status !== 'skipped');
  const over = needed.filter(({ status }) => status === 'OK').length;
  return needed.length === 0 ? '' : `${formatCount(over)} of ${counted(needed.length, 'step')}`;
}

const LINE_HEAD = /^([\d-]+ [\d:]+),\d{3} - [\w-]+ - (DEBUG|INFO|WARNING|ERROR) - /gm;

/** The log to read: what programs printed as they printed it, all else with its time, and its level when that matters. */
export const readableLog = (log: string): string =>
  log.replace(LINE_HEAD, (_, time: string, level: string) => {
    if (level === 'DEBUG') return '';
    return level === 'INFO' ? `${time} - ` : `${time} - ${level} - `;
  });

/** Whether an answer tells something new; while it does not, asking becomes rarer. */
export const changed = (before: Activity | undefined, after: Activity): boolean =>
  before === undefined ||
  before.status !== after.status ||
  before.log !== after.log ||
  JSON.stringify(before.steps) !== JSON.stringify(after.steps);
