/** Stopping a job, and labelling one as failed by hand. */
import type { Job, JobStatus, User } from '@service/contract';

import type { Database } from '../db/index.ts';
import { refuse } from '../http/index.ts';
import { findAnyJob, NO_JOB, openJob } from './reads.ts';
import * as store from './store/control.ts';
import { readJob } from './store/jobs.ts';

export interface ControlParts {
  db: Database;
  /** Tells the executors of this process to look at once. */
  attention: { look(): void };
}

const OVER = 'The job has ended already.';

async function stop({ db, attention }: ControlParts, jobId: number, user: User): Promise<void> {
  // the request is kept with the job: it counts also when the service is restarted before it was heard
  if (!(await store.requestStop(db, jobId, user.email))) throw refuse(422, OVER);
  attention.look();
}

/** Stops a job of a project; without a project, of the job's own. */
export async function stopJob(
  parts: ControlParts,
  user: User,
  { job_id, project_id }: { job_id: number; project_id?: number },
): Promise<void> {
  const place = project_id ?? (await findAnyJob(parts.db, job_id)).project_id;
  if (place === null) throw refuse(404, NO_JOB);
  await openJob(parts.db, user, { project_id: place, job_id }, 'rwx');
  await stop(parts, job_id, user);
}

export async function adminStopJob(parts: ControlParts, user: User, jobId: number): Promise<void> {
  await findAnyJob(parts.db, jobId);
  await stop(parts, jobId, user);
}

/** What still runs of it is stopped by whoever executes it, who sees that the job is over. */
export async function labelJob(parts: ControlParts, user: User, jobId: number, status: JobStatus): Promise<Job> {
  await parts.db.transaction().execute(async (trx) => {
    const job = await store.holdJob(trx, jobId);
    if (!job) throw refuse(404, NO_JOB);
    if (job.status !== 'submitted') throw refuse(422, `${OVER} Only a job that is not over can be labelled.`);
    if (status !== 'failed') throw refuse(422, 'A job can only be labelled as failed.');
    const message = `${new Date().toISOString()}: an administrator (${user.email}) labelled this job as failed.`;
    const failure = { kind: 'admin' as const, workflowtask_id: null, message, num_images: 0 };
    await store.labelFailed(trx, jobId, `${job.log ?? ''}\n${message}`, failure);
  });
  parts.attention.look();
  return readJob(parts.db, jobId);
}
