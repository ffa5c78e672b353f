/**
 * Runs batches on this machine: starts a worker for each, follows its journal, shares the slots between all of them.
 *
 * A worker goes on when the service ends. A batch that is run again is followed from its beginning: what was recorded
 * before comes once more, and a worker is started only where none is left.
 */
import { type FSWatcher, watch } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { guarded, ignored } from '../guard.ts';
import { type AccountHost, type Host, type ProcessHandle, readEnd } from '../hosts/index.ts';
import { processesWithWord } from '../processes.ts';
import { type Batch, hasBegun, JOURNAL, writeBatch, writeControl, writeWorker } from './batch.ts';
import { createIntake, journalReader, strangeWords } from './journal.ts';
import { lockHolder, worksWith } from './lock.ts';
import { createOrders, type Orders } from './orders.ts';
import type { WorkerRecord } from './records.ts';
import { type Following, type Runner, RunnerProblem } from './runner.ts';
import { createSlots } from './slots.ts';
import { createWakeUp } from './wake-up.ts';
import type { WarmParents } from './warm-parents.ts';
import { workerArchive } from './worker-archive.ts';

const LOOK_MS = 1000;
const LOOK_UNWATCHED_MS = 200;
/** Records that come thick are read together. */
const REST_MS = 20;
const LONGEST_STOP_MS = 30_000;
const MOST_STARTS_IN_VAIN = 3;
const LONGEST_WORDS = 1000;
/** Of a batch of which only the end is wanted. */
const ANY_NUMBER = 2 ** 31;
const ANY_OUTPUT = 2 ** 20;

export interface LocalRunner {
  /** With the interpreter that runs the worker, as another account where one is given. */
  with(python: string, account?: AccountHost): Runner;
}

/** Wakes who waits when a file changes. */
function wakeUpOn(path: string) {
  const { wake, wait } = createWakeUp();
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(path, guarded(wake, ignored));
    watcher.on(
      'error',
      guarded(() => watcher?.close(), ignored),
    );
  } catch {
    // no more watchers to be had: look more often instead
  }
  const longestMs = watcher ? LOOK_MS : LOOK_UNWATCHED_MS;
  return { wake, wait: () => wait(longestMs), close: () => watcher?.close() };
}

/** The journal tells nothing any more that could be believed. */
class JournalProblem extends RunnerProblem {
  override readonly kind = 'journal-problem';
}

/** What the journal says about a batch. */
interface State {
  worker: ProcessHandle | undefined;
  running: Set<number>;
  ended: number;
  obeyed: number;
  orders: Orders;
  finished: boolean;
}

function take(state: State, record: WorkerRecord): void {
  if ('end' in record) {
    state.running.delete(record.end);
    state.ended += 1;
  } else if ('start' in record) state.running.add(record.start);
  else if ('slots' in record) {
    state.obeyed = record.slots;
    state.orders.answered(record.order);
  } else if ('worker' in record) state.worker = { pid: record.worker, started: record.started };
  else if ('finished' in record) state.finished = true;
}

const lastLines = async (path: string) =>
  (await readEnd(path, LONGEST_WORDS).catch(() => undefined))?.toString('utf8').trim() ?? '';

/** A worker whose journal says that it has finished, or says nothing that can be believed, and that goes on all the same. */
async function endWorkers(host: Host, folder: string): Promise<void> {
  const end = Date.now() + LONGEST_STOP_MS;
  await writeControl(folder, { ...createOrders().next(0), stop: true });
  const workers = await processesWithWord(folder);
  for (const worker of workers) await host.signal(worker, 'SIGUSR1');
  for (const worker of workers) {
    while (Date.now() < end && (await host.isAlive(worker))) await sleep(LOOK_UNWATCHED_MS);
    await host.endLeftOver(worker);
  }
}

interface LocalOptions {
  host: Host;
  slots: number;
  /** Where imports are to last. */
  warmParents?: WarmParents | undefined;
}

/** Who runs units: the interpreter of the worker, and where it is started. */
interface Who {
  python: string;
  host: Host;
  account: AccountHost | undefined;
}

export function createLocalRunner({ host: own, slots: total, warmParents }: LocalOptions): LocalRunner {
  const slots = createSlots(total);
  // when the service starts: later, the sources on the disk may be those of another version
  workerArchive();

  const warmParentFor = (batch: Batch, { account }: Who) =>
    batch.warm ? warmParents?.folderFor(batch.command, batch, account) : undefined;

  async function run(batch: Batch, who: Who, { onRecords, stop, leave, say }: Following) {
    const { folder } = batch;
    const { python, host, account } = who;
    await writeBatch({ ...batch, warmParent: warmParentFor(batch, who) }, account);
    const { largestOutput } = batch;
    const intake = createIntake({ has: (number) => number < batch.total, largestOutput });
    const journal = journalReader(join(folder, JOURNAL), intake);
    const orders = createOrders();
    const state: State = { worker: undefined, running: new Set(), ended: 0, obeyed: 0, orders, finished: false };
    const { wake, wait, close } = wakeUpOn(join(folder, JOURNAL));
    const share = slots.enter({ width: batch.width, total: batch.total, onChange: wake });
    let [startsInVain, told, stopTold, stopSince] = [0, -1, false, 0];
    let launched: ProcessHandle | undefined;

    let strange = 0;
    function tellStrange(): void {
      if (intake.strange() > strange) say?.(strangeWords(intake.strange()));
      strange = intake.strange();
    }

    async function read(): Promise<boolean> {
      const records = await journal.read();
      const problem = intake.problem();
      if (problem !== undefined) throw new JournalProblem(problem);
      if (records.length === 0) return false;
      for (const record of records) take(state, record);
      if (records.some((record) => 'start' in record || 'end' in record)) startsInVain = 0;
      await onRecords(records);
      return true;
    }

    const mayObey = () => Math.max(state.obeyed, orders.most());
    const tellShare = () =>
      share.update({ running: state.running.size, obeyed: mayObey(), remaining: batch.total - state.ended });

    async function tell(): Promise<void> {
      if (told === share.granted && stopTold === stop.aborted) return;
      [told, stopTold] = [share.granted, stop.aborted];
      const order = orders.next(told);
      // before anybody can read it: the worker may come to obey it long after its turn is over
      tellShare();
      await writeControl(folder, { ...order, stop: stopTold });
      await signalWorker('SIGUSR1');
    }

    async function signalWorker(signal: NodeJS.Signals): Promise<void> {
      if (state.worker && (await worksWith(folder, state.worker))) await host.signal(state.worker, signal);
    }

    const workers = async () => [state.worker, launched, await lockHolder(folder)].filter((one) => one !== undefined);

    async function start(): Promise<void> {
      if (startsInVain >= MOST_STARTS_IN_VAIN) {
        const said = await lastLines(join(folder, 'worker.log'));
        throw new RunnerProblem(`The program that runs the tasks ended ${startsInVain} times. ${said}`);
      }
      startsInVain += 1;
      const output = join(folder, 'worker.log');
      const worker = await writeWorker(folder);
      // without one, the worker imports by itself
      if (batch.warm) await warmParents?.ensure(python, batch.command, batch, account).catch(ignored);
      try {
        launched = await host.launch([python, '-I', '-S', worker, folder], { cwd: '/', output, onExit: wake });
      } catch (error) {
        throw new RunnerProblem(`${python} could not be started: ${(error as Error).message}`, { cause: error });
      }
    }

    async function hasWorker(): Promise<boolean> {
      // one that another process of the service started may not have written to the journal yet
      for (const worker of await workers()) {
        if ((await host.isAlive(worker)) && (await worksWith(folder, worker))) return true;
      }
      return false;
    }

    /** What only a worker that is gone could have taken. */
    async function giveBack(): Promise<void> {
      if (mayObey() <= share.granted || (await hasWorker())) return;
      state.obeyed = 0;
      orders.unread();
      tellShare();
    }

    const missesWorker = async () => (share.granted > 0 || stop.aborted) && !(await hasWorker());

    /** A worker that does not stop is ended; the next one settles what it left. */
    async function insist(): Promise<void> {
      stopSince ||= Date.now();
      if (Date.now() - stopSince < LONGEST_STOP_MS || !state.worker) return;
      await signalWorker('SIGKILL');
      stopSince = Date.now();
    }

    const guardedWake = guarded(wake, ignored);
    for (const signal of [stop, leave]) signal.addEventListener('abort', guardedWake);
    try {
      for (;;) {
        while (!leave.aborted && !state.finished && (await read()));
        tellStrange();
        tellShare();
        if (state.finished) return 'finished' as const;
        if (leave.aborted) return 'left' as const;
        await tell();
        await giveBack();
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
      for (const signal of [stop, leave]) signal.removeEventListener('abort', guardedWake);
      share.leave();
      close();
    }
  }

  async function runOrEnd(batch: Batch, who: Who, following: Following) {
    try {
      return await run(batch, who, following);
    } catch (error) {
      if (error instanceof JournalProblem) await endWorkers(who.host, batch.folder);
      throw error;
    }
  }

  async function end(parent: string, who: Who): Promise<void> {
    const names = await readdir(parent).catch(() => []);
    for (const name of names) {
      const folder = join(parent, name);
      if (!(await hasBegun(folder, who.account))) continue;
      const nothing = { command: [], taskFolder: '', workingFolder: '/', environment: {}, warm: false, single: true };
      const batch = { ...nothing, folder, largestOutput: ANY_OUTPUT, total: ANY_NUMBER, units: () => [], width: 0 };
      const never = new AbortController().signal;
      const following = { onRecords: () => undefined, stop: AbortSignal.abort(), leave: never };
      await runOrEnd(batch, who, following).catch((error: unknown) => {
        if (!(error instanceof RunnerProblem)) throw error;
      });
      // one that has finished is gone, unless the journal only says so
      await endWorkers(who.host, folder);
    }
  }

  return {
    with(python, account) {
      const who = { python, host: account ?? own, account };
      return {
        run: (batch, following) => runOrEnd(batch, who, following),
        end: (folder) => end(folder, who),
        importAhead: (commands, surroundings) =>
          void warmParents?.importAhead(python, commands, surroundings, account).catch(ignored),
      };
    },
  };
}
