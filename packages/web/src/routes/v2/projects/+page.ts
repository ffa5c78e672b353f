import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

const RECENT_JOBS = 8;
const RECENT_DAYS = 30;

export const load: PageLoad = async ({ fetch, depends }) => {
  depends('app:projects');
  const since = new Date(Date.now() - RECENT_DAYS * 86_400_000).toISOString();
  // what happened lately is beside the point: the list is shown without it
  const recent = Promise.all([
    call('jobs.listAllJobs', { query: { page: 1, page_size: RECENT_JOBS, log: false } }, { fetch }),
    call('tasks.listActivities', { query: { timestamp_started_min: since, log: false } }, { fetch }),
  ]).then(
    ([jobs, activities]) => ({ jobs: Array.isArray(jobs) ? jobs : jobs.items, activities }),
    () => undefined,
  );
  const [mine, shared, invitations] = await Promise.all([
    call('projects.listProjects', { query: { is_owner: true } }, { fetch }),
    call('projects.listProjects', { query: { is_owner: false } }, { fetch }),
    call('projects.listInvitations', {}, { fetch }),
  ]);
  return { mine, shared, invitations, recent: await recent };
};
