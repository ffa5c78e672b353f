/**
 * What growth costs: the same reads at each step, while more and more is there and goes on. What a page asks for has to cost
 * what it shows, however much there is beside it.
 *
 * A number after the name is a fraction of everything, to see that all works: `npm run bench -- scale 0.01`.
 */
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { createDataset, createProject, createWorkflow } from './jobs.ts';
import { type Call, caller, line, login, ratio, type Servers, withServers } from './support.ts';

const PART = Number(process.argv[3] ?? 1);
const part = (number: number) => Math.max(1, Math.round(number * PART));
const [PROJECTS, GROUPS, PEOPLE, JOBS] = [part(2000), part(1000), part(500), part(100)];
const UNITS_OF_A_JOB = 1000;
const HISTORY = part(10_000_000);
const REQUESTS = 700;
const WATCHED_MS = 10_000;

const cpuSeconds = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};
const memoryMb = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

interface ProjectWithRun {
  project: number;
  group: number;
  workflow: number;
  dataset: number;
  job: number;
}

interface Bench extends ProjectWithRun {
  servers: Servers;
  db: pg.Client;
  call: Call;
}

/** What the pages of one project ask for. The first workflow has the first task. */
const readsOf = ({ project, workflow, dataset, job }: ProjectWithRun): string[] => [
  '/api/v2/project/',
  `/api/v2/project/${project}/dataset/`,
  `/api/v2/project/${project}/workflow/${workflow}/`,
  `/api/v2/project/${project}/job/?page=1&page_size=20`,
  `/api/v2/project/${project}/job/${job}/`,
  `/api/v2/project/${project}/latest-job/?workflow_id=${workflow}&dataset_id=${dataset}`,
  `/api/v2/project/${project}/job/${job}/timeline/`,
  `/api/v2/project/${project}/status/run/?dataset_id=${dataset}&workflowtask_id=${workflow}`,
  '/api/v2/task-group/?only_active=true',
];

const percentile = (sorted: number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;

let first: { half: number; most: number } | undefined;

/** One request after the other, as somebody who clicks. */
async function measureStep(name: string, { servers, call, ...made }: Bench): Promise<void> {
  const paths = readsOf(made);
  for (const path of paths) await call.get(path);
  const times = new Map<string, number[]>(paths.map((path) => [path, []]));
  for (let round = 0; round < REQUESTS; round++) {
    const path = paths[round % paths.length]!;
    const start = performance.now();
    await call.get(path);
    times.get(path)!.push(performance.now() - start);
  }
  const all = [...times.values()].flat().sort((one, other) => one - other);
  const found = { half: percentile(all, 0.5), most: percentile(all, 0.99) };
  first ??= found;
  const grown = `${ratio(found.half / first.half)} and ${ratio(found.most / first.most)} times the first`;
  line(name, `${memoryMb(servers.pid).toFixed(0)} MB`, 'memory of the server');
  line('  reads: half of them, 99 of 100', `${found.half.toFixed(1)}, ${found.most.toFixed(1)} ms`, grown);
  for (const [path, its] of times) {
    const sorted = its.toSorted((one, other) => one - other);
    line(
      `  ${path.slice('/api/v2'.length, 48)}`,
      `${percentile(sorted, 0.5).toFixed(1)} ms`,
      `99 of 100 ${percentile(sorted, 0.99).toFixed(1)} ms`,
    );
  }
}

/** A project with a workflow that has run on a dataset. */
async function createProjectWithRun(db: pg.Client): Promise<ProjectWithRun> {
  const made = await createProject(db);
  const meta = { parallel_tasks_per_job: 2 };
  const workflow = await createWorkflow(db, made, { name: 'nothing', type: 'parallel', command: '/bin/true', meta });
  const dataset = await createDataset(db, made.project, UNITS_OF_A_JOB);
  const [job] = await addHistory(db, { ...made, workflow, dataset }, 1);
  return { ...made, workflow, dataset, job: job! };
}

/** Jobs that are over, each with a run of a thousand units. */
async function addHistory(
  db: pg.Client,
  { project, workflow, dataset }: Omit<ProjectWithRun, 'job'>,
  jobs: number,
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(
    `insert into jobs (project_id, workflow_id, dataset_id, user_id, user_email, dataset_dump, workflow_dump, project_dump,
       fractal_server_version, first_task_index, last_task_index, status, log, end_timestamp)
     select $1, $2, $3, 1, 'admin@example.org', json_build_object('id', $3::int, 'name', 'd', 'zarr_dir', '/data'),
       json_build_object('id', $2::int, 'name', 'flow'), json_build_object('id', $1::int, 'name', 'p'), '1', 0, 0, 'done', '', now()
     from generate_series(1, $4::int) returning id`,
    [project, workflow, dataset, jobs],
  );
  const ids = rows.map(({ id }) => id);
  await db.query(
    `insert into history_runs (dataset_id, workflowtask_id, job_id, workflowtask_dump, task_group_dump, status, num_available_images,
       task_index, timestamp_ended)
     select $1, (select id from workflow_tasks where workflow_id = $2), id, '{"task": {"name": "nothing"}}', '{}', 'done', $3, 0, now()
     from unnest($4::int[]) id`,
    [dataset, workflow, UNITS_OF_A_JOB, ids],
  );
  await db.query(
    `insert into history_units (history_run_id, logfile, status, zarr_urls, number)
     select runs.id, '/jobs/' || runs.job_id || '/' || n || '.log', 'done', array['/data/plate.zarr/' || n], n
     from history_runs runs, generate_series(0, $1::int - 1) n where runs.job_id = any($2::int[])`,
    [UNITS_OF_A_JOB, ids],
  );
  return ids;
}

async function addProjectsAndGroups(db: pg.Client): Promise<void> {
  await db.query(
    `insert into users (email, hashed_password, is_verified, profile_id, project_dirs)
     select 'person' || n || '@example.org', '', true, (select min(id) from profiles), '{/data}' from generate_series(1, $1::int) n`,
    [PEOPLE],
  );
  await db.query(
    `insert into projects (name, resource_id, owner_id)
     select 'project ' || n, (select min(id) from resources), (select min(id) + n % $2::int from users) from generate_series(1, $1::int) n`,
    [PROJECTS, PEOPLE],
  );
  await db.query(
    `with made as (
       insert into task_groups (user_id, resource_id, origin, pkg_name, version)
       select (select min(id) + n % $2::int from users), (select min(id) from resources), 'other', 'package ' || n / 4, n::text
       from generate_series(1, $1::int) n returning id
     )
     insert into tasks (taskgroupv2_id, name, type, version, command_parallel)
     select made.id, 'task ' || n, 'parallel', '1', '/bin/true' from made, generate_series(1, 10) n`,
    [GROUPS, PEOPLE],
  );
}

/** Opens a stream of events; resolves when its first words are there. */
const openStream = (url: string, token: string): Promise<() => void> =>
  new Promise((resolve, reject) => {
    const request = get(url, { headers: { authorization: `Bearer ${token}` }, agent: false }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`));
      response.on('error', () => undefined);
      response.on('data', () => resolve(() => request.destroy()));
    });
    request.on('error', reject);
  });

async function openStreams({ servers, db, project }: Bench): Promise<(() => void)[]> {
  const { rows } = await db.query<{ id: number }>(`select id from users where email like 'person%' order by id`);
  await db.query(
    `insert into project_guests (project_id, user_id, is_verified, permissions)
     select $1, id, true, 'r' from unnest($2::int[]) id on conflict do nothing`,
    [project, rows.map(({ id }) => id)],
  );
  const opened: (() => void)[] = [];
  for (const { id } of rows) {
    const token = await (await fetch(`${servers.bareUrl}/token/${id}`)).text();
    opened.push(await openStream(`${servers.serviceUrl}/api/v2/project/${project}/events/`, token));
  }
  return opened;
}

async function cpuOver(pid: number, ms: number): Promise<number> {
  const before = cpuSeconds(pid);
  await sleep(ms);
  return ((cpuSeconds(pid) - before) / ms) * 100_000;
}

/** All jobs at once, each on a dataset of its own; gives back how to wait for their end. */
async function startJobs({ db, call, ...made }: Bench): Promise<() => Promise<number>> {
  const start = performance.now();
  for (let job = 0; job < JOBS; job++) {
    const dataset = await createDataset(db, made.project, UNITS_OF_A_JOB);
    await call.post(
      `/api/v2/project/${made.project}/job/submit/?workflow_id=${made.workflow}&dataset_id=${dataset}`,
      {},
    );
  }
  return async () => {
    for (;;) {
      const { rows } = await db.query<{ status: string; num: number }>(
        'select status, count(*)::int as num from jobs group by status',
      );
      const failed = rows.find(({ status }) => status === 'failed');
      if (failed) throw new Error(`${failed.num} jobs failed`);
      if (!rows.some(({ status }) => status === 'submitted')) return (performance.now() - start) / 1000;
      await sleep(500);
    }
  };
}

async function measure(servers: Servers): Promise<void> {
  const db = new pg.Client(servers.connection);
  await db.connect();
  const call = caller(servers.serviceUrl, await login(servers.serviceUrl));
  const bench: Bench = { servers, db, call, ...(await createProjectWithRun(db)) };
  await db.query('vacuum analyze');
  await measureStep('one project, one task group, 1 000 units', bench);

  await addProjectsAndGroups(db);
  await db.query('vacuum analyze');
  await measureStep(`${PROJECTS} projects of ${PEOPLE} people, ${GROUPS} task groups`, bench);

  const elsewhere = await createProjectOfOthers(db, bench);
  for (let done = 0; done < HISTORY / UNITS_OF_A_JOB; done += 100)
    await addHistory(db, elsewhere, Math.min(100, HISTORY / UNITS_OF_A_JOB));
  await db.query('vacuum analyze');
  await measureStep(`${HISTORY} units of history`, bench);

  const idle = await cpuOver(servers.pid, WATCHED_MS);
  const streams = await openStreams(bench);
  const watched = await cpuOver(servers.pid, WATCHED_MS);
  line(
    `CPU of the server, ${streams.length} streams open`,
    `${watched.toFixed(1)} %`,
    `${idle.toFixed(1)} % without, ${((watched - idle) / streams.length).toFixed(4)} % a stream`,
  );
  await measureStep(`${streams.length} streams open`, bench);

  const ended = await startJobs(bench);
  const busy = await cpuOver(servers.pid, WATCHED_MS);
  line(
    `CPU of the server, ${JOBS} jobs running`,
    `${busy.toFixed(1)} %`,
    `${(busy / streams.length).toFixed(4)} % a stream`,
  );
  await measureStep(`${JOBS} jobs of ${UNITS_OF_A_JOB} units running`, bench);
  const seconds = await ended();
  line(
    'all of them done',
    `${seconds.toFixed(0)} s`,
    `${((JOBS * UNITS_OF_A_JOB) / seconds).toFixed(0)} units a second`,
  );
  for (const close of streams) close();
  await db.end();
}

/** History grows where others look. */
async function createProjectOfOthers(db: pg.Client, { group }: ProjectWithRun): Promise<Omit<ProjectWithRun, 'job'>> {
  const { rows } = await db.query<{ id: number }>('select min(id) as id from projects where owner_id <> 1');
  const project = rows[0]?.id ?? 1;
  const workflow = await createWorkflow(
    db,
    { project, group },
    { name: 'of others', type: 'parallel', command: '/bin/true' },
  );
  return { project, group, workflow, dataset: await createDataset(db, project, UNITS_OF_A_JOB) };
}

export const run = (): Promise<void> => withServers(measure);
