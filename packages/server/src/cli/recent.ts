/** `servicectl recent`: what runs, or ended lately; tells whether a restart is safe. */
import { plural } from '@service/contract/plural';

import { recentJobs } from '../jobs/index.ts';
import { recentActivities } from '../tasks/index.ts';
import { withWorkplace } from './tools.ts';

/** A hundred years: longer than anything runs, and a time that the database can compute. */
const LONGEST_MINUTES = 100 * 366 * 24 * 60;

/** `2026-01-31T12:00:00.123456+00:00` → `2026-01-31 12:00:00` */
const time = (timestamp: string | null) => timestamp?.slice(0, 19).replace('T', ' ') ?? '-';
const period = (start: string, end: string | null) => `start=${time(start)} end=${time(end)}`;

function summary(running: number, ended: number, minutes: number): string {
  const those = (count: number) =>
    `${count} ${plural(count, 'job')} or task-group ${plural(count, 'activity', 'activities')}`;
  if (running > 0) {
    const [are, them] = [plural(running, 'is', 'are'), plural(running, 'it', 'them')];
    return `${those(running)} ${are} running. Wait for ${them} before a restart.`;
  }
  const lately = `in the last ${plural(minutes, 'minute', `${minutes} minutes`)}`;
  return ended > 0
    ? `Nothing runs; ${those(ended)} ended ${lately}. A restart is safe.`
    : `Nothing runs, and nothing ended ${lately}. A restart is safe.`;
}

function print(heading: string, lines: string[]): void {
  if (lines.length > 0) console.log([heading, ...lines, ''].join('\n'));
}

export async function recent({ minutes }: { minutes: number }): Promise<void> {
  await withWorkplace(async (workplace) => {
    const within = Math.min(minutes, LONGEST_MINUTES);
    const jobs = await recentJobs(workplace.db, within);
    const activities = await recentActivities(workplace.db, within);
    const running = [...jobs, ...activities].filter(({ status }) =>
      ['submitted', 'ongoing', 'pending'].includes(status),
    ).length;
    console.log('## Summary');
    console.log(`${summary(running, jobs.length + activities.length, minutes)}\n`);
    print(
      '## Recent jobs',
      jobs.map((job) => {
        const { id, user_email, status, start_timestamp, end_timestamp } = job;
        return `ID=${id} by ${user_email} ${status} ${period(start_timestamp, end_timestamp)}`;
      }),
    );
    print(
      '## Recent task-group activities',
      activities.map(({ id, email, action, pkg_name, version, status, timestamp_started, timestamp_ended }) => {
        const what = `${action} ${pkg_name} ${version} ${status}`;
        return `ID=${id} by ${email} ${what} ${period(timestamp_started, timestamp_ended)}`;
      }),
    );
  });
}
