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
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { PYTHONS } from '@service/contract';

import type { UnitEnd } from '../../src/runners/index.ts';

export const WORKER = fileURLToPath(new URL('../../src/runners/worker.py', import.meta.url));

/** Of any kind: the first field names it. */
export interface JournalRecord extends Partial<UnitEnd> {
  worker?: number;
  started?: string;
  boot?: string;
  host?: string;
  places?: number;
  stopping?: true;
  start?: number;
  running?: number;
  pid?: number;
  finished?: true;
  scheduler_job?: number | null;
  array_job?: number | null;
  restart?: number;
  log?: string;
  log64?: string;
  out?: string;
  err?: string;
}

export interface Options {
  command: string[];
  /** The text for each args file, one a unit. */
  args?: string[];
  folder?: string;
  working_folder?: string;
  environment?: Record<string, string>;
  warm?: boolean;
  largest_output?: number;
  places?: number;
  python?: string;
  /** Where the batch folder is made; a new folder unless told. */
  batchFolder?: string;
}

/** The oldest and the newest Python that answer here, among those that the worker promises to run with. */
export function interpreters(): string[] {
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
  const some = found.length > 0 ? found : [answers('python3') ?? 'python3'];
  return [...new Set([some[0]!, some.at(-1)!])];
}

const made: string[] = [];
const started: ChildProcess[] = [];

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
}

export async function until<T>(what: () => T | undefined | false | null, seconds = 15): Promise<T> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = what();
    if (value) return value;
    if (Date.now() > end) throw new Error(`Not within ${seconds} s: ${String(what)}`);
    await sleep(10);
  }
}

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
    worker.on('exit', (code) => {
      // Left-over units of a killed worker do not hold the pipe: their log is their own.
      setImmediate(() => resolve({ code, stderr: stderr() }));
    });
  });
}

function recordsIn(path: string): JournalRecord[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line) as JournalRecord];
    } catch {
      return [];
    }
  });
}

const endsIn = (records: JournalRecord[]) =>
  (records.filter((record) => 'end' in record) as (JournalRecord & UnitEnd)[]).sort((a, b) => a.end - b.end);

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
      largest_output: options.largest_output ?? 1_000_000,
      total: args.length,
    }),
  );
  const units = args.map((text, number) => JSON.stringify({ number, stem: stemOf(number), args: text }));
  writeFileSync(join(batch, 'units.jsonl'), units.map((line) => `${line}\n`).join(''));
  const control = (places: number, stop = false) => {
    writeFileSync(join(batch, 'control.json.new'), JSON.stringify({ places, stop }));
    renameSync(join(batch, 'control.json.new'), join(batch, 'control.json'));
  };
  control(options.places ?? 2);

  const records = () => recordsIn(journalPath);
  const start = (environment: NodeJS.ProcessEnv = process.env): Running => {
    const worker = spawn(options.python ?? 'python3', ['-I', '-S', WORKER, batch], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: environment,
    });
    let stderr = '';
    worker.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    return { process: worker, done: whenDone(worker, () => stderr) };
  };
  const ends = () => endsIn(records());
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

export interface PackOptions extends Omit<Options, 'places' | 'args' | 'batchFolder'> {
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
  const records = (pack?: number, node?: number) => recordsIn(journalPath(pack, node));
  const ends = (pack?: number, node?: number) => endsIn(records(pack, node));
  let streams = 0;
  const start = ({ pack = 0, slurm = {}, nodes = false, environment = unscheduled() }: PackStart = {}): Running => {
    const stream = join(root, `slurm-${streams++}`);
    const descriptors = [openSync(`${stream}.out`, 'a'), openSync(`${stream}.err`, 'a')] as const;
    const words = ['--pack', inputs, outputs, '3', String(pack), ...(nodes ? ['--nodes'] : [])];
    const worker = spawn(options.python ?? 'python3', ['-I', '-S', WORKER, ...words], {
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
