/** Submitting a job: what is checked, in this order, and what is kept so that it runs whatever happens to the service. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import {
  type Dataset,
  type Job,
  type JobCreate,
  JobRunnerConfigSLURM,
  type Profile,
  type Resource,
  type User,
} from '@service/contract';
import { plural } from '@service/contract/plural';

import { usableProfile } from '../accounts/index.ts';
import { brokenConstraint, type Database, zulu } from '../db/index.ts';
import { contradiction } from '../engine/type-filters.ts';
import { refuse } from '../http/index.ts';
import { findDataset, findWorkflow, openProject } from '../projects/index.ts';
import { addWork, type Queue } from '../queue/index.ts';
import { jobProblem, type RunAs } from '../run-as/index.ts';
import { AccountProblem } from '../hosts/index.ts';
import { VERSION } from '../version.ts';
import { type Clusters, clusterAddress } from '../slurm/index.ts';
import { workerPython } from './worker-python.ts';
import type { ClusterAccess, Snapshot, SnapshotTask } from './snapshot.ts';
import { readJob } from './store/jobs.ts';
import * as store from './store/submission.ts';

export const JOB_WORK = 'job';

interface SubmitParts {
  db: Database;
  queue: Pick<Queue, 'wake'>;
  dataDir: string;
  clusters: Clusters;
  runAs: RunAs;
}

interface SubmitTarget {
  project_id: number;
  workflow_id: number;
  dataset_id: number;
}

function rangeOf(count: number, asked: JobCreate): { first: number; last: number } {
  if (count === 0) throw refuse(422, 'The workflow has no tasks yet. Add one before you run it.');
  const first = asked.first_task_index ?? 0;
  const last = asked.last_task_index ?? count - 1;
  if (first > last || last > count - 1) {
    throw refuse(
      422,
      `The workflow has ${count} ${plural(count, 'task')}, so that tasks ${first} to ${last} cannot be run.`,
    );
  }
  return { first, last };
}

function requireRunnable(task: store.TaskToRun): void {
  const named = `${task.name} (task ${task.order})`;
  if (!task.readable) throw refuse(403, `You have no access to ${named}. Replace it, or ask its owner to share it.`);
  if (!task.on_own_resource) throw refuse(403, `${named} is installed on another resource than yours. Replace it.`);
  if (!task.active) throw refuse(422, `${named} is not active. Replace it, or ask its owner to reactivate it.`);
  const key = contradiction(task.input_types, task.type_filters);
  if (key !== undefined) {
    throw refuse(422, `${named} takes images with ${key} = ${task.input_types[key]}, its type filters say otherwise.`);
  }
}

function requireOpen(resource: Resource): void {
  if (resource.prevent_new_submissions) {
    throw refuse(422, `The resource "${resource.name}" isn’t accepting new jobs right now. Try again later.`);
  }
}

function accountOf(user: User, asked: string | null): string | null {
  if (asked === null) return user.slurm_accounts[0] ?? null;
  if (user.slurm_accounts.includes(asked)) return asked;
  throw refuse(422, `"${asked}" is not one of your Slurm accounts.`);
}

/** A cluster that cannot be reached is told now, not when the job is waited for. */
async function requireReachable({ clusters }: SubmitParts, where: Where): Promise<void> {
  if (where.resource.type !== 'slurm_ssh') return;
  const problem = await clusters.problem(clusterAddress(where.resource, where.profile));
  if (problem !== undefined) throw refuse(422, `The cluster "${where.resource.name}" cannot be reached. ${problem}`);
}

/** The account that runs the tasks, when it can: what is in its way is told before anything begins. */
async function accountFor(
  { runAs }: SubmitParts,
  { resource }: Where,
  user: User,
  { zarr_dir }: Dataset,
): Promise<string | undefined> {
  const name = resource.type === 'local' ? runAs.nameFor(resource) : undefined;
  if (name === undefined) return undefined;
  const host = await runAs.host(name, 'jobs').catch((error: unknown) => {
    throw error instanceof AccountProblem ? refuse(422, `Jobs can't run here. ${error.message}`) : error;
  });
  const { jobs_local_dir } = resource;
  const { project_dirs } = user;
  const problem = await jobProblem(host, { jobs_local_dir, zarr_dir, project_dirs, python: workerPython(resource) });
  if (problem !== undefined) throw refuse(422, problem);
  return name;
}

const ALREADY = 'The dataset has a job that is not over yet. Wait for it, or stop it.';

const folderOf = (user: User) => user.project_dirs.find((dir) => !dir.startsWith('s3://'));

function snapshotTask(row: store.TaskToRun): SnapshotTask {
  return {
    workflowtask: {
      id: row.id,
      workflow_id: row.workflow_id,
      order: row.order,
      meta_parallel: row.meta_parallel,
      meta_non_parallel: row.meta_non_parallel,
      args_parallel: row.args_parallel,
      args_non_parallel: row.args_non_parallel,
      type_filters: row.type_filters,
      task_type: row.task_type,
      task_id: row.task_id,
      alias: row.alias,
      description: row.description,
    },
    task: {
      id: row.task_id,
      name: row.name,
      type: row.type,
      command_non_parallel: row.command_non_parallel,
      command_parallel: row.command_parallel,
      version: row.version,
      input_types: row.input_types,
      output_types: row.output_types,
    },
    task_group: {
      id: row.group_id,
      origin: row.origin,
      pkg_name: row.pkg_name,
      version: row.group_version,
      python_version: row.python_version,
      pip_extras: row.pip_extras,
      pinned_package_versions_pre: row.pinned_package_versions_pre,
      pinned_package_versions_post: row.pinned_package_versions_post,
      path: row.path,
      venv_path: row.venv_path,
      archive_path: row.archive_path,
    },
  };
}

const cacheOf = (user: User) => {
  const folder = folderOf(user);
  return folder === undefined ? null : join(folder, 'fractal/.fractal_cache');
};

interface RunBy extends Where {
  user: User;
  account: string | undefined;
}

function snapshotOf(rows: store.TaskToRun[], dataset: Dataset, { user, account, ...where }: RunBy): Snapshot {
  const cluster = clusterOf(where);
  return {
    tasks: rows.map(snapshotTask),
    zarr_dir: dataset.zarr_dir,
    cache_dir: cacheOf(user),
    ...(account === undefined ? {} : { account }),
    ...(cluster === undefined ? {} : { cluster }),
  };
}

interface Where {
  resource: Resource;
  profile: Profile;
}

/** What a job needs to know of its cluster, as it is now: a resource may be edited while jobs run on it. */
function clusterOf({ resource, profile }: Where): ClusterAccess | undefined {
  if (resource.type === 'local') return undefined;
  return {
    ...clusterAddress(resource, profile),
    // whole, also where the row is older than some of its keys
    config: JobRunnerConfigSLURM.parse(resource.jobs_runner_config),
  };
}

/** Where the tasks of a job write, as the account that runs them sees it. */
function userFolderOf({ resource, profile }: Where, user: User, name: string): string {
  if (resource.type === 'slurm_ssh') return join(profile.jobs_remote_dir!, name);
  const cache = cacheOf(user);
  if (resource.type === 'local') return join(resource.jobs_local_dir, name);
  if (cache === null) {
    throw refuse(422, 'Jobs on this cluster need a project folder of yours on its file system. Ask an administrator.');
  }
  return join(cache, name);
}

/** The folder of the service for a job that is not over. Through sudo, the cluster reads it where it is. */
const serviceFolderOf = ({ resource }: Where, dataDir: string, name: string): string =>
  resource.type === 'slurm_sudo'
    ? join(resource.jobs_local_dir, '.service', name)
    : join(dataDir, 'running-jobs', name);

const padded = (id: number) => String(id).padStart(7, '0');

/** `2026-11/proj_v2_0000001_wf_0000002_job_0000003_20261115_003632` */
function folderName(target: SubmitTarget, job: { id: number; start_timestamp: string }): string {
  const [date, time] = [job.start_timestamp.slice(0, 10), job.start_timestamp.slice(11, 19)];
  const ids = `proj_v2_${padded(target.project_id)}_wf_${padded(target.workflow_id)}_job_${padded(job.id)}`;
  return join(date.slice(0, 7), `${ids}_${date.replaceAll('-', '')}_${time.replaceAll(':', '')}`);
}

export async function submitJob(parts: SubmitParts, user: User, target: SubmitTarget, asked: JobCreate): Promise<Job> {
  const { db } = parts;
  const { project, resource_id } = await openProject(db, user, target.project_id, 'rwx');
  const dataset = await findDataset(db, project, target.dataset_id);
  if (!dataset) throw refuse(404, 'There is no dataset with this id in the project.');
  if ((await store.resourceOf(db, user)) !== resource_id) {
    throw refuse(422, 'The project belongs to another resource than your profile. Ask its owner to run the job.');
  }
  const workflow = await findWorkflow(db, project.id, target.workflow_id);
  if (!workflow) throw refuse(404, 'There is no workflow with this id in the project.');
  const rows = await store.tasksToRun(db, user, workflow.id);
  const { first, last } = rangeOf(rows.length, asked);
  const chosen = rows.slice(first, last + 1);
  chosen.forEach(requireRunnable);
  const where = await usableProfile(db, user);
  const { resource } = where;
  requireOpen(resource);
  const slurm_account = accountOf(user, asked.slurm_account);
  if (await store.hasUnfinishedJob(db, dataset.id)) throw refuse(422, ALREADY);
  await requireReachable(parts, where);
  const account = await accountFor(parts, where, user, dataset);

  const job: store.NewJob = {
    project: { id: project.id, name: project.name, timestamp_created: zulu(project.timestamp_created) },
    workflow: {
      id: workflow.id,
      name: workflow.name,
      project_id: project.id,
      timestamp_created: zulu(workflow.timestamp_created),
    },
    dataset: {
      id: dataset.id,
      name: dataset.name,
      project_id: project.id,
      timestamp_created: zulu(dataset.timestamp_created),
      zarr_dir: dataset.zarr_dir,
    },
    user,
    slurm_account,
    first_task_index: first,
    last_task_index: last,
    asked,
    snapshot: snapshotOf(chosen, dataset, { ...where, user, account }),
    version: VERSION,
  };
  try {
    const id = await db.transaction().execute(async (trx) => {
      const inserted = await store.insertJob(trx, job);
      const name = folderName(target, inserted);
      const working_dir = join(resource.jobs_local_dir, name);
      // a database that was made anew counts from 1 again, so that the ids alone are not unique
      const own = `job-${inserted.id}-${randomBytes(8).toString('hex')}`;
      await store.setFolders(trx, inserted.id, {
        working_dir,
        working_dir_user: userFolderOf(where, user, name),
        service_folder: serviceFolderOf(where, parts.dataDir, own),
      });
      const groups = [...new Set(chosen.map((row) => row.group_id))];
      if (!(await store.touchTaskGroups(trx, groups, inserted.start_timestamp))) {
        throw refuse(422, 'A task of the workflow was deactivated in the meantime. Look at the workflow again.');
      }
      await addWork(trx, JOB_WORK, inserted.id);
      return inserted.id;
    });
    parts.queue.wake();
    return await readJob(db, id);
  } catch (error) {
    const broken = brokenConstraint(error);
    if (broken === 'jobs_one_submitted_per_dataset') throw refuse(422, ALREADY);
    // somebody deleted the project, dataset or workflow in the meantime
    if (broken !== undefined) throw refuse(404, 'The project, dataset or workflow was deleted in the meantime.');
    throw error;
  }
}
