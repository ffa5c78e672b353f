/** The overview of administrators in words. */
import type { DiskSeen, Overview, ResourceSeen } from '@service/contract';

import { counted, formatBytes, formatCount, formatWhen } from '../format.ts';
import { route } from '../route.ts';
import type { State } from '../ui/status.ts';

/** What was never asked is not unreachable. */
export function reachedState({ state, since }: Pick<ResourceSeen, 'state' | 'since'>, now = Date.now()): State {
  if (state === 'reachable') return { look: 'done', word: 'Reachable' };
  if (state === 'unknown') return { look: 'unset', word: 'Not checked yet' };
  return { look: 'failed', word: since === null ? 'Unreachable' : `Unreachable since ${formatWhen(since, now)}` };
}

export interface Fullness {
  /** From 0 to 1. */
  used: number;
  words: string;
  look: 'done' | 'warning' | 'failed';
}

/** Below a tenth somebody should look; below three hundredths jobs begin to fail. */
const LITTLE = 0.1;
const HARDLY_ANY = 0.03;

export function fullness({
  total_bytes,
  free_bytes,
}: Pick<DiskSeen, 'total_bytes' | 'free_bytes'>): Fullness | undefined {
  if (total_bytes === null || free_bytes === null || total_bytes === 0) return undefined;
  const free = free_bytes / total_bytes;
  return {
    used: 1 - free,
    words: `${formatBytes(free_bytes)} free of ${formatBytes(total_bytes)}`,
    look: free < HARDLY_ANY ? 'failed' : free < LITTLE ? 'warning' : 'done',
  };
}

export interface Figure {
  label: string;
  count: string;
  note: string;
  href: string;
  look?: 'running' | 'failed' | 'warning';
}

/** The numbers on top, each with the list behind it. What is nothing to look at has no colour. */
export function figuresOf({ jobs, accounts, activities }: Overview): Figure[] {
  const { admin } = route;
  const toned = (count: number, look: NonNullable<Figure['look']>) => (count > 0 ? { look } : {});
  return [
    {
      label: 'Running jobs',
      count: formatCount(jobs.running),
      note: `${formatCount(jobs.waiting)} waiting`,
      href: admin.jobs({ status: 'submitted' }),
      ...toned(jobs.running, 'running'),
    },
    {
      label: 'Failed jobs, last 24 h',
      count: formatCount(jobs.failed_last_day),
      note: `${formatCount(jobs.done_last_day)} done`,
      href: admin.jobs({ status: 'failed' }),
      ...toned(jobs.failed_last_day, 'failed'),
    },
    {
      label: 'Pending accounts',
      count: formatCount(accounts.pending),
      note: `${counted(accounts.active, 'active account')}`,
      href: admin.users({ kind: 'pending' }),
      ...toned(accounts.pending, 'warning'),
    },
    {
      label: 'Ongoing installations',
      count: formatCount(activities.ongoing),
      note: `${formatCount(activities.failed_last_day)} failed, last 24 h`,
      href: admin.activities(),
      ...toned(activities.ongoing, 'running'),
    },
  ];
}
