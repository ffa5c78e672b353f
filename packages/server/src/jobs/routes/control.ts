/** Submitting, stopping and labelling jobs on the wire. */
import { jobs } from '@service/contract';

import type { Api } from '../../http/index.ts';
import type { Queue } from '../../queue/index.ts';
import type { RunAs } from '../../run-as/index.ts';
import type { Clusters } from '../../slurm/index.ts';
import { adminStopJob, type ControlParts, labelJob, stopJob } from '../control.ts';
import { submitJob } from '../submit.ts';

export interface JobControlParts extends ControlParts {
  queue: Pick<Queue, 'wake'>;
  dataDir: string;
  clusters: Clusters;
  runAs: RunAs;
}

export function jobControlRoutes(api: Api, parts: JobControlParts): void {
  api.serve(jobs.submitJob, ({ user, params, query, body }) => submitJob(parts, user, { ...params, ...query }, body));
  for (const operation of [jobs.stopJobByGet, jobs.stopJob]) {
    api.serve(operation, ({ by, params }) => stopJob(parts, by, params));
  }
  api.serve(jobs.stopJobById, ({ by, params }) => stopJob(parts, by, params));
  for (const operation of [jobs.adminStopJobByGet, jobs.adminStopJob]) {
    api.serve(operation, ({ by, params }) => adminStopJob(parts, by, params.job_id));
  }
  api.serve(jobs.adminUpdateJob, ({ by, params, body }) => labelJob(parts, by, params.job_id, body.status));
}
