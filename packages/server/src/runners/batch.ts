/**
 * A batch: the units of one phase of a task, handed to a worker as files in a folder of the service.
 *
 * `batch.json` is written last, so that a folder with it is complete; it holds what the units share.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { type AccountHost, unlessGone } from '../hosts/index.ts';
import type { SlurmOptions } from '../engine/slurm/options.ts';
import type { Order } from './orders.ts';
import { WORKER_FILE, workerArchive } from './worker-archive.ts';

interface BatchUnit {
  number: number;
  stem: string;
  /** The text of the file with its arguments. */
  args: string;
}

export interface Batch {
  /** A folder of the service, outside the job's. */
  folder: string;
  command: string[];
  /** The folder of the task, where arguments, logs and outputs lie. */
  taskFolder: string;
  workingFolder: string;
  environment: Record<string, string>;
  warm: boolean;
  /** Where its worker finds a process that has imported already. */
  warmParent?: string | undefined;
  largestOutput: number;
  total: number;
  units: () => Iterable<BatchUnit>;
  /** One process alone, not one of many. */
  single: boolean;
  /** How many units at a time, where somebody wants fewer than there are slots. */
  width: number | null;
  /** Where it runs on a cluster: how, and the folders of the person. */
  cluster?: ClusterBatch;
}

export interface ClusterBatch {
  plan: { options: SlurmOptions; unitsPerPack: number; parallel: number };
  /** The folder of the task as the nodes see it. */
  taskFolder: string;
  /** For what the workers read and write. */
  inputs: string;
  outputs: string;
  cacheDir: string | null;
}

export const JOURNAL = 'journal.jsonl';
const LINES_AT_A_TIME = 1000;

const READABLE = 0o644;
/** The account writes there too, and what it makes keeps the group. */
export const SHARED_FOLDER = 0o2770;
const SHARED_FILE = 0o660;
const OF_GROUP = 0o070;

async function isWritten(folder: string): Promise<boolean> {
  return stat(join(folder, 'batch.json')).then(
    () => true,
    () => false,
  );
}

/** A line for each unit, many at a time. */
export function* unitLines(units: Iterable<BatchUnit>): Generator<string> {
  let lines: string[] = [];
  for (const unit of units) {
    lines.push(JSON.stringify(unit));
    if (lines.length < LINES_AT_A_TIME) continue;
    yield `${lines.join('\n')}\n`;
    lines = [];
  }
  if (lines.length > 0) yield `${lines.join('\n')}\n`;
}

/** A draft of its own name: what lies there under a known one may be a link or a pipe that a task made. */
export async function replace(path: string, content: string | Buffer): Promise<void> {
  const draft = `${path}.${randomUUID().slice(0, 8)}.new`;
  const file = await open(draft, 'wx');
  try {
    await file.writeFile(content);
    // whatever the umask: the account of a task reads it, where it can enter the folder
    await file.chmod(READABLE);
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

/** Lets the account that runs the units in, when all is written: nothing in the folder can be exchanged before. */
const letIn = (folder: string, account: AccountHost): Promise<void> => account.share(folder, SHARED_FOLDER);

/** The mode of the folder is the service's to change: what lies in it, the account may have removed or exchanged since. */
async function isLetIn(folder: string): Promise<boolean> {
  const about = await unlessGone(lstat(folder));
  return about !== undefined && about.isDirectory() && (about.mode & OF_GROUP) !== 0;
}

/** Whether workers may have been started for it. */
export const hasBegun = (folder: string, account: AccountHost | undefined): Promise<boolean> =>
  account ? isLetIn(folder) : isWritten(folder);

export async function writeBatch(batch: Batch, account?: AccountHost): Promise<void> {
  if (await hasBegun(batch.folder, account)) return;
  if (!(await isWritten(batch.folder))) await writeFiles(batch, account);
  if (account) await letIn(batch.folder, account);
}

async function writeFiles(batch: Batch, account: AccountHost | undefined): Promise<void> {
  // not the folder above: where that is gone, another process has ended the job, and nothing may start again
  await mkdir(batch.folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await pipeline(Readable.from(unitLines(batch.units())), createWriteStream(join(batch.folder, 'units.jsonl')));
  await (await open(join(batch.folder, JOURNAL), 'a')).close();
  if (account) {
    await account.share(join(batch.folder, 'units.jsonl'), READABLE);
    await account.share(join(batch.folder, JOURNAL), SHARED_FILE);
  }
  const content = {
    command: batch.command,
    folder: batch.taskFolder,
    working_folder: batch.workingFolder,
    environment: batch.environment,
    warm: batch.warm,
    warm_parent: batch.warmParent,
    largest_output: batch.largestOutput,
    total: batch.total,
  };
  await replace(join(batch.folder, 'batch.json'), JSON.stringify(content));
}

/** The worker lies beside what it runs, and stays as it is while it runs: the service may be updated meanwhile. */
export async function writeWorker(folder: string): Promise<string> {
  const path = join(folder, WORKER_FILE);
  await replace(path, workerArchive());
  return path;
}

/** What the worker may do now. Workers that run since before an update of the service know slots as `places`. */
export const writeControl = (folder: string, { slots, order, stop }: Order & { stop: boolean }): Promise<void> =>
  replace(join(folder, 'control.json'), JSON.stringify({ slots, places: slots, order, stop }));
