/** A workflow with a task of every type, and the story of a job: what has to be the same whatever happened to the service. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';

import type { Flow, Lab } from '../../packages/server/test/support/lab.ts';
import type { Deployment } from './deployment.ts';

const WELLS = ['A01', 'A02', 'A03', 'A04', 'A05', 'A06'];

/** Converts, makes new images with warnings, projects, removes and adds, converts once more, and measures for a while. */
export function everyTask({ workflow, urlOf }: Lab): Promise<Flow> {
  const projected = WELLS.map((well) => urlOf(`${well}_corr_mip`));
  const measure = { output: { image_list_updates: [{ zarr_url: '{url}', attributes: { measured: true } }] } };
  return workflow([
    {
      type: 'converter_compound',
      name: 'Convert',
      plan: {
        init: {
          sleep: 0.2,
          output: { parallelization_list: WELLS.map((well) => ({ zarr_url: urlOf(well), init_args: { well } })) },
        },
        '*': {
          sleep: 0.1,
          output: { image_list_updates: [{ zarr_url: '{url}', attributes: { plate: 'p' }, types: { '3D': true } }] },
        },
      },
    },
    {
      type: 'parallel',
      name: 'Correct',
      input_types: { corr: false },
      output_types: { corr: true },
      meta_parallel: { parallel_tasks_per_job: 3, tasks_per_job: 3 },
      plan: {
        [urlOf('A02')]: { output: { image_list_updates: [{ zarr_url: '{url}_corr', origin: '{url}' }] } },
        '*': {
          print: 'Warning: the image is dark',
          sleep: 0.1,
          output: { image_list_updates: [{ zarr_url: '{url}_corr', origin: '{url}' }] },
        },
      },
    },
    {
      type: 'compound',
      name: 'Project',
      input_types: { '3D': true },
      output_types: { '3D': false },
      plan: {
        init: {
          print: 'a warning of the init phase',
          output: { parallelization_list: WELLS.map((well) => ({ zarr_url: urlOf(`${well}_corr`) })) },
        },
        '*': { sleep: 0.1, output: { image_list_updates: [{ zarr_url: '{url}_mip', origin: '{url}' }] } },
      },
    },
    {
      type: 'non_parallel',
      name: 'Tidy',
      plan: {
        '*': {
          sleep: 0.2,
          output: {
            image_list_updates: [{ zarr_url: projected[0]!, attributes: { plate: null, checked: 1 } }],
            image_list_removals: [projected[5]!],
          },
        },
      },
    },
    {
      type: 'converter_non_parallel',
      name: 'Import',
      plan: {
        '*': {
          sleep: 0.2,
          output: { image_list_updates: [{ zarr_url: urlOf('more'), types: { corr: true, '3D': false } }] },
        },
      },
    },
    {
      type: 'parallel',
      name: 'Measure',
      meta_parallel: { parallel_tasks_per_job: 2, tasks_per_job: 2 },
      plan: {
        ...Object.fromEntries(projected.map((url, index) => [url, { sleep: 0.05 * (index + 1), ...measure }])),
        '*': { sleep: 0.3, ...measure },
      },
    },
  ]);
}

/** The members of a zip, each read to its end; fails for one that is not whole. */
function membersOf(zip: string): string[] {
  const read =
    'import sys, zipfile as z; f = z.ZipFile(sys.argv[1]); assert f.testzip() is None; print(*f.namelist(), sep="\\n")';
  return execFileSync('python3', ['-c', read, zip], { encoding: 'utf8' }).trim().split('\n').sort();
}

/** The members of the zip of a job; undefined while there is none. */
export async function zipOf({ db }: Deployment, jobId: number): Promise<string[] | undefined> {
  const { working_dir } = await jobOf(db, jobId);
  return existsSync(`${working_dir}.zip`) ? membersOf(`${working_dir}.zip`) : undefined;
}

const jobOf = (db: Deployment['db'], jobId: number) =>
  db
    .selectFrom('jobs')
    .select(['status', 'failure', 'working_dir', 'working_dir_user', 'dataset_id'])
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow();

/** Everything that a job leaves in the history, without ids and times. */
async function historyOf({ db }: Deployment, jobId: number, working_dir: string) {
  const rows = await db
    .selectFrom('history_runs as run')
    .leftJoin('history_units as unit', 'unit.history_run_id', 'run.id')
    .leftJoin('history_image_cache as cache', 'cache.latest_history_unit_id', 'unit.id')
    .select(['run.task_index', 'run.status as run_status', 'run.num_available_images', 'run.num_new_images'])
    .select(['run.failure', 'unit.number', 'unit.is_init', 'unit.status', 'unit.zarr_urls', 'unit.has_warnings'])
    .select(['unit.num_warnings', 'unit.exit_code', 'unit.signal', 'unit.cause', 'unit.logfile', 'cache.zarr_url'])
    .select((eb) => eb('unit.timestamp_started', 'is not', null).as('has_started'))
    .select((eb) => eb('unit.timestamp_ended', 'is not', null).as('has_ended'))
    .where('run.job_id', '=', jobId)
    .orderBy('run.task_index')
    .orderBy('unit.is_init', 'desc')
    .orderBy('unit.number')
    .orderBy('cache.zarr_url')
    .execute();
  return rows.map((row) => ({ ...row, logfile: row.logfile && relative(working_dir, row.logfile) }));
}

/** What became of a job, comparable with that of another job of the same workflow. */
export async function storyOf(deployment: Deployment, jobId: number) {
  const { status, failure, working_dir, working_dir_user, dataset_id } = await jobOf(deployment.db, jobId);
  return {
    status,
    failure,
    images: await deployment.lab.images(dataset_id!),
    history: await historyOf(deployment, jobId, working_dir!),
    // the numbers that a scheduler gives are new each time
    files: (await zipOf(deployment, jobId))?.map((name) => name.replace(/-slurm-\d+\./, '-slurm-ID.')),
    /** The units that began, each as often as it did. */
    starts: deployment.lab
      .starts()
      .filter(({ out }) => out.startsWith(join(working_dir_user!, '/')))
      .map(({ out }) => relative(working_dir_user!, out))
      .sort(),
  };
}
