/** The folder of a job as a zip file. Fetched and then saved, so that a refusal is told where it was asked for. */
import { addressOf } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import { saveFrom } from '../ui/export.ts';
import type { ListedJob } from './jobs.ts';

export async function saveLogs({ id, project_id }: Pick<ListedJob, 'id' | 'project_id'>, admin = false): Promise<void> {
  const address =
    admin || project_id === null
      ? addressOf('jobs.adminDownloadJob', { params: { job_id: id } })
      : addressOf('jobs.downloadJob', { params: { project_id, job_id: id } });
  try {
    await saveFrom(address, `${id}_logs.zip`);
  } catch (error) {
    if (error instanceof ApiProblem) throw error;
    throw new ApiProblem(0, 'The logs could not be loaded. Check your connection and try again.');
  }
}
