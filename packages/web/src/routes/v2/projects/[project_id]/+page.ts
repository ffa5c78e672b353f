import { call } from '#lib/api/client.ts';

import type { PageLoad } from './$types';

/** Enough for the newest job of most workflows; older ones are on the page of their jobs. */
const NEWEST_JOBS = 100;

export const load: PageLoad = async ({ fetch, params, depends }) => {
  depends('app:project');
  const given = { params: { project_id: Number(params.project_id) } };
  const jobs = call('jobs.listJobs', { ...given, query: { page: 1, page_size: NEWEST_JOBS, log: false } }, { fetch });
  const [project, datasets, workflows] = await Promise.all([
    call('projects.getProject', given, { fetch }),
    call('projects.listDatasets', given, { fetch }),
    call('projects.listWorkflows', { ...given, query: { slim: true } }, { fetch }),
    // the page is of use without them
    jobs.catch(() => undefined),
  ]);
  const known = await jobs.catch(() => []);
  return { project, datasets, workflows, jobs: Array.isArray(known) ? known : known.items };
};
