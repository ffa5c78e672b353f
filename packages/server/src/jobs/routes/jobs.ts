/** Reading jobs on the wire. */
import { jobs } from '@service/contract';

import type { Database } from '../../db/index.ts';
import type { Api } from '../../http/index.ts';
import { openProject, openWorkflow } from '../../projects/index.ts';
import type { Clusters } from '../../slurm/index.ts';
import { clusterQueue } from '../cluster-queue.ts';
import type { JobFiles } from '../files/index.ts';
import type { LogReaders } from '../log-readers.ts';
import { preCheck } from '../pre-check.ts';
import { ranWorkflow } from '../ran-workflow.ts';
import * as reads from '../reads.ts';
import { timelineOf } from '../timeline.ts';

export interface JobParts {
  db: Database;
  files: JobFiles;
  clusters: Clusters;
  readers: LogReaders;
  /** The longest list without pages, where one was set. */
  maxListLength: number | null;
}

export function jobRoutes(api: Api, parts: JobParts): void {
  listRoutes(api, parts);
  singleRoutes(api, parts);
  adminRoutes(api, parts);
}

function listRoutes(api: Api, { db, maxListLength }: JobParts): void {
  api.serve(jobs.listAllJobs, async ({ user, query: { log, page, page_size, ...filter } }) => {
    const asked = { ...filter, member_id: user.id };
    return (await reads.listJobs(db, asked, { log, page, page_size }, maxListLength)).answer;
  });
  api.serve(jobs.listJobs, async ({ user, params, query: { log, page, page_size, ...filter } }) => {
    const asked = { ...filter, ...params, member_id: user.id };
    const { count, answer } = await reads.listJobs(db, asked, { log, page, page_size }, maxListLength);
    // who sees a job may see the project; who sees none may be somebody to refuse
    if (count === 0) await openProject(db, user, params.project_id, 'r');
    return answer;
  });
  api.serve(jobs.listWorkflowJobs, async ({ user, params, query: { log, page, page_size, ...filter } }) => {
    await openWorkflow(db, user, params.project_id, params.workflow_id, 'r');
    return (await reads.listJobs(db, { ...filter, ...params }, { log, page, page_size }, maxListLength)).answer;
  });
  api.serve(jobs.preCheck, ({ user, params }) => preCheck(db, user, params));
  api.serve(jobs.latestJobOfAll, ({ user, query }) => reads.latestOfAll(db, user, query));
  api.serve(jobs.latestJob, ({ user, params, query }) => reads.latestJob(db, user, { ...params, ...query }));
}

function singleRoutes(api: Api, { db, files, clusters, readers }: JobParts): void {
  api.serve(jobs.getJob, ({ user, params, query, reply }) =>
    readers.readJob(user.id, reply, async () =>
      reads.singleJob(files, await reads.openJob(db, user, params, 'r'), query.show_tmp_logs),
    ),
  );
  api.serve(jobs.downloadJob, async ({ user, params }) => files.download(await reads.openJob(db, user, params, 'r')));
  api.serve(jobs.jobTimeline, async ({ user, params }) => {
    const { id } = await reads.openJob(db, user, params, 'r');
    return timelineOf(db, id);
  });
  api.serve(jobs.jobWorkflow, async ({ user, params }) => ranWorkflow(db, await reads.openJob(db, user, params, 'r')));
  api.serve(jobs.jobQueue, async ({ user, params }) =>
    reads.queueOf(db, clusters, await reads.openJob(db, user, params, 'r')),
  );
  api.serve(jobs.squeue, ({ user, query }) => clusterQueue({ db, clusters }, user, query.scope));
}

function adminRoutes(api: Api, { db, files, readers }: JobParts): void {
  api.serve(jobs.adminListJobs, async ({ query: { job_user_email, log, page, page_size, ...filter } }) => {
    const asked = { ...filter, user_email: job_user_email };
    return (await reads.pageOfJobs(db, asked, { log, page, page_size })).answer;
  });
  api.serve(jobs.adminGetJob, ({ user, params, query, reply }) =>
    readers.readJob(user.id, reply, async () => {
      const job = await reads.findAnyJob(db, params.job_id);
      return query.show_tmp_logs ? reads.withWrittenLog(job, await reads.writtenLog(files, job)) : job;
    }),
  );
  api.serve(jobs.adminDownloadJob, async ({ params }) => files.download(await reads.findAnyJob(db, params.job_id)));
}
