/**
 * Rounds: the units of a batch that are submitted together, cut into packs. A pack is what one scheduler job runs.
 *
 * Most batches have one round. Another one takes units that never began (their node died), or that were killed for memory
 * or time and may have more.
 */
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, open, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { SlurmOptions } from '../../engine/slurm/options.ts';
import { type Batch, unitLines } from '../batch.ts';
import { createIntake, type Intake } from '../journal.ts';
import { createLines } from '../lines.ts';
import type { UnitEnd } from '../records.ts';
import { WORKER_FILE, workerArchive } from '../worker-archive.ts';
import type { RoundPlan } from './ledger.ts';
import type { EndedPack } from './pack-outcome.ts';

const EARLIER_WORKER_FILE = 'worker.py';
const UNITS = 'units.jsonl';
/** A log up to this size comes with the journal; longer ones are fetched on their own. */
const LARGEST_LOG = 256 * 1024;
const GRACE_SECONDS = 1;
const MEGABYTE = 2 ** 20;

/** One scheduler job of a round. */
export interface Pack {
  round: Round;
  index: number;
  /** As its files are called: `r0-000017`. */
  name: string;
  units: number[];
  journals: PackJournal[];
  /** The units that began, each with the node it began on: a pack may have several. */
  started: Map<number, string | null>;
  ended: Set<number>;
  held: UnitEnd[];
  /** The scheduler's job that runs this pack, as its worker tells; for people to read. */
  schedulerJob: number | null;
  /** The array that the worker says it is part of, as long as that is not looked at (scheduler-watch.ts). */
  claimed: number | null;
  /** How often it said so in vain; a worker that does so again is not asked about any more. */
  refusedClaims: number;
  /** The array that it is part of, where it is not the one that was submitted last: the scheduler has confirmed it. */
  arrayJob: number | null;
  /** How the scheduler says that a job of it ended, once it does, and since when that is known. */
  over: { job: number; kind: EndedPack['kind']; since: number } | undefined;
  /** When its journals were last looked at on the cluster, as far as they have not come by themselves. */
  lookedAt: number;
  /** It has been given a node. */
  ran: boolean;
  settled: boolean;
}

/** What one worker of a pack writes; a pack has one for each of its nodes. */
export interface PackJournal {
  file: string;
  intake: Intake;
  /** Where its worker runs. */
  node: string | null;
  /** Nothing more is to be read. */
  finished: boolean;
  out: string;
  err: string;
}

export interface Round {
  plan: RoundPlan;
  packs: Pack[];
  /** Why the scheduler did not take all of it, where that is so. */
  refusal: string | undefined;
  /** On this machine. */
  folder: string;
}

const padded = (index: number, length: number) => String(index).padStart(length, '0');

/** How the names of the files of a scheduler job begin. */
export const packPrefix = (batch: Batch, index: number) => (batch.single ? 'non_par' : `par-${padded(index, 6)}`);

const nodesOf = (options: SlurmOptions) => Math.max(1, options.nodes ?? 1);

function* slices(units: number[], size: number): Generator<number[]> {
  for (let start = 0; start < units.length; start += size) yield units.slice(start, start + size);
}

const unitsOf = (plan: RoundPlan, total: number): number[] =>
  plan.units ?? Array.from({ length: total }, (_, number) => number);

export function roundOf(plan: RoundPlan, { folder, total, largestOutput }: Batch): Round {
  const round: Round = { plan, packs: [], refusal: undefined, folder: join(folder, `round-${plan.number}`) };
  const newIntake = (units: number[]) => {
    const members = new Set(units);
    return createIntake({ has: (number) => members.has(number), largestOutput });
  };
  const nodes = nodesOf(plan.options);
  for (const units of slices(unitsOf(plan, total), plan.unitsPerPack)) {
    const index = round.packs.length;
    const name = `r${plan.number}-${padded(index, 6)}`;
    const files = nodes === 1 ? [`${name}.jsonl`] : Array.from({ length: nodes }, (_, k) => `${name}.${k}.jsonl`);
    round.packs.push({
      round,
      index,
      name,
      units,
      journals: files.map((file) => ({
        file,
        intake: newIntake(units),
        node: null,
        finished: false,
        out: '',
        err: '',
      })),
      started: new Map(),
      ended: new Set(),
      held: [],
      schedulerJob: null,
      claimed: null,
      refusedClaims: 0,
      arrayJob: null,
      over: undefined,
      lookedAt: 0,
      ran: false,
      settled: false,
    });
  }
  return round;
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Where the line of each unit is in the file of all. */
export interface UnitIndex {
  line(number: number): Promise<string>;
  stem(number: number): string;
  close(): Promise<void>;
}

/** Writes the units of the batch down, once, and finds them again. */
export async function openUnits(batch: Batch): Promise<UnitIndex> {
  const path = join(batch.folder, UNITS);
  if (!(await exists(path))) {
    await pipeline(Readable.from(unitLines(batch.units())), createWriteStream(`${path}.new`));
    await rename(`${path}.new`, path);
  }
  const places: { offset: number; length: number; stem: string }[] = [];
  let offset = 0;
  // arguments may hold characters at which others end a line, such as U+2028
  const lines = createLines({ longest: () => Infinity });
  for await (const bytes of createReadStream(path)) {
    lines.take(bytes as Buffer, (line) => {
      places.push({ offset, length: line.length, stem: (JSON.parse(line.toString('utf8')) as { stem: string }).stem });
      offset += line.length + 1;
    });
  }
  const file = await open(path, 'r');
  return {
    async line(number) {
      const { offset: position, length } = places[number]!;
      const { buffer } = await file.read(Buffer.alloc(length), { position });
      return buffer.toString('utf8');
    },
    stem: (number) => places[number]!.stem,
    close: () => file.close(),
  };
}

/** Readable for the account that runs the tasks, whatever the umask of the service is. */
async function writeReadable(path: string, content: string | Buffer): Promise<void> {
  await writeFile(path, content);
  await chmod(path, 0o644);
}

/** A round that was written before an update of the service keeps the worker that it has, under the name of then. */
export const workerFileOf = ({ folder }: Round): string =>
  existsSync(join(folder, EARLIER_WORKER_FILE)) ? EARLIER_WORKER_FILE : WORKER_FILE;

/** Everything that the workers of a round read, in one folder. */
export async function writeRound(batch: Batch, plan: RoundPlan, units: UnitIndex): Promise<void> {
  const { folder, packs } = roundOf(plan, batch);
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  const offsets = [0];
  const path = join(folder, `units-${plan.number}.jsonl`);
  const file = await open(path, 'w', 0o644);
  try {
    let offset = 0;
    for (const pack of packs) {
      const lines: string[] = [];
      for (const number of pack.units) lines.push(await units.line(number));
      const bytes = Buffer.from(`${lines.join('\n')}\n`);
      await file.write(bytes);
      offsets.push((offset += bytes.length));
    }
    await file.sync();
  } finally {
    await file.close();
  }
  await chmod(path, 0o644);
  await writeReadable(join(folder, WORKER_FILE), workerArchive());
  const { cpus_per_task, mem } = plan.options;
  await writeReadable(
    join(folder, `round-${plan.number}.json`),
    JSON.stringify({ parallel: plan.parallel, cpus: cpus_per_task, memory: mem * MEGABYTE, offsets }),
  );
  await writeReadable(
    join(folder, 'batch.json'),
    JSON.stringify({
      command: batch.command,
      folder: batch.cluster!.taskFolder,
      working_folder: batch.cluster!.taskFolder,
      environment: batch.environment,
      warm: batch.warm,
      largest_output: batch.largestOutput,
      largest_log: LARGEST_LOG,
      grace: GRACE_SECONDS,
    }),
  );
}
