import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends, params }) => {
  depends('app:job');
  const place = { project_id: Number(params.project_id), job_id: Number(params.job_id) };
  const [project, job, timeline, ran] = await Promise.all([
    call('projects.getProject', { params: { project_id: place.project_id } }, { fetch }),
    call('jobs.getJob', { params: place, query: {} }, { fetch }),
    call('jobs.jobTimeline', { params: place }, { fetch }),
    call('jobs.jobWorkflow', { params: place }, { fetch, exact: true }),
  ]);
  return { place, project, job, timeline, ran };
};
