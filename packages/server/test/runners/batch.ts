/** Batch folders with real workers in them, and what their journals tell. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
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

import type { UnitEnd } from '../../src/runners/index.ts';

const WORKER = fileURLToPath(new URL('../../src/runners/worker.py', import.meta.url));

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
  const versions = ['3.9', '3.10', '3.11', '3.12', '3.13', '3.14'];
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
  const found = versions
    .map((version) =>
      folders
        .map((folder) => join(folder, `python${version}`))
        .filter((path) => existsSync(path))
        .map(answers)
        .find((path) => path),
    )
    .filter((path) => path !== undefined);
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

  const records = (): JournalRecord[] => {
    if (!existsSync(journalPath)) return [];
    const lines = readFileSync(journalPath, 'utf8').split('\n').slice(0, -1);
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line) as JournalRecord];
      } catch {
        return [];
      }
    });
  };
  const start = (environment: NodeJS.ProcessEnv = process.env): Running => {
    const worker = spawn(options.python ?? 'python3', ['-I', '-S', WORKER, batch], {
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: environment,
    });
    started.push(worker);
    let stderr = '';
    worker.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    const done = new Promise<{ code: number | null; stderr: string }>((resolve, reject) => {
      worker.on('error', reject);
      worker.on('exit', (code) => {
        // Left-over units of a killed worker do not hold the pipe: their log is their own.
        setImmediate(() => resolve({ code, stderr }));
      });
    });
    return { process: worker, done };
  };
  const ends = (): UnitEnd[] =>
    (records().filter((record) => 'end' in record) as UnitEnd[]).sort((a, b) => a.end - b.end);
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

/** A script in a folder of its own, with modules beside it. */
export function makeScript(text: string, modules: Record<string, string> = {}): string {
  const folder = newFolder();
  for (const [name, content] of Object.entries(modules)) writeFileSync(join(folder, `${name}.py`), content);
  const path = join(folder, 'script.py');
  writeFileSync(path, text);
  return path;
}
