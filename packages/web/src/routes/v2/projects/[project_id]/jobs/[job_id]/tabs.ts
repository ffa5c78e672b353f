/** Which tabs the page of a job has, and which one it opens with. */
import type { SingleJob } from '@service/contract';

import type { Figures } from '#lib/jobs/timeline.ts';

export type TabKey = 'log' | 'failed' | 'warned' | 'scheduler' | 'arguments';

export interface JobTab {
  key: TabKey;
  name: string;
  count?: number;
  bad?: boolean;
}

export function tabsOf(job: Pick<SingleJob, 'executor_error_log'>, { failed, warned }: Figures): JobTab[] {
  return [
    { key: 'log', name: 'Job log' },
    ...(failed > 0 ? [{ key: 'failed' as const, name: 'Failed', count: failed, bad: true }] : []),
    ...(warned > 0 ? [{ key: 'warned' as const, name: 'Warnings', count: warned }] : []),
    ...(job.executor_error_log ? [{ key: 'scheduler' as const, name: 'Scheduler' }] : []),
    { key: 'arguments', name: 'Arguments' },
  ];
}

/** The one of the address if it is there; else what tells most about a failure. */
export function shownTab(tabs: readonly JobTab[], asked: string | null, schedulerSpoke: boolean): TabKey {
  const found = tabs.find(({ key }) => key === asked);
  return found?.key ?? (schedulerSpoke ? 'scheduler' : 'log');
}
