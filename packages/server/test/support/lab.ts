/**
 * A place where workflows really run: a resource with folders of its own, a project, and tasks that do what their arguments
 * say (scripted_task.py).
 *
 *     const lab = await openLab(service);
 *     const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { output: … } } }]);
 *     const job = await lab.run(flow, await lab.dataset(['a', 'b']));
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Updateable } from 'kysely';

import type { JsonObject, TaskType } from '@service/contract';

import type { Tables } from '../../src/db/index.ts';
import { temporaryFolder } from './file-end.ts';
import { addPerson, addProject, type Person } from './plates.ts';
import type { Answer, TestService } from './server.ts';
import { addResourceAndProfile, addTaskGroup } from './tasks.ts';
import { FIRST_PAUSE, longer, until } from './until.ts';

/** What nearly everybody with a lab needs. */
export { until };

export const SCRIPTED = join(import.meta.dirname, 'scripted_task.py');

/** What a scripted task does; "*" stands for every image that is not named. */
export type Plan = Record<string, JsonObject>;

export interface TaskSpec {
  type: TaskType;
  name?: string;
  input_types?: Record<string, boolean>;
  output_types?: Record<string, boolean>;
  /** For both phases of a compound task; `init` for the first one. */
  plan?: Plan;
  args?: JsonObject;
  meta_parallel?: JsonObject;
  meta_non_parallel?: JsonObject;
  type_filters?: Record<string, boolean>;
  /** Instead of the scripted task. */
  command?: string;
  /** Another task group than that of the lab. */
  group?: number;
}

export interface Flow {
  id: number;
  /** The ids of its tasks, in order. */
  steps: number[];
}

export interface LabImage {
  zarr_url: string;
  origin?: string | null;
  attributes?: JsonObject;
  types?: Record<string, boolean>;
}

export interface LabJob {
  id: number;
  working_dir: string;
}

export interface Start {
  task: number;
  url: string | null;
  pid: number;
  /** Seconds since 1970. */
  time: number;
  /** Where it writes its output, which no other unit does. */
  out: string;
  args: JsonObject;
}

/** A folder of its own for the data of a service. */
export const dataFolder = (): string => temporaryFolder('data');

export const isAlive = (pid: number): boolean => {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

const hasParallelPart = (type: TaskType) => ['parallel', 'compound', 'converter_compound'].includes(type);
const hasSinglePart = (type: TaskType) => type !== 'parallel';

/** What a lab needs of a service. */
export type LabService = Pick<TestService, 'database' | 'person'>;

interface LabOptions {
  runner?: JsonObject;
  origin?: 'pypi' | 'other';
  /** An empty folder to work in, which its owner removes. */
  root?: string;
  /** Columns of the resource and of the profile, where jobs run somewhere else than on this machine. */
  resource?: Updateable<Tables['resources']>;
  profile?: Updateable<Tables['profiles']>;
  /** Called when the folders are made: who runs the service and the tasks may be other accounts than this one. */
  prepare?: (folders: { jobs: string; zarr: string }) => void;
  /** The script of the tasks, where the account that runs them can read it. */
  script?: string;
}

export async function openLab(given: LabService, options: LabOptions = {}) {
  // what makes people and resources asks for no more than this
  const service = given as TestService;
  const { db } = service.database;
  const root = options.root ?? temporaryFolder('lab');
  const folders = { jobs: join(root, 'jobs'), zarr: join(root, 'zarr'), starts: join(root, 'starts') };
  for (const folder of [folders.jobs, folders.zarr]) mkdirSync(folder);
  options.prepare?.(folders);
  const { resource_id, profile_id } = await addResourceAndProfile(service);
  await db
    .updateTable('resources')
    .set({
      jobs_local_dir: folders.jobs,
      jobs_runner_config: JSON.stringify({ parallel_tasks_per_job: null, ...options.runner }),
      ...options.resource,
    })
    .where('id', '=', resource_id)
    .execute();
  if (options.profile) await db.updateTable('profiles').set(options.profile).where('id', '=', profile_id).execute();
  const owner: Person = await addPerson(service, profile_id, { project_dirs: [root] });
  const project = await addProject(service, owner, `Lab ${root}`);
  const group = await addTaskGroup(service, { user_id: owner.id, resource_id });
  await db
    .updateTable('task_groups')
    .set({ origin: options.origin ?? 'other' })
    .where('id', '=', group)
    .execute();
  const base = `/api/v2/project/${project}`;
  let count = 0;

  async function dataset(images: (string | LabImage)[] = [], zarr_dir = folders.zarr): Promise<number> {
    count += 1;
    const answer = await owner.client.post(`${base}/dataset/import/`, {
      name: `Data ${count}`,
      zarr_dir,
      images: images.map((image) => {
        const given = typeof image === 'string' ? { zarr_url: image } : image;
        return { ...given, zarr_url: urlOf(given.zarr_url) };
      }),
    });
    if (answer.status !== 201) throw new Error(answer.text);
    return (answer.body as { id: number }).id;
  }

  const urlOf = (name: string) => (name.startsWith('/') ? name : join(folders.zarr, name));

  const addTask = async (spec: TaskSpec, name: string): Promise<number> => {
    const command = spec.command ?? `/usr/bin/python3 ${options.script ?? SCRIPTED}`;
    const { id } = await db
      .insertInto('tasks')
      .values({
        taskgroupv2_id: spec.group ?? group,
        name: spec.name ?? name,
        type: spec.type,
        version: '1',
        command_parallel: hasParallelPart(spec.type) ? command : null,
        command_non_parallel: hasSinglePart(spec.type) ? command : null,
        input_types: JSON.stringify(spec.input_types ?? {}),
        output_types: JSON.stringify(spec.output_types ?? {}),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  };

  async function workflow(specs: TaskSpec[]): Promise<Flow> {
    const number = ++count;
    const { id } = await db
      .insertInto('workflows')
      .values({ name: `Flow ${number}`, project_id: project, description: null, template_id: null })
      .returning('id')
      .executeTakeFirstOrThrow();
    const steps: number[] = [];
    for (const [order, spec] of specs.entries()) {
      const task_id = await addTask(spec, `Task ${number}-${order}`);
      const args = { plan: spec.plan ?? {}, starts: folders.starts, task: order, ...spec.args };
      const step = await db
        .insertInto('workflow_tasks')
        .values({
          workflow_id: id,
          task_id,
          order,
          task_type: spec.type,
          args_parallel: hasParallelPart(spec.type) ? JSON.stringify(args) : null,
          args_non_parallel: hasSinglePart(spec.type) ? JSON.stringify(args) : null,
          meta_parallel: spec.meta_parallel ? JSON.stringify(spec.meta_parallel) : null,
          meta_non_parallel: spec.meta_non_parallel ? JSON.stringify(spec.meta_non_parallel) : null,
          type_filters: JSON.stringify(spec.type_filters ?? {}),
        })
        .returning('id')
        .executeTakeFirstOrThrow();
      steps.push(step.id);
    }
    return { id, steps };
  }

  const submit = (flow: Flow, dataset_id: number, body: JsonObject = {}): Promise<Answer> =>
    owner.client.post(`${base}/job/submit/`, body, { query: { workflow_id: flow.id, dataset_id } });

  const job = async (id: number) => (await owner.client.get(`${base}/job/${id}/`)).body;

  /** Waits for the end of a job; fails with what is known when it does not come. */
  async function end(id: number, seconds = 25) {
    const deadline = Date.now() + seconds * 1000;
    for (let pause = FIRST_PAUSE; ; pause = longer(pause)) {
      const now = await job(id);
      if (now.status !== 'submitted') return now;
      if (Date.now() > deadline) throw new Error(`Job ${id} is not over: ${JSON.stringify(now)}`);
      await sleep(pause);
    }
  }

  async function run(flow: Flow, dataset_id: number, body: JsonObject = {}) {
    const answer = await submit(flow, dataset_id, body);
    if (answer.status !== 202) throw new Error(answer.text);
    return end((answer.body as { id: number }).id);
  }

  async function images(dataset_id: number) {
    const { body } = await owner.client.get(`${base}/dataset/${dataset_id}/export/`);
    return body.images as Required<LabImage>[];
  }

  const runs = async (dataset_id: number, workflowtask_id: number) =>
    (await owner.client.get(`${base}/status/run/`, { query: { dataset_id, workflowtask_id } })).body as {
      id: number;
      status: string;
      num_available_images: number;
    }[];

  /** The last run of a task on a dataset, with its units. */
  async function units(dataset_id: number, workflowtask_id: number) {
    const last = (await runs(dataset_id, workflowtask_id)).at(-1);
    if (!last) return { run: undefined, units: [] };
    const query = { dataset_id, workflowtask_id };
    const page = await owner.client.get(`${base}/status/run/${last.id}/units/`, { query });
    return { run: last, units: page.body.items };
  }

  const nameOf = (url: string) => (url.startsWith(`${folders.zarr}/`) ? relative(folders.zarr, url) : url);

  /** The units of the last run in few words: `done:[a,b]`, with the names of the images. */
  const unitsInWords = async (dataset_id: number, workflowtask_id: number) =>
    (await units(dataset_id, workflowtask_id)).units.map(
      (unit: { status: string; zarr_urls: string[] }) => `${unit.status}:[${unit.zarr_urls.map(nameOf).join()}]`,
    ) as string[];

  /** The files in the folder of a job, in order. */
  const files = ({ working_dir }: LabJob) =>
    readdirSync(working_dir, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(working_dir, join(entry.parentPath, entry.name)))
      .sort();

  /** The members of the zip of a job, which comes a moment after its end. */
  async function members({ working_dir }: LabJob): Promise<string[]> {
    await until(`zip of ${working_dir}`, () => existsSync(`${working_dir}.zip`));
    const script = 'import sys, zipfile; print("\\n".join(sorted(zipfile.ZipFile(sys.argv[1]).namelist())))';
    const names = execFileSync('python3', ['-c', script, `${working_dir}.zip`], { encoding: 'utf8' });
    return names.split('\n').filter((name) => name !== '');
  }

  const statuses = async (flow: Flow, dataset_id: number) =>
    (await owner.client.get(`${base}/latest-job/`, { query: { workflow_id: flow.id, dataset_id } })).body.task_statuses;

  const accounting = async () =>
    (
      await db
        .selectFrom('accounting_records')
        .select(['num_tasks', 'num_new_images'])
        .where('user_id', '=', owner.id)
        .orderBy('id')
        .execute()
    ).map((record) => [record.num_tasks, record.num_new_images]);

  const linesOf = <T>(path: string): T[] =>
    existsSync(path)
      ? readFileSync(path, 'utf8')
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as T)
      : [];

  /** What the scripted tasks recorded, in the order of their starts. */
  const starts = () => linesOf<Start>(folders.starts);

  const history = { accounting, runs, starts, statuses, units, unitsInWords };
  const onDisk = { files, linesOf, members, nameOf, urlOf };
  const tools = { dataset, end, images, job, run, submit, workflow };
  return { ...history, ...onDisk, ...tools, base, folders, group, owner, profile_id, project, resource_id, root };
}

export type Lab = Awaited<ReturnType<typeof openLab>>;
