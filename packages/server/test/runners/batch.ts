/** Batches and packs with real workers, and what their journals tell. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

import { PYTHONS } from '@service/contract';
import { it } from 'vitest';

import type { Batch as RunnerBatch } from '../../src/runners/batch.ts';
import { recordIn, type ToldEnd, type WorkerRecord } from '../../src/runners/records.ts';
import { WORKER_FILE, workerArchive } from '../../src/runners/worker-archive.ts';
import { LONG } from '../support/long.ts';
import { until } from '../support/until.ts';

/** How the end of a unit that did its work stands in a journal. */
export const endRecord = (end: number, more: Partial<ToldEnd> = {}) => ({
  end,
  time: 2.5,
  exit_code: 0,
  signal: null,
  cpu_seconds: 0.1,
  peak_memory_bytes: 1024,
  out_of_memory: false,
  num_warnings: 0,
  log_bytes: 0,
  output: null,
  output_bytes: 0,
  problem: null,
  stopped: false,
  lost: false,
  tail: '',
  ...more,
});

type AllOf<Union> = (Union extends unknown ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** Of any kind: the first field names it. */
export type JournalRecord = Partial<AllOf<WorkerRecord>>;

export interface Options {
  command: string[];
  /** The text for each args file, one a unit. */
  args?: string[];
  folder?: string;
  working_folder?: string;
  environment?: Record<string, string>;
  warm?: boolean;
  /** The folder of the process that has imported already. */
  warm_parent?: string;
  largest_output?: number;
  slots?: number;
  python?: string;
  /** Where the batch folder is made; a new folder unless told. */
  batchFolder?: string;
}

/** A task in bash: `$2` and `$4` are its args and its output file. */
export const bash = (script: string): string[] => ['/bin/bash', '-c', script, 'task'];

export const several = (n: number, text = '{}'): string[] => Array.from({ length: n }, () => text);

/** The records of units that have a process. */
export const running = ({ records }: { records(): JournalRecord[] }) =>
  records().filter((record): record is JournalRecord & { pid: number } => 'running' in record);

/** The records that say that a unit begins. */
export const starts = ({ records }: { records(): JournalRecord[] }) => records().filter((record) => 'start' in record);

/** The processes whose numbers are written in a file, once there are so many. */
export const pidsIn = (path: string, count: number): Promise<number[]> =>
  until(() => {
    if (!existsSync(path)) return undefined;
    const pids = readFileSync(path, 'utf8').trim().split('\n').filter(Boolean).map(Number);
    return pids.length >= count && pids;
  });

/** Every Python that answers here, among those that the worker promises to run with; the oldest first. */
export function allInterpreters(): string[] {
  const pyenv = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...(existsSync(pyenv) ? readdirSync(pyenv).map((name) => join(pyenv, name, 'bin')) : []),
  ];
  const answers = (path: string) => {
    try {
      return execFileSync(path, ['-c', 'import ctypes, sys; print(sys.executable)'], { stdio: 'pipe' })
        .toString()
        .trim();
    } catch {
      return undefined;
    }
  };
  const found = PYTHONS.map((version) =>
    folders
      .map((folder) => join(folder, `python${version}`))
      .filter((path) => existsSync(path))
      .map(answers)
      .find((path) => path),
  ).filter((path) => path !== undefined);
  return found.length > 0 ? found : [answers('python3') ?? 'python3'];
}

let oldestAndNewest: string[] | undefined;

/** The oldest and the newest of them. */
export function interpreters(): string[] {
  if (oldestAndNewest) return oldestAndNewest;
  const all = allInterpreters();
  return (oldestAndNewest = [...new Set([all[0]!, all.at(-1)!])]);
}

type Declare = (name: string, test: () => void | Promise<void>, timeout?: number) => void;

/**
 * Tests and cases of tables with one of the interpreters, by turns: half of them with this one, unless the run is a
 * long one, in which each has all of them. `begin` is the one that takes the first test, which is not the same
 * one in all files.
 *
 *     const turn = turnsOf(python);
 *     turn.it('time and memory', …);
 *     it.each(turn.of(TABLE))('%s', …);
 */
export function turnsOf(python: string, begin = 0) {
  const all = interpreters();
  let taken = begin;
  const isMine = () => all[taken++ % all.length] === python || LONG;
  // nothing counts as skipped that has its turn elsewhere
  const inTurn =
    (declare: Declare): Declare =>
    (...test) => {
      if (isMine()) declare(...test);
    };
  return {
    it: Object.assign(inTurn(it), { runIf: (condition: boolean) => inTurn(it.runIf(condition)) }),
    of: <const Case>(table: readonly Case[]): Case[] => table.filter(isMine),
  };
}

const made: string[] = [];
const started: ChildProcess[] = [];
let built: string | undefined;

/** The worker as it travels, in a folder of its own. */
export function workerFile(): string {
  if (built) return built;
  built = join(mkdtempSync(join(tmpdir(), 'worker-')), WORKER_FILE);
  writeFileSync(built, workerArchive());
  return built;
}

/** A name without links on the way: programs tell it as it is. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'worker-'));
  made.push(folder);
  return folder;
}

/** Call after each file of tests. */
export function cleanUp(): void {
  for (const worker of started) if (worker.exitCode === null && worker.signalCode === null) worker.kill('SIGKILL');
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
  if (built) rmSync(dirname(built), { recursive: true, force: true });
  built = undefined;
}

/** A batch of one unit that does nothing, with its folders below this one. */
export const smallBatch = (root: string) =>
  ({
    folder: join(root, 'batch'),
    command: ['/bin/true'],
    taskFolder: join(root, 'task'),
    workingFolder: '/',
    environment: {},
    warm: false,
    largestOutput: 100,
    total: 1,
    units: () => [{ number: 0, stem: 'one', args: '{}' }],
    single: false,
    width: null,
  }) satisfies RunnerBatch;

export const stemOf = (number: number) => `par-000000-${String(number).padStart(7, '0')}`;

/** False for processes that ended, whether or not somebody has asked for their outcome. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** A worker that was started; `done` is settled when it has left. */
export interface Running {
  process: ChildProcess;
  done: Promise<{ code: number | null; stderr: string }>;
}

export function whenDone(worker: ChildProcess, stderr: () => string): Running['done'] {
  started.push(worker);
  return new Promise((resolve, reject) => {
    worker.on('error', reject);
    // Not before its last words are read. Units that a killed worker left do not hold the pipe: their log is their own.
    worker.on('close', (code) => resolve({ code, stderr: stderr() }));
  });
}

const isWhole = (line: string) => line.startsWith('{') && line.endsWith('}');

/** As the service reads them. Nothing but a line that was cut off may be something else. */
function recordsIn(path: string): WorkerRecord[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.filter(isWhole).map((line) => {
    const record = recordIn(line);
    if (!record) throw new Error(`No record that a worker may write: ${line}`);
    return record;
  });
}

const endsIn = (records: WorkerRecord[]): ToldEnd[] =>
  records.filter((record) => 'end' in record).sort((a, b) => a.end - b.end);

export function makeBatch(options: Options) {
  const batch = options.batchFolder ?? join(newFolder(), 'batch');
  mkdirSync(batch, { recursive: true });
  const folder = options.folder ?? join(batch, '..', '0_task');
  const args = options.args ?? ['{}'];
  const journalPath = join(batch, 'journal.jsonl');
  writeFileSync(
    join(batch, 'batch.json'),
    JSON.stringify({
      command: options.command,
      folder,
      working_folder: options.working_folder ?? '/',
      environment: options.environment ?? {},
      warm: options.warm ?? false,
      warm_parent: options.warm_parent,
      largest_output: options.largest_output ?? 1_000_000,
      total: args.length,
    }),
  );
  const units = args.map((text, number) => JSON.stringify({ number, stem: stemOf(number), args: text }));
  writeFileSync(join(batch, 'units.jsonl'), units.map((line) => `${line}\n`).join(''));
  const control = (slots: number, stop = false) => {
    writeFileSync(join(batch, 'control.json.new'), JSON.stringify({ slots, stop }));
    renameSync(join(batch, 'control.json.new'), join(batch, 'control.json'));
  };
  control(options.slots ?? 2);

  const records = (): JournalRecord[] => recordsIn(journalPath);
  const start = (environment: NodeJS.ProcessEnv = process.env): Running => {
    const worker = spawn(options.python ?? 'python3', ['-I', '-S', workerFile(), batch], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: environment,
    });
    let stderr = '';
    worker.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    return { process: worker, done: whenDone(worker, () => stderr) };
  };
  const ends = () => endsIn(recordsIn(journalPath));
  return {
    batch,
    folder,
    journalPath,
    control,
    records,
    ends,
    start,
    /** Runs to the end; the ends in the order of the units. */
    async run(environment?: NodeJS.ProcessEnv) {
      const { code, stderr } = await start(environment).done;
      if (code !== 0) throw new Error(`The worker left with ${code}: ${stderr}`);
      return { ends: ends(), stderr, records: records() };
    },
    log: (number = 0) => readFileSync(join(folder, `${stemOf(number)}-log.txt`)),
    text: (name: string) => readFileSync(join(folder, name), 'utf8'),
  };
}

export type Batch = ReturnType<typeof makeBatch>;

export interface PackOptions extends Omit<Options, 'slots' | 'args' | 'batchFolder'> {
  /** The text for each args file, one a unit, for each pack. */
  packs?: string[][];
  parallel?: number;
  cpus?: number;
  memory?: number | null;
  largest_log?: number;
  grace?: number;
  outputs?: string;
}

interface PackStart {
  pack?: number;
  /** What the scheduler sets. */
  slurm?: Record<string, string | number>;
  nodes?: boolean;
  environment?: NodeJS.ProcessEnv;
}

/** The environment of a test without what a scheduler may have set around it. */
export const unscheduled = () =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLURM')));

/** A round of packs; the streams of a worker are files, as a scheduler makes them. */
export function makePacks(options: PackOptions) {
  const root = newFolder();
  const [inputs, outputs] = [join(root, 'inputs'), options.outputs ?? join(root, 'outputs')];
  mkdirSync(inputs);
  const folder = options.folder ?? join(root, '0_task');
  writeFileSync(
    join(inputs, 'batch.json'),
    JSON.stringify({
      command: options.command,
      folder,
      working_folder: options.working_folder ?? folder,
      environment: options.environment ?? {},
      warm: options.warm ?? false,
      largest_output: options.largest_output ?? 1_000_000,
      largest_log: options.largest_log ?? 1_000_000,
      ...(options.grace === undefined ? {} : { grace: options.grace }),
    }),
  );
  const packs = options.packs ?? [['{}']];
  let number = 0;
  const texts = packs.map((pack) =>
    pack.map((args) => `${JSON.stringify({ number, stem: stemOf(number++), args })}\n`).join(''),
  );
  writeFileSync(join(inputs, 'units-3.jsonl'), texts.join(''));
  const offsets = texts.reduce((all, text) => [...all, all.at(-1)! + Buffer.byteLength(text)], [0]);
  const { parallel = 2, cpus = 1, memory = null } = options;
  writeFileSync(join(inputs, 'round-3.json'), JSON.stringify({ parallel, cpus, memory, offsets }));

  const nameOf = (pack = 0, node?: number) =>
    `r3-${String(pack).padStart(6, '0')}${node === undefined ? '' : `.${node}`}`;
  const journalPath = (pack?: number, node?: number) => join(outputs, `${nameOf(pack, node)}.jsonl`);
  const records = (pack?: number, node?: number): JournalRecord[] => recordsIn(journalPath(pack, node));
  const ends = (pack?: number, node?: number) => endsIn(recordsIn(journalPath(pack, node)));
  let streams = 0;
  const start = ({ pack = 0, slurm = {}, nodes = false, environment = unscheduled() }: PackStart = {}): Running => {
    const stream = join(root, `slurm-${streams++}`);
    const descriptors = [openSync(`${stream}.out`, 'a'), openSync(`${stream}.err`, 'a')] as const;
    const words = ['--pack', inputs, outputs, '3', String(pack), ...(nodes ? ['--nodes'] : [])];
    const worker = spawn(options.python ?? 'python3', ['-I', '-S', workerFile(), ...words], {
      detached: true,
      stdio: ['ignore', ...descriptors],
      env: { ...environment, ...Object.fromEntries(Object.entries(slurm).map(([name, value]) => [name, `${value}`])) },
    });
    descriptors.forEach(closeSync);
    return { process: worker, done: whenDone(worker, () => readFileSync(`${stream}.err`, 'utf8')) };
  };
  return {
    folder,
    outputs,
    journalPath,
    claimPath: (pack?: number, node?: number) => join(outputs, `${nameOf(pack, node)}.claim`),
    records,
    ends,
    start,
    /** Runs a pack to its end. */
    async run(how: PackStart = {}) {
      const { code, stderr } = await start(how).done;
      if (code !== 0) throw new Error(`The worker left with ${code}: ${stderr}`);
      return { ends: ends(how.pack), records: records(how.pack), stderr };
    },
    log: (n = 0) => readFileSync(join(folder, `${stemOf(n)}-log.txt`), 'utf8'),
  };
}

export type Packs = ReturnType<typeof makePacks>;

/** A script in a folder of its own, with modules beside it. */
export function makeScript(text: string, modules: Record<string, string> = {}): string {
  const folder = newFolder();
  for (const [name, content] of Object.entries(modules)) writeFileSync(join(folder, `${name}.py`), content);
  const path = join(folder, 'script.py');
  writeFileSync(path, text);
  return path;
}
