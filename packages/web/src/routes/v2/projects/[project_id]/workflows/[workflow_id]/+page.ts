/**
 * Everything the workflow page begins with, in four calls. Without a dataset in the address the choice of the reader is in
 * the browser's storage, which the server does not see: it delivers the empty frame, and the browser asks.
 */
import { browser } from '$app/env';
import { error } from '@sveltejs/kit';

import { type Answer, call } from '#lib/api/client.ts';
import { ApiProblem } from '#lib/api/problem.ts';
import { chooseDataset, NO_DATASET, rememberedDataset } from '#lib/workflow/dataset.ts';

import type { PageLoad } from './$types';
import { latestJob } from './run/requests.ts';

type Fetch = typeof fetch;

async function ask(project_id: number, workflow_id: number, wanted: string | null, fetch: Fetch) {
  const params = { project_id, workflow_id };
  const remembered = browser ? rememberedDataset(localStorage, project_id, workflow_id) : undefined;
  // a dataset that is named is asked for at once; one that is not there any more is found out by the list
  const named =
    wanted && /^\d+$/.test(wanted) ? latestJob(project_id, workflow_id, Number(wanted), { fetch }) : undefined;
  named?.catch(() => undefined);
  const asked = Promise.all([
    call('projects.getWorkflow', { params }, { fetch, exact: true }),
    call('projects.listDatasets', { params: { project_id } }, { fetch }),
  ]);
  const candidates = call('projects.versionUpdateCandidates', { params }, { fetch });
  candidates.catch(() => undefined);
  const [workflow, datasets] = await asked;
  const dataset =
    wanted === NO_DATASET ? undefined : chooseDataset(datasets, { wanted, remembered, last: workflow.last_dataset_id });
  let job: Answer<'jobs.latestJob'> | null = null;
  if (dataset)
    job = await (String(dataset.id) === wanted ? named! : latestJob(project_id, workflow_id, dataset.id, { fetch }));
  return { workflow, datasets, dataset_id: dataset?.id, job, candidates: await candidates };
}

export const load: PageLoad = async ({ params, url, fetch, depends, untrack }) => {
  depends('app:workflow');
  const [project_id, workflow_id] = [Number(params.project_id), Number(params.workflow_id)];
  // another dataset is followed by the page itself: nothing else changes with it
  const wanted = untrack(() => url.searchParams.get('dataset'));
  const ids = { project_id, workflow_id };
  if (!browser && wanted === null) return { ...ids, page: undefined };
  try {
    return { ...ids, page: await ask(project_id, workflow_id, wanted, fetch) };
  } catch (problem) {
    if (problem instanceof ApiProblem) error(problem.status || 503, problem.message);
    throw problem;
  }
};
