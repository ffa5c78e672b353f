/** What a warm start saves: a real task package over small images, imported once or by every process. */
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { drawPlate } from '../tests/support/demo-plate.ts';
import { createProject, createWorkflow, runJob } from './jobs.ts';
import { type Call, caller, collectPackage, line, login, ratio, type Servers, withServers } from './support.ts';

const PACKAGE = 'fractal-tasks-core';
const TASK = 'Threshold Segmentation';
const IMAGES = 48;
const SLOTS = 2;
const SIZE = 128;

interface Cost {
  cpu: number;
  wall: number;
}

/** The task group of the package, and the command of the task. */
async function collect(url: string, token: string, call: Call): Promise<{ group: number; command: string }> {
  const { id: group } = await collectPackage(url, token, call, { package: PACKAGE });
  const { task_list } = (await call.get(`/api/v2/task-group/${group}/`)) as {
    task_list: { name: string; command_parallel: string }[];
  };
  return { group, command: task_list.find(({ name }) => name === TASK)!.command_parallel };
}

async function createDataset(db: pg.Client, project: number, urls: string[]): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    `insert into datasets (name, project_id, zarr_dir) values ($1, $2, '/data') returning id`,
    [urls[0], project],
  );
  await db.query(
    `insert into images (dataset_id, position, zarr_url, attributes, types)
     select $1, n - 1, url, '{}', '{}' from unnest($2::text[]) with ordinality as given (url, n)`,
    [rows[0]!.id, urls],
  );
  return rows[0]!.id;
}

/** All that a process started and has seen end, with all below: units, the process they were forked from, the worker. */
function cpuBelow(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

const mean = (one: Cost, other: Cost): Cost => ({
  cpu: (one.cpu + other.cpu) / 2,
  wall: (one.wall + other.wall) / 2,
});

async function measure({ serviceUrl, pid, connection }: Servers, folder: string): Promise<void> {
  const db = new pg.Client(connection);
  await db.connect();
  const token = await login(serviceUrl);
  const call = caller(serviceUrl, token);
  const { project } = await createProject(db);
  const { group, command } = await collect(serviceUrl, token, call);
  const [image] = drawPlate(folder, { wells: 1, size: SIZE });

  async function segment(name: string, warm_start: boolean, images = IMAGES): Promise<Cost> {
    const urls = Array.from({ length: images }, (_, number) => join(folder, name, String(number)));
    for (const url of urls) cpSync(image!, url, { recursive: true });
    const dataset = await createDataset(db, project, urls);
    const workflow = await createWorkflow(
      db,
      { project, group },
      {
        name,
        type: 'parallel',
        command,
        meta: { warm_start, parallel_tasks_per_job: SLOTS },
        args: { channel: { mode: 'index', identifier: '0' } },
      },
    );
    const before = cpuBelow(pid);
    const wall = await runJob({ call, db }, project, workflow, dataset);
    await sleep(1000); // the worker ends a moment after its last word
    const cost = { cpu: cpuBelow(pid) - before, wall };
    line(`${images} images, ${SLOTS} at a time, ${name}`, `${cost.wall.toFixed(1)} s`, `CPU ${cost.cpu.toFixed(1)} s`);
    return cost;
  }

  await segment('to write the bytecode', false, 1);
  // what else the machine does changes meanwhile: the long one lies between two short ones
  const first = await segment('warm', true);
  const cold = await segment('cold', false);
  const warm = mean(first, await segment('warm again', true));
  line('CPU, warm to cold', ratio(warm.cpu / cold.cpu), 'at most 0.25');
  line('time, warm to cold', ratio(warm.wall / cold.wall), 'at most 0.33');
  await db.end();
}

export async function run(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'service-bench-images-'));
  // where no bytecode is kept, every process compiles what it imports, and a warm start would look better than it is
  delete process.env['PYTHONDONTWRITEBYTECODE'];
  // each job with imports of its own, whose CPU time can be told
  process.env['SERVICE_WARM_IDLE_SECONDS'] = '0';
  try {
    await withServers((servers) => measure(servers, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
