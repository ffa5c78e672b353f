/** What we promise about running jobs: little beside the tasks themselves, and linear in the number of images. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { type Call, caller, line, login, median, otherAccount, ratio, type Servers, withServers } from './support.ts';

const UNITS = 1000;
const MANY_IMAGES = 20_000;
/** For what another account costs. */
const TURNS = 15;
const TIDY_UP_MS = 2000;
const SLOTS = 2;
const SIZES = [1000, 10_000, 20_000, 100_000];
const NO_OP = '/bin/true';

interface Job {
  status: string;
  log: string;
  seconds: number;
}

/** A project with a task group that is there, made by SQL. */
export async function createProject(db: pg.Client): Promise<{ project: number; group: number }> {
  await db.query('update users set is_verified = true, profile_id = (select min(id) from profiles) where id = 1');
  const one = async (text: string, values: unknown[] = []) =>
    (await db.query<{ id: number }>(`${text} returning id`, values)).rows[0]!.id;
  const project = await one(
    `insert into projects (name, resource_id, owner_id) values ('bench', (select min(id) from resources), 1)`,
  );
  const group = await one(
    `insert into task_groups (user_id, resource_id, origin, pkg_name, version)
     values (1, (select min(id) from resources), 'other', 'bench', '1')`,
  );
  return { project, group };
}

export async function createWorkflow(
  db: pg.Client,
  { project, group }: { project: number; group: number },
  task: { name: string; type: string; command: string; meta?: object; args?: object },
): Promise<number> {
  const parallel = task.type === 'parallel';
  const { rows } = await db.query<{ id: number }>(
    `with flow as (
       insert into workflows (name, project_id) values ($1, $2) returning id
     ), task as (
       insert into tasks (taskgroupv2_id, name, type, version, command_parallel, command_non_parallel)
       values ($3, $1, $4, '1', $5, $6) returning id
     )
     insert into workflow_tasks (workflow_id, task_id, "order", task_type, meta_parallel, args_parallel)
     select flow.id, task.id, 0, $4, $7, $8 from flow, task returning workflow_id as id`,
    [
      task.name,
      project,
      group,
      task.type,
      parallel ? task.command : null,
      parallel ? null : task.command,
      task.meta ? JSON.stringify(task.meta) : null,
      task.args ? JSON.stringify(task.args) : null,
    ],
  );
  return rows[0]!.id;
}

export async function createDataset(db: pg.Client, project: number, size: number): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into datasets (name, project_id, zarr_dir) values ($1, $2, $3) returning id`,
    // where any account could write
    [`${size} images`, project, join(tmpdir(), 'service-bench-zarr')],
  );
  const { id } = rows[0]!;
  await db.query(
    `insert into images (dataset_id, position, zarr_url, attributes, types)
     select $1, n, '/data/plate.zarr/' || n, jsonb_build_object('plate', 'plate.zarr', 'well', n % 384), '{"is_3D": true}'
     from generate_series(0, $2::int - 1) n`,
    [id, size],
  );
  return id;
}

/** Runs a job and gives back how long it took, as the database's clock says. The server is not asked meanwhile. */
export async function runJob(
  { call, db }: { call: Call; db: pg.Client },
  project: number,
  workflow: number,
  dataset: number,
): Promise<number> {
  const path = `/api/v2/project/${project}/job/submit/?workflow_id=${workflow}&dataset_id=${dataset}`;
  const { id } = (await call.post(path, {})) as { id: number };
  for (;;) {
    await sleep(100);
    const { rows } = await db.query<Job>(
      'select status, log, extract(epoch from end_timestamp - start_timestamp)::float8 as seconds from jobs where id = $1',
      [id],
    );
    const job = rows[0]!;
    if (job.status === 'failed') throw new Error(job.log);
    if (job.status === 'done') return job.seconds;
  }
}

/** The same number of processes, started by nothing but a loop. */
async function bareLoop(): Promise<number> {
  const begun = performance.now();
  let next = 0;
  const lane = async () => {
    while (next++ < UNITS) {
      const child = spawn(NO_OP, ['--args-json', '/a.json', '--out-json', '/b.json'], { stdio: 'ignore' });
      await new Promise((resolve) => child.once('exit', resolve));
    }
  };
  await Promise.all(Array.from({ length: SLOTS }, lane));
  return (performance.now() - begun) / 1000;
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const memoryMb = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

const seconds = (value: number) => `${value.toFixed(2)} s`;

async function openLab({ serviceUrl, connection }: Servers) {
  const db = new pg.Client(connection);
  await db.connect();
  const call = caller(serviceUrl, await login(serviceUrl));
  const place = await createProject(db);
  const meta = { parallel_tasks_per_job: SLOTS };
  const parallel = await createWorkflow(db, place, { name: 'nothing', type: 'parallel', command: NO_OP, meta });
  const single = await createWorkflow(db, place, { name: 'nothing at once', type: 'non_parallel', command: NO_OP });
  return { db, call, place, parallel, single };
}

async function measure(servers: Servers): Promise<void> {
  const { pid } = servers;
  const { db, call, place, parallel, single } = await openLab(servers);
  const nap = await createWorkflow(db, place, { name: 'nap', type: 'parallel', command: '/bin/sh -c "sleep 5"' });
  const few = await createDataset(db, place.project, UNITS);

  const rounds: { ours: number; loop: number }[] = [];
  for (let round = 0; round < 3; round++) {
    rounds.push({ ours: await runJob({ call, db }, place.project, parallel, few), loop: await bareLoop() });
  }
  const [ours, loop] = [Math.min(...rounds.map((round) => round.ours)), Math.min(...rounds.map((round) => round.loop))];
  line(`${UNITS} units that do nothing, ${SLOTS} at a time`, seconds(ours), 'best of three');
  line('the same in a bare loop', seconds(loop), `ratio ${ratio(ours / loop)}, at most 1.5`);

  let largest = 0;
  const looking = setInterval(() => (largest = Math.max(largest, memoryMb(pid))), 50);
  const times: number[] = [];
  for (const size of SIZES) {
    const dataset = await createDataset(db, place.project, size);
    times.push(await runJob({ call, db }, place.project, single, dataset));
    const grown = times.length === 1 ? '' : `ratio to the one before ${ratio(times.at(-1)! / times.at(-2)!)}`;
    line(`one unit for ${size} images`, seconds(times.at(-1)!), grown);
  }
  clearInterval(looking);
  line('100 000 to 10 000 images', ratio(times[3]! / times[1]!), 'at most 15');
  line('largest memory of the server', `${largest.toFixed(0)} MB`, 'below 600');

  const one = await createDataset(db, place.project, 1);
  const running = runJob({ call, db }, place.project, nap, one);
  await sleep(1500);
  const before = cpuSeconds(pid);
  await sleep(3000);
  line('CPU of the server while a unit sleeps', `${(((cpuSeconds(pid) - before) / 3) * 100).toFixed(1)} %`, 'below 3');
  await running;
  await db.end();
}

/** Jobs of both by turns, either first by turns as well, since what else a machine does changes from one second to the next. */
async function besideAccount(servers: { own: Servers; other: Servers }, account: string): Promise<void> {
  const labs = { own: await openLab(servers.own), other: await openLab(servers.other) };
  const cases = [
    { what: `${UNITS} units`, flow: 'parallel', size: UNITS },
    { what: `one unit for ${MANY_IMAGES} images`, flow: 'single', size: MANY_IMAGES },
  ] as const;
  for (const { what, flow, size } of cases) {
    const datasets = {
      own: await createDataset(labs.own.db, labs.own.place.project, size),
      other: await createDataset(labs.other.db, labs.other.place.project, size),
    };
    const times = { own: [] as number[], other: [] as number[] };
    for (let turn = 0; turn < TURNS; turn++) {
      for (const who of turn % 2 === 0 ? (['own', 'other'] as const) : (['other', 'own'] as const)) {
        const { call, db, place } = labs[who];
        times[who].push(await runJob({ call, db }, place.project, labs[who][flow], datasets[who]));
        // its folder is zipped after its end
        await sleep(TIDY_UP_MS);
      }
    }
    const [own, other] = [median(times.own), median(times.other)];
    line(`${what} by the service and by ${account}`, seconds(own), seconds(other));
    line('ratio', ratio(other / own), 'at most 1.1');
  }
  for (const { db } of Object.values(labs)) await db.end();
}

export async function run(): Promise<void> {
  await withServers(measure);
  const account = otherAccount();
  if (account === undefined) return;
  await withServers((own) => withServers((other) => besideAccount({ own, other }, account), account));
}
