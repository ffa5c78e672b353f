import { call } from '#lib/api/client.ts';
import { asPage, jobQuery } from '#lib/jobs/jobs.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, depends, url, params }) => {
  depends('app:jobs');
  const ids = { project_id: Number(params.project_id), workflow_id: Number(params.workflow_id) };
  const { status, dataset_id, user_email, page, page_size } = jobQuery(url.searchParams);
  const query = { status, dataset_id, user_email, page, page_size };
  const [workflow, datasets, list] = await Promise.all([
    call('projects.getWorkflow', { params: ids }, { fetch }),
    call('projects.listDatasets', { params: { project_id: ids.project_id } }, { fetch }),
    call('jobs.listWorkflowJobs', { params: ids, query: { ...query, log: false } }, { fetch }),
  ]);
  return { ids, query, workflow, datasets, list: asPage(list) };
};
