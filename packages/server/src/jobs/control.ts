/** Stopping a job, and labelling one as failed by hand. */
import type { Job, JobStatus } from '@service/contract';

import { type Entry, record } from '../audit/index.ts';
import type { Database } from '../db/index.ts';
import { type Acting, refuse } from '../http/index.ts';
import { findAnyJob, NO_JOB, openJob } from './reads.ts';
import * as store from './store/control.ts';
import { readJob } from './store/jobs.ts';

export interface ControlParts {
  db: Database;
  /** Tells the executors of this process to look at once. */
  stopRequests: { look(): void };
}

const OVER = 'The job has ended already.';

const ofJob = ({ id, workflow_dump, dataset_dump }: Job): Entry['object'] => [
  'job',
  id,
  `${workflow_dump.name} on ${dataset_dump.name}`,
];

async function stop({ db, stopRequests }: ControlParts, by: Acting, job: Job): Promise<void> {
  const { email } = by.user;
  await db.transaction().execute(async (trx) => {
    // the request is kept with the job: it counts also when the service is restarted before it was heard
    if (!(await store.requestStop(trx, job.id, email))) throw refuse(422, OVER);
    const isOwn = job.user_email === email && by.actor === undefined;
    if (isOwn || job.stop_requested_at !== null) return;
    await record(trx, by, { action: 'job.stop', object: ofJob(job), details: { job_of: job.user_email } });
  });
  stopRequests.look();
}

/** Stops a job of a project; without a project, of the job's own. */
export async function stopJob(
  parts: ControlParts,
  by: Acting,
  { job_id, project_id }: { job_id: number; project_id?: number },
): Promise<void> {
  const projectId = project_id ?? (await findAnyJob(parts.db, job_id)).project_id;
  if (projectId === null) throw refuse(404, NO_JOB);
  await stop(parts, by, await openJob(parts.db, by.user, { project_id: projectId, job_id }, 'rwx'));
}

export async function adminStopJob(parts: ControlParts, by: Acting, jobId: number): Promise<void> {
  await stop(parts, by, await findAnyJob(parts.db, jobId));
}

/** What still runs of it is stopped by whoever executes it, who sees that the job is over. */
export async function labelJob(parts: ControlParts, by: Acting, jobId: number, status: JobStatus): Promise<Job> {
  await parts.db.transaction().execute(async (trx) => {
    const job = await store.holdJob(trx, jobId);
    if (!job) throw refuse(404, NO_JOB);
    if (job.status !== 'submitted') throw refuse(422, `${OVER} Only a job that is not over can be labelled.`);
    if (status !== 'failed') throw refuse(422, 'A job can only be labelled as failed.');
    const message = `${new Date().toISOString()}: an administrator (${by.user.email}) labelled this job as failed.`;
    const failure = { kind: 'admin' as const, workflowtask_id: null, message, num_images: 0 };
    await store.labelFailed(trx, jobId, `${job.log ?? ''}\n${message}`, failure);
    const labelled = await findAnyJob(trx, jobId);
    const details = { job_of: labelled.user_email };
    await record(trx, by, { action: 'job.label_failed', object: ofJob(labelled), details });
  });
  parts.stopRequests.look();
  return readJob(parts.db, jobId);
}
