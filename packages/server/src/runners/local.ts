/**
 * Runs batches on this machine: starts a worker for each, follows its journal, shares the places between all of them.
 *
 * A worker goes on when the service ends. A batch that is run again is followed from its beginning: what was recorded
 * before comes once more, and a worker is started only where none is left.
 */
import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Host, ProcessHandle } from '../hosts/index.ts';
import { type Batch, isWritten, JOURNAL, writeBatch, writeControl } from './batch.ts';
import { createBell } from './bell.ts';
import { journalReader, type JournalRecord } from './journal.ts';
import { createPlaces } from './places.ts';
import { type Following, type Runner, RunnerProblem } from './runner.ts';

const WORKER = join(import.meta.dirname, 'worker.py');
const LOOK_MS = 1000;
const LOOK_UNWATCHED_MS = 200;
/** Records that come thick are read together. */
const REST_MS = 20;
const STOP_PATIENCE_MS = 30_000;
const MOST_STARTS_IN_VAIN = 3;

export interface LocalRunner {
  /** With the interpreter that runs the worker. */
  with(python: string): Runner;
}

/** Rings when a file changes. */
function bellOn(path: string) {
  const { wake, wait } = createBell();
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(path, wake);
    watcher.on('error', () => watcher?.close());
  } catch {
    // no more watchers to be had: look more often instead
  }
  const patience = watcher ? LOOK_MS : LOOK_UNWATCHED_MS;
  return { wake, wait: () => wait(patience), close: () => watcher?.close() };
}

/** What the journal says about a batch. */
interface State {
  worker: ProcessHandle | undefined;
  running: Set<number>;
  ended: number;
  obeyed: number;
  finished: boolean;
}

function take(state: State, record: JournalRecord): void {
  if ('end' in record) {
    state.running.delete(record.end);
    state.ended += 1;
  } else if ('start' in record) state.running.add(record.start);
  else if ('places' in record) state.obeyed = record.places;
  else if ('worker' in record) state.worker = { pid: record.worker, started: record.started };
  else if ('finished' in record) state.finished = true;
}

/** The worker that last held the lock of a batch. */
async function lockHolder(folder: string): Promise<ProcessHandle | undefined> {
  const [pid, started] = (await readFile(join(folder, 'lock'), 'utf8').catch(() => '')).split(' ');
  return started ? { pid: Number(pid), started } : undefined;
}

const lastLines = async (path: string) => (await readFile(path, 'utf8').catch(() => '')).trim().slice(-1000);

export function createLocalRunner({ host, places: number }: { host: Host; places: number }): LocalRunner {
  const places = createPlaces(number);

  async function run(batch: Batch, python: string, { onRecords, stop, leave }: Following) {
    const { folder } = batch;
    if (!(await isWritten(folder))) await writeBatch(batch);
    const journal = journalReader(join(folder, JOURNAL));
    const state: State = { worker: undefined, running: new Set(), ended: 0, obeyed: 0, finished: false };
    const { wake, wait, close } = bellOn(join(folder, JOURNAL));
    const share = places.enter({ width: batch.width, total: batch.total, onChange: wake });
    let [startsInVain, told, stopTold, stopSince] = [0, -1, false, 0];
    let launched: ProcessHandle | undefined;

    async function read(): Promise<boolean> {
      const records = await journal.read();
      if (records.length === 0) return false;
      for (const record of records) take(state, record);
      if (records.some((record) => 'start' in record || 'end' in record)) startsInVain = 0;
      await onRecords(records);
      return true;
    }

    async function tell(): Promise<void> {
      if (told === share.granted && stopTold === stop.aborted) return;
      const control = { places: share.granted, stop: stop.aborted };
      await writeControl(folder, control);
      [told, stopTold] = [control.places, control.stop];
      if (state.worker) await host.signal(state.worker, 'SIGUSR1');
    }

    async function start(): Promise<void> {
      if (startsInVain >= MOST_STARTS_IN_VAIN) {
        const said = await lastLines(join(folder, 'worker.log'));
        throw new RunnerProblem(`The program that runs the tasks ended ${startsInVain} times. ${said}`);
      }
      startsInVain += 1;
      const output = join(folder, 'worker.log');
      try {
        launched = await host.launch([python, '-I', '-S', WORKER, folder], { cwd: '/', output, onExit: wake });
      } catch (error) {
        throw new RunnerProblem(`${python} could not be started: ${(error as Error).message}`);
      }
    }

    async function hasWorker(): Promise<boolean> {
      // one that another process of the service started may not have written to the journal yet
      const holder = await lockHolder(folder);
      for (const handle of [state.worker, launched, holder]) if (handle && (await host.isAlive(handle))) return true;
      return false;
    }

    const missesWorker = async () => (share.granted > 0 || stop.aborted) && !(await hasWorker());

    /** A worker that does not stop is ended; the next one settles what it left. */
    async function insist(): Promise<void> {
      stopSince ||= Date.now();
      if (Date.now() - stopSince < STOP_PATIENCE_MS || !state.worker) return;
      await host.signal(state.worker, 'SIGKILL');
      stopSince = Date.now();
    }

    for (const signal of [stop, leave]) signal.addEventListener('abort', wake);
    try {
      for (;;) {
        while (!leave.aborted && !state.finished && (await read()));
        share.update({ running: state.running.size, obeyed: state.obeyed, remaining: batch.total - state.ended });
        if (state.finished) return 'finished' as const;
        if (leave.aborted) return 'left' as const;
        await tell();
        if (await missesWorker()) {
          // it may have ended just after the last look
          if (await read()) continue;
          state.running.clear();
          await start();
        }
        if (stop.aborted) await insist();
        await wait();
        await sleep(REST_MS);
      }
    } finally {
      for (const signal of [stop, leave]) signal.removeEventListener('abort', wake);
      share.leave();
      close();
    }
  }

  async function end(parent: string, python: string): Promise<void> {
    const names = await readdir(parent).catch(() => []);
    for (const name of names) {
      const folder = join(parent, name);
      if (!(await isWritten(folder))) continue;
      const nothing = { command: [], taskFolder: '', workingFolder: '/', environment: {}, warm: false, single: true };
      const batch = { ...nothing, folder, largestOutput: 0, total: 0, units: () => [], width: 0 };
      const never = new AbortController().signal;
      await run(batch, python, { onRecords: () => undefined, stop: AbortSignal.abort(), leave: never });
    }
  }

  return {
    with: (python) => ({
      run: (batch, following) => run(batch, python, following),
      end: (folder) => end(folder, python),
    }),
  };
}
