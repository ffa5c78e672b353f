import { call } from '#lib/api/client.ts';
import { asPage, jobQuery } from '#lib/jobs/jobs.ts';

import type { PageLoad } from './$types';

/** Workflows and datasets are offered where a project is chosen: of all projects there would be too many. */
async function inProject(project_id: number | undefined, fetch: typeof globalThis.fetch) {
  if (project_id === undefined) return { workflows: [], datasets: [] };
  const params = { project_id };
  const [workflows, datasets] = await Promise.all([
    call('projects.listWorkflows', { params, query: { slim: true } }, { fetch }),
    call('projects.listDatasets', { params }, { fetch }),
  ]);
  const named = ({ id, name }: { id: number; name: string }) => ({ value: String(id), name });
  return { workflows: workflows.map(named), datasets: datasets.map(named) };
}

export const load: PageLoad = async ({ fetch, depends, url }) => {
  depends('app:jobs');
  const query = jobQuery(url.searchParams);
  const [list, options] = await Promise.all([
    call('jobs.listAllJobs', { query: { ...query, log: false } }, { fetch }),
    inProject(query.project_id, fetch),
  ]);
  return { query, list: asPage(list), ...options };
};
