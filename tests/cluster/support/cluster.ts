/**
 * A real Slurm of four nodes (n1 to n4, 16 CPUs and 4000 MB each) for tests. Partition `main` has all of them, `small` has n4.
 *
 *     const { stdout } = await throughSudo('alice', ['sbatch', '--parsable', '--chdir=/tmp'], '#!/bin/sh\nhostname\n');
 *     await killNode('n1');
 *     await startNode('n1');
 *
 * `setup.ts` starts it once for all files. What it does is kept by processes and files, so that each file finds it here.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '../../../packages/server/test/support/lab.ts';
import { BASE, must, real, script } from './commands.ts';

export type Node = 'n1' | 'n2' | 'n3' | 'n4';

/**
 * For questions, and for what may be asked twice: the controller lets go of a connection when much comes at once, as on any
 * busy cluster.
 */
async function ask(command: string[]): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await must(command);
    } catch (error) {
      if (attempt === 10 || !/Connection reset by peer|Socket timed out/.test((error as Error).message)) throw error;
    }
    await sleep(500);
  }
}

/**
 * While it is away, Slurm's commands take nine seconds to fail, and jobs go on. One that is killed has forgotten the last
 * seconds when it comes back: jobs that ran may wait again, with the reason "launch failed requeued held".
 */
export const stopController = (how: 'TERM' | 'KILL' = 'TERM'): Promise<string> =>
  script('slurm', 'stop-controller', how);
export const startController = (): Promise<string> => script('slurm', 'start-controller');

/**
 * As a machine that loses power, with everything that ran on it. The controller is told at once; alone it notices after
 * about half a minute.
 */
export async function killNode(node: Node, { noticed = true } = {}): Promise<void> {
  await script('slurm', 'stop-node', node);
  if (noticed) await ask(['scontrol', 'update', `nodename=${node}`, 'state=down', 'reason=test']);
}

/** Brings back a node that was killed or drained. */
export const startNode = (node: Node): Promise<string> => script('slurm', 'start-node', node);

/** Jobs on the node go on, and no other starts there until `startNode`. */
export const drain = (node: Node): Promise<string> =>
  ask(['scontrol', 'update', `nodename=${node}`, 'state=drain', 'reason=test']);

export async function nodes(): Promise<Record<string, string>> {
  const lines = (await ask(['sinfo', '-h', '-N', '-p', 'main', '-o', '%N %T'])).trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]));
}

export interface QueueLine {
  /** What sbatch printed. */
  job: number;
  /** In the array; a list as `3-7,9` for those that wait together, null for a job that is no array. */
  index: string | null;
  /** The number Slurm gives to this element alone. */
  id: number;
  user: string;
  state: string;
  reason: string;
  node: string;
  comment: string | null;
}

/** All jobs that Slurm remembers, also those that are over. */
export async function squeue(): Promise<QueueLine[]> {
  const text = await ask([real('squeue'), '-h', '-t', 'all', '-o', '%F|%K|%A|%u|%T|%r|%N|%k']);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [job, index, id, user, state, reason, node, comment] = line.split('|') as [string, ...string[]];
      return {
        job: Number(job),
        index: index === 'N/A' ? null : index!,
        id: Number(id),
        user: user!,
        state: state!,
        reason: reason!,
        node: node!,
        comment: comment === '(null)' ? null : comment!,
      };
    });
}

const OVER = new Set([
  'BOOT_FAIL',
  'CANCELLED',
  'COMPLETED',
  'DEADLINE',
  'FAILED',
  'NODE_FAIL',
  'OUT_OF_MEMORY',
  'TIMEOUT',
]);

/** The lines of a job once all of it is over. */
export const jobOver = (job: number, seconds = 30): Promise<QueueLine[]> =>
  until(
    `the end of job ${job}`,
    async () => {
      const lines = (await squeue()).filter((line) => line.job === job);
      return lines.length > 0 && lines.every(({ state }) => OVER.has(state)) ? lines : undefined;
    },
    seconds,
  );

export const jobRuns = (job: number): Promise<QueueLine> =>
  until(`job ${job} to run`, async () => (await squeue()).find((line) => line.job === job && line.state === 'RUNNING'));

/** Ends whatever is in the queue and brings everything back, so that the next test starts with an idle cluster. */
export async function tidy(): Promise<void> {
  await script('cluster', 'mend');
  for (const user of ['alice', 'bob']) await ask([real('scancel'), '-u', user]);
  for (const [node, state] of Object.entries(await nodes())) {
    if (!['idle', 'mixed', 'allocated', 'completing'].includes(state)) await startNode(node as Node);
  }
  await until('four idle nodes', async () => Object.values(await nodes()).every((state) => state === 'idle'), 60);
}

/**
 * Changes settings of Slurm while it runs, and gives back how they were:
 * `{ MinJobAge: 2 }` makes squeue forget a job some seconds after its end instead of five minutes.
 */
export async function configure(settings: Record<string, string | number>): Promise<() => Promise<void>> {
  const file = join(BASE, 'etc/slurm.conf');
  const before = readFileSync(file, 'utf8');
  const use = async (text: string) => {
    writeFileSync(file, text);
    await ask(['scontrol', 'reconfigure']);
  };
  const names = Object.keys(settings);
  const kept = before.split('\n').filter((line) => !names.some((name) => line.startsWith(`${name}=`)));
  const added = names.map((name) => `${name}=${settings[name]}`);
  await use([...added, ...kept].join('\n'));
  return () => use(before);
}
