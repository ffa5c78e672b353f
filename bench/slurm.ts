/**
 * What a Slurm cluster adds to the time of the tasks themselves: 200 units of a second on four nodes of 16 CPUs, and the
 * pause between two tasks. Beside it the same commands in four bare jobs. Starts the test cluster, so it needs root.
 */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ClusterType } from '../tests/cluster/support/cluster-deployment.ts';
import { openClusterDeployment } from '../tests/cluster/support/cluster-deployment.ts';
import { asUser, CHECKOUT, folderOf } from '../tests/cluster/support/commands.ts';
import startCluster from '../tests/cluster/support/setup.ts';
import type { Deployment } from '../tests/support/deployment.ts';
import { line, median, ratio } from './support.ts';

const UNITS = 200;
const SECONDS = 1;
const SLOTS = 64;
const IDEAL = Math.ceil(UNITS / SLOTS) * SECONDS;
const JOBS = 4;
const ROUNDS = 3;
const MOST = 1.7;

interface Times {
  began: Date;
  first: Date;
  last: Date;
}

async function timesOf({ db }: Deployment, jobId: number): Promise<Times[]> {
  const rows = await db
    .selectFrom('history_runs as run')
    .innerJoin('history_units as unit', 'unit.history_run_id', 'run.id')
    .select('run.timestamp_started as began')
    .select((eb) => [eb.fn.min('unit.timestamp_started').as('first'), eb.fn.max('unit.timestamp_ended').as('last')])
    .where('run.job_id', '=', jobId)
    .groupBy(['run.id', 'run.timestamp_started', 'run.task_index'])
    .orderBy('run.task_index')
    .execute();
  return rows.map(({ began, first, last }) => ({
    began: new Date(began),
    first: new Date(first!),
    last: new Date(last!),
  }));
}

const seconds = (from: Date, to: Date) => (to.getTime() - from.getTime()) / 1000;

/** The same commands as alice would start them: from the first `sbatch` to the end of the last. */
async function bareSeconds(): Promise<number> {
  const folder = folderOf('alice');
  const task = join(CHECKOUT, 'packages/server/test/support/scripted_task.py');
  const args = join(folder, 'args.json');
  writeFileSync(args, JSON.stringify({ zarr_url: 'image', plan: { '*': { sleep: SECONDS, output: {} } } }));
  const each = UNITS / JOBS;
  const outputs = Array.from({ length: JOBS }, (_, job) => join(folder, `job-${job}`));
  const asAlice = async (command: string[]) => {
    const { code, stderr } = await asUser('alice', command);
    if (code !== 0) throw new Error(stderr);
  };
  await asAlice(['mkdir', ...outputs]);
  const began = Date.now();
  for (const out of outputs) {
    const unit = `/usr/bin/python3 ${task} --args-json ${args} --out-json ${out}/{}.json`;
    const wrap = `seq 0 ${each - 1} | xargs -P ${SLOTS / JOBS} -I{} ${unit}`;
    const size = ['--partition=main', '--ntasks=1', `--cpus-per-task=${SLOTS / JOBS}`, '--mem=800'];
    await asAlice(['sbatch', ...size, `--output=${out}/log`, `--wrap=${wrap}`]);
  }
  const files = outputs.flatMap((out) => Array.from({ length: each }, (_, unit) => join(out, `${unit}.json`)));
  while (!files.every((file) => existsSync(file))) await sleep(100);
  return (Math.max(...files.map((file) => statSync(file).mtimeMs)) - began) / 1000;
}

async function measure(type: ClusterType): Promise<number> {
  const deployment = await openClusterDeployment({
    type,
    database: 'embedded',
    pollInterval: 5,
    batching: { target_cpus_per_job: 16, target_mem_per_job: 1600, target_num_jobs: 50 },
  });
  try {
    const { lab } = deployment;
    const flow = await lab.workflow([
      { type: 'parallel', plan: { '*': { sleep: SECONDS } }, meta_parallel: { mem: 50 } },
      { type: 'parallel', meta_parallel: { mem: 50 } },
    ]);
    const dataset = await lab.dataset(Array.from({ length: UNITS }, (_, index) => `image-${index}`));
    const answer = await lab.submit(flow, dataset);
    const job = await lab.end((answer.body as { id: number }).id, 300);
    if (job.status !== 'done') throw new Error(job.log as string);
    const [one, other] = (await timesOf(deployment, job.id as number)) as [Times, Times];
    const wall = seconds(one.began, one.last);
    line(`${type}: ${UNITS} units of ${SECONDS} s`, `${wall.toFixed(1)} s from plan to last end, ideal ${IDEAL} s`);
    line(`${type}: to the ideal`, ratio(wall / IDEAL));
    line(
      `${type}: end of the last unit to the next task`,
      `${seconds(one.last, other.began).toFixed(2)} s to its plan`,
    );
    line(`${type}: to its first unit`, `${seconds(one.last, other.first).toFixed(2)} s`);
    return wall;
  } finally {
    await deployment.close();
  }
}

export async function run(): Promise<void> {
  const stop = await startCluster();
  try {
    const walls: Record<'bare' | 'slurm_sudo' | 'slurm_ssh', number[]> = { bare: [], slurm_sudo: [], slurm_ssh: [] };
    for (let round = 0; round < ROUNDS; round++) {
      walls.bare.push(await bareSeconds());
      for (const type of ['slurm_sudo', 'slurm_ssh'] as const) walls[type].push(await measure(type));
    }
    const bare = median(walls.bare);
    line(`${JOBS} bare jobs with the same commands`, `${bare.toFixed(1)} s`);
    for (const type of ['slurm_sudo', 'slurm_ssh'] as const)
      line(`${type}: beside the bare jobs`, ratio(median(walls[type]) / bare), `(promised: at most ${MOST})`);
  } finally {
    await stop();
  }
}
