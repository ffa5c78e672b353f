/** Reading jobs and history on the wire. */
import { jobs } from '@service/contract';

import type { Database } from '../../db/index.ts';
import type { Api } from '../../http/index.ts';
import type { Logger } from '../../logging/index.ts';
import { openProject, openWorkflow } from '../../projects/index.ts';
import type { Clusters } from '../../slurm/index.ts';
import { clusterQueue } from '../cluster-queue.ts';
import type { JobFiles } from '../files/index.ts';
import * as history from '../history.ts';
import { imageHistory } from '../image-history.ts';
import { countImageGroups, queryImageStatus } from '../image-status.ts';
import { createLogReaders, type LogReaders } from '../log-readers.ts';
import { preCheck } from '../pre-check.ts';
import { ranWorkflow } from '../ran-workflow.ts';
import * as reads from '../reads.ts';
import * as accounting from '../store/accounting.ts';
import { timelineOf } from '../timeline.ts';
import * as logs from '../unit-logs.ts';

export interface ReadParts {
  db: Database;
  files: JobFiles;
  log: Logger;
  clusters: Clusters;
  /** The longest list without pages, where one was set. */
  maxListLength: number | null;
}

interface PartsWithReaders extends ReadParts {
  readers: LogReaders;
}

export function jobReadRoutes(api: Api, given: ReadParts): void {
  const parts = { ...given, readers: createLogReaders() };
  listRoutes(api, parts);
  singleRoutes(api, parts);
  historyRoutes(api, parts);
  adminRoutes(api, parts);
}

function listRoutes(api: Api, { db, maxListLength }: ReadParts): void {
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

function singleRoutes(api: Api, { db, files, clusters, readers }: PartsWithReaders): void {
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

function historyRoutes(api: Api, parts: PartsWithReaders): void {
  const { db, readers } = parts;
  api.serve(jobs.listRuns, ({ user, params, query }) => history.listRuns(db, user, { ...params, ...query }));
  api.serve(jobs.listUnits, ({ user, params, query: { unit_status, ended, page, page_size, ...task } }) =>
    history.listUnits(db, user, { ...params, ...task }, { status: unit_status, ended }, { page, page_size }),
  );
  api.serve(jobs.queryImageStatus, ({ user, params, query, body }) =>
    queryImageStatus(db, user, { ...params, ...query }, body, query, query),
  );
  api.serve(jobs.countImageGroups, ({ user, params, query, body: { by, ...filters } }) =>
    countImageGroups(db, user, { ...params, ...query }, filters, by),
  );
  api.serve(jobs.imageHistory, ({ user, params, query }) => imageHistory(db, user, { ...params, ...query }));
  api.serve(jobs.imageLog, ({ user, params, body: { zarr_url, ...task }, reply }) =>
    logs.imageLog({ ...parts, reader: readers.open(user.id, reply) }, user, { ...params, ...task }, zarr_url),
  );
  api.serve(jobs.unitLog, ({ user, params, query, reply }) =>
    logs.unitLog({ ...parts, reader: readers.open(user.id, reply) }, user, { ...params, ...query }),
  );
}

function adminRoutes(api: Api, { db, files, readers }: PartsWithReaders): void {
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
  api.serve(jobs.queryAccounting, ({ body, query }) => accounting.pageOfRecords(db, body, query));
  api.serve(jobs.queryAccountingByGet, ({ query }) => accounting.pageOfRecords(db, query, query));
  api.serve(jobs.queryAccountingSlurm, ({ body }) => accounting.schedulerJobIds(db, body));
}
