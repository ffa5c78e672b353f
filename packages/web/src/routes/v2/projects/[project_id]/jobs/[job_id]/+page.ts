import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends, params }) => {
  depends('app:job');
  const ids = { project_id: Number(params.project_id), job_id: Number(params.job_id) };
  const [project, job, timeline, ran] = await Promise.all([
    call('projects.getProject', { params: { project_id: ids.project_id } }, { fetch }),
    call('jobs.getJob', { params: ids, query: {} }, { fetch }),
    call('jobs.jobTimeline', { params: ids }, { fetch }),
    call('jobs.jobWorkflow', { params: ids }, { fetch, exact: true }),
  ]);
  return { ids, project, job, timeline, ran };
};
