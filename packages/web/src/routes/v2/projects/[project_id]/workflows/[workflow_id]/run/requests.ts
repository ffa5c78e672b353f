/** What the run dialog asks of the service, the newest job also the page. Refusals are thrown as an ApiProblem. */
import type { Dataset, Job } from '@service/contract';

import { type Answer, call, type CallOptions } from '#lib/api/client.ts';
import { ApiProblem } from '#lib/api/problem.ts';
import { bodyOf, type ImagesQuery } from '#lib/images/filters.ts';
import { type ZarrFolder, resetAndRun, type ResetResult } from '#lib/workflow/run/reset.ts';
import type { submission } from '#lib/workflow/run/submission.ts';

export interface Fresh {
  workflow: Answer<'projects.getWorkflow'>;
  dataset: Dataset;
  flow: Answer<'projects.typeFiltersFlow'>;
  info: Answer<'accounts.currentUserProfileInfo'>;
  preCheck: Answer<'jobs.preCheck'>;
  job: Awaited<ReturnType<typeof latestJob>>;
}

/** The newest job of a workflow on a dataset; null when it has not run on it yet. */
export async function latestJob(
  project_id: number,
  workflow_id: number,
  dataset_id: number,
  options: CallOptions = {},
): Promise<Answer<'jobs.latestJob'> | null> {
  try {
    return await call('jobs.latestJob', { params: { project_id }, query: { workflow_id, dataset_id } }, options);
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.status === 404) return null;
    throw problem;
  }
}

/** Everything the dialog decides with, as it is now: others may have changed it since the page was loaded. */
export async function readFresh(project_id: number, workflow_id: number, dataset_id: number): Promise<Fresh> {
  const params = { project_id, workflow_id };
  const [workflow, dataset, flow, info, preCheck, job] = await Promise.all([
    call('projects.getWorkflow', { params }, { exact: true }),
    call('projects.getDataset', { params: { project_id, dataset_id } }),
    call('projects.typeFiltersFlow', { params }),
    call('accounts.currentUserProfileInfo', {}),
    call('jobs.preCheck', { params }),
    latestJob(project_id, workflow_id, dataset_id),
  ]);
  return { workflow, dataset, flow, info, preCheck, job };
}

export interface Checked {
  project_id: number;
  dataset_id: number;
  workflow_id: number;
  workflowtask_id: number;
  query: ImagesQuery;
  /** All addresses that pass the filters. */
  urls: () => Promise<string[]>;
}

/** Types that only some images have, and images that the task before has not finished. */
export async function checkImages(given: Checked): Promise<{ mixed: string[]; unprocessed: string[] }> {
  const { project_id, dataset_id, workflow_id, workflowtask_id, query, urls } = given;
  const params = { project_id, dataset_id };
  const [mixed, all] = await Promise.all([
    call('projects.verifyUniqueTypes', { params, query: { workflowtask_id }, body: bodyOf(query) }, { exact: true }),
    // a status is not known to this check: it is applied here
    call(
      'projects.nonProcessedImages',
      { params, query: { workflow_id, workflowtask_id }, body: bodyOf({ ...query, status: [] }) },
      { exact: true },
    ),
  ]);
  if (all.length === 0 || query.status.length === 0) return { mixed, unprocessed: all };
  const chosen = new Set(await urls());
  return { mixed, unprocessed: all.filter((url) => chosen.has(url)) };
}

type Body = ReturnType<typeof submission>;

export const submitJob = (project_id: number, workflow_id: number, dataset_id: number, body: Body): Promise<Job> =>
  call('jobs.submitJob', { params: { project_id }, query: { workflow_id, dataset_id }, body }, { exact: true });

/** A new dataset in the folder of the old one, and a job on it; the old one goes last, if it goes. */
export function resetJob(
  project_id: number,
  workflow_id: number,
  made: { name: string; zarrFolder: ZarrFolder; old: Dataset | undefined },
  body: Body,
): Promise<ResetResult> {
  return resetAndRun({
    create: () =>
      call('projects.createDataset', { params: { project_id }, body: { name: made.name, ...made.zarrFolder } }),
    submit: ({ id }) => submitJob(project_id, workflow_id, id, body),
    remove: ({ id }) => call('projects.deleteDataset', { params: { project_id, dataset_id: id } }),
    old: made.old,
  });
}
