/** The newest job of a workflow on a dataset. */
import { type Answer, call } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';

/** Null when the workflow has not run on the dataset yet. */
export async function latestJob(
  project_id: number,
  workflow_id: number,
  dataset_id: number,
  options: Parameters<typeof call>[2] = {},
): Promise<Answer<'jobs.latestJob'> | null> {
  try {
    return await call('jobs.latestJob', { params: { project_id }, query: { workflow_id, dataset_id } }, options);
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.status === 404) return null;
    throw problem;
  }
}
