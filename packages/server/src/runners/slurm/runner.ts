/**
 * Runs batches on a Slurm cluster: cuts the units into packs, submits them as arrays, and follows them to their end.
 *
 * Nothing that matters is only in this process: what was submitted is written down before it is (memory.ts), what happened
 * is in the journals that the workers write on the cluster. After an interruption both are read again. That the cluster,
 * its queue or its file system cannot be asked means to ask again, and nothing else.
 */
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { guarded, ignored } from '../../guard.ts';
import { capture, SudoRefused } from '../../hosts/index.ts';
import type { Batch } from '../batch.ts';
import { createBell } from '../bell.ts';
import { type Following, type Runner, RunnerProblem } from '../runner.ts';
import { bringFiles } from './bring.ts';
import type { Cluster } from './cluster.ts';
import { createDeliverer, type Deliverer } from './deliver.ts';
import { Silent } from './fetch.ts';
import { createJournalReader, type JournalReader } from './journals.ts';
import { openMemory, type RoundPlan } from './memory.ts';
import { isComplete, isFinished, isRead } from './packs.ts';
import { Interrupted, isAway, pause, patiently } from './patience.ts';
import { openUnits, type Pack, packPrefix, type Round, roundOf, type UnitIndex, writeRound } from './rounds.ts';
import { arraysOf, type JobArray, Refused, submitRound, type SubmissionParts } from './submission.ts';
import { confirmClaims, idOf, takeReading } from './standing.ts';
import { createWork, mayBegin, type Work } from './work.ts';

const LONGEST_COMMAND_MS = 120_000;
const LEAST_POLL_MS = 500;
/** A phase that has run for long is looked at less often, up to the interval of the resource. */
const POLL_SHARE = 0.15;
const SECOND = 1000;
/** Characters of the error stream of a scheduler job that are kept. */
const LONGEST_ERRORS = 2000;

const AGAIN_AND_AGAIN = 'The cluster ended this job again and again before it began.';

/** What the functions of one run share. */
interface Running extends SubmissionParts {
  following: Following;
  work: Work;
  units: UnitIndex;
  deliverer: Deliverer;
  journals: JournalReader;
  arrays: JobArray[];
  lastChange: number;
}

const idsOf = (arrays: JobArray[]) => arrays.flatMap((array) => array.id ?? []);

async function makeFolders({ cluster, batch, signal, say, work }: Running): Promise<void> {
  const { taskFolder, outputs } = batch.cluster!;
  const command = ['mkdir', '-p', '--', taskFolder, outputs] as const;
  const { code, stderr } = await patiently(
    () => capture(cluster.commands, command, { timeoutMs: LONGEST_COMMAND_MS }),
    {
      signal,
      say,
      beginning: work.rounds.length === 0,
    },
  );
  if (code !== 0) throw new RunnerProblem(`The folder of the job could not be made on the cluster: ${stderr.trim()}`);
}

/** Submits a round, or finds it submitted. A refusal of the scheduler fails the units, not the service. */
async function submit(running: Running, round: Round): Promise<void> {
  const { work, following } = running;
  const isDone = async (array: JobArray) => {
    const packs = round.packs.slice(array.base, array.base + array.count);
    await patiently(() => running.journals.readAll(packs), running);
    return packs.every(isComplete);
  };
  try {
    const arrays = await submitRound(running, round, isDone);
    running.arrays.push(...arrays);
    await following.onSubmitted?.(idsOf(running.arrays));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    running.arrays.push(...arraysOf(running.memory, round));
    await cancel(running, idsOf(arraysOf(running.memory, round)));
    work.giveUp(round, error.message, Date.now() / SECOND);
  }
  running.lastChange = Date.now();
}

async function cancel({ cluster }: Pick<Running, 'cluster'>, ids: number[]): Promise<void> {
  if (ids.length === 0) return;
  try {
    await capture(cluster.commands, ['scancel', ...ids.map(String)], { timeoutMs: LONGEST_COMMAND_MS });
  } catch (error) {
    if (!isAway(error)) throw error;
  }
}

/** Its files are complete before anybody knows of it. */
async function beginRound(running: Running, plan: RoundPlan): Promise<void> {
  const { batch, work, units, say } = running;
  const [count, why] = [plan.units?.length ?? 0, plan.attempt > 0 ? ' with more memory or time' : ''];
  if (plan.units) say?.(`${count} ${count === 1 ? 'unit is' : 'units are'} submitted again${why}`);
  await writeRound(batch, roundOf(plan, batch), units);
  await submit(running, work.begin(plan));
}

/** What the scheduler's jobs of packs wrote, where their workers could not pass it on. All with one question. */
async function errorsOf({ batch, journals }: Running, packs: Pack[]): Promise<Map<Pack, string>> {
  const pathOf = (pack: Pack) =>
    `${batch.cluster!.taskFolder}/${packPrefix(batch, pack.index)}-slurm-${pack.schedulerJob}.err`;
  const silent = packs.filter((pack) => !isFinished(pack) && pack.schedulerJob !== null);
  const ends = await journals.ends(silent.map(pathOf), LONGEST_ERRORS);
  return new Map(silent.map((pack) => [pack, ends.get(pathOf(pack)) ?? '']));
}

async function settleWhatIsOver(running: Running): Promise<void> {
  const { work } = running;
  const complete = work.open().filter(isComplete);
  const done = complete.map((pack) => ({ pack, kind: 'completed' as const, errors: '' }));
  await work.settle(done, Date.now() / SECOND);
  const over = work.open().filter((pack) => isRead(pack, running.cluster.patienceMs));
  let errors: Map<Pack, string>;
  try {
    errors = await errorsOf(running, over);
  } catch (error) {
    if (!isAway(error)) throw error;
    return;
  }
  const ends = over.map((pack) => ({ pack, kind: pack.over!.kind, errors: errors.get(pack) ?? '' }));
  await work.settle(ends, Date.now() / SECOND);
  if (complete.length + over.length > 0) running.lastChange = Date.now();
}

/** Logs that were too long to come with the journals, and those of units that left no outcome. */
async function bringLogs({ cluster, batch, deliverer, units, work, say }: Running): Promise<void> {
  const numbers = [...deliverer.missing];
  if (numbers.length === 0) return;
  const files = numbers.map((number) => ({
    from: `${batch.cluster!.taskFolder}/${units.stem(number)}-log.txt`,
    to: join(batch.taskFolder, `${units.stem(number)}-log.txt`),
  }));
  await bringFiles(cluster.files, work.rounds[0]!.folder, files).catch((error: unknown) => {
    if (!(error instanceof Silent)) throw error;
    say?.(`Long logs are left on the cluster: ${error.message}`);
  });
  deliverer.missing.clear();
}

async function follow(running: Running, ring: ReturnType<typeof createBell>): Promise<'finished' | 'left'> {
  const { work, cluster, following, journals, batch } = running;
  let asking: Promise<void> | undefined;
  let cancelled = 0;
  let trouble: unknown;
  for (;;) {
    if (trouble !== undefined) throw trouble as Error;
    await journals.take();
    await confirmClaims(running);
    await settleWhatIsOver(running);
    await work.report();
    if (following.leave.aborted) return 'left';
    const open = work.open();
    if (open.length === 0) {
      const plan = work.nextPlan();
      if (!plan) break;
      if (mayBegin(plan)) await unlessStopped(running, () => beginRound(running, plan));
      else work.giveUp(work.begin(plan), AGAIN_AND_AGAIN, Date.now() / SECOND);
      continue;
    }
    if (following.stop.aborted && Date.now() - cancelled >= cluster.pollMs) {
      cancelled = Date.now();
      await cancel(running, [...new Set([...idsOf(running.arrays), ...open.flatMap((pack) => pack.arrayJob ?? [])])]);
    }
    const within = Math.min(cluster.pollMs, Math.max(LEAST_POLL_MS, POLL_SHARE * (Date.now() - running.lastChange)));
    const ids = new Set(open.flatMap((pack) => idOf(running.arrays, pack) ?? []));
    if (ids.size > 0)
      asking ??= cluster.queue
        .read([...ids], within)
        .then((reading) => takeReading(running, reading))
        .catch((error: unknown) => void (trouble = error))
        .finally(() => {
          asking = undefined;
          ring.wake();
        });
    journals.plan(open);
    await ring.wait(journals.nextMs() ?? cluster.pollMs);
  }
  await patiently(() => bringLogs(running), { signal: following.leave, say: following.say });
  if (!batch.single) await following.onSubmitted?.(idsOf(running.arrays));
  running.memory.add({ done: true });
  return 'finished';
}

/** Goes on with what an earlier life of the service submitted, or was about to. */
async function goOn(running: Running): Promise<void> {
  const { work, journals, memory } = running;
  const submitted = work.rounds.filter((round) => arraysOf(memory, round).length > 0);
  await patiently(() => journals.readAll(submitted.flatMap((round) => round.packs)), running);
  for (const round of work.rounds) await submit(running, round);
}

/** Stopped before everything was submitted: what the scheduler has is cancelled, the rest never begins. */
async function endUnsubmitted(running: Running): Promise<void> {
  const { work, memory, cluster, following } = running;
  running.arrays = work.rounds.flatMap((round) => arraysOf(memory, round));
  for (const array of running.arrays.filter((one) => one.id === undefined)) {
    array.id = await tokenOwner(cluster, array.token, following.leave);
    if (array.id !== undefined) memory.add({ submitted: { token: array.token, id: array.id } });
  }
  const never = work.open().filter((pack) => idOf(running.arrays, pack) === undefined);
  const ends = never.map((pack) => ({ pack, kind: 'cancelled' as const, errors: '' }));
  await work.settle(ends, Date.now() / SECOND);
}

async function tokenOwner(cluster: Cluster, token: string, leave: AbortSignal): Promise<number | undefined> {
  for (;;) {
    const ids = await cluster.queue.find(token);
    if (ids) return ids[0];
    await pause(cluster.pollMs, leave);
  }
}

/** Submits, unless the job is stopped meanwhile. */
async function unlessStopped(running: Running, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Interrupted) || running.following.leave.aborted) throw error;
    await endUnsubmitted(running);
  }
}

async function start(running: Running): Promise<void> {
  const { work, batch } = running;
  await makeFolders(running);
  if (work.rounds.length > 0) return goOn(running);
  const { options, tasksPerJob, parallel } = batch.cluster!.plan;
  return beginRound(running, { number: 0, attempt: 0, options, tasksPerJob, parallel, units: null });
}

async function run(cluster: Cluster, batch: Batch, following: Following): Promise<'finished' | 'left'> {
  // not the folder above: where that is gone, another process has ended the job, and nothing may start again
  await mkdir(batch.folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await chmod(batch.folder, 0o755);
  const memory = openMemory(batch.folder);
  const units = await openUnits(batch);
  const deliverer = await createDeliverer(batch.taskFolder, units);
  const work = createWork({ batch, memory, deliverer, following });
  const ring = createBell();
  const running: Running = {
    ...{ cluster, batch, following, memory, units, deliverer, work },
    journals: createJournalReader({ cluster, batch, work, wake: ring.wake }),
    signal: AbortSignal.any([following.leave, following.stop]),
    say: following.say,
    arrays: [],
    lastChange: Date.now(),
  };
  const guardedWake = guarded(ring.wake, ignored);
  for (const one of [following.stop, following.leave]) one.addEventListener('abort', guardedWake);
  try {
    await unlessStopped(running, () => start(running));
    return await follow(running, ring);
  } catch (error) {
    if (error instanceof Interrupted && following.leave.aborted) return 'left';
    throw error instanceof SudoRefused ? new RunnerProblem(error.message) : error;
  } finally {
    for (const one of [following.stop, following.leave]) one.removeEventListener('abort', guardedWake);
    running.journals.close();
    await units.close();
  }
}

/** Cancels what a batch may still have on the cluster, without waiting for it. */
async function endBatch(cluster: Cluster, folder: string): Promise<void> {
  const { entries } = openMemory(folder);
  if (entries.some((entry) => 'done' in entry)) return;
  const ids = new Map(entries.flatMap((one) => ('submitted' in one ? [[one.submitted.token, one.submitted.id]] : [])));
  for (const entry of entries) {
    if (!('intent' in entry) || ids.has(entry.intent.token)) continue;
    const [id] = (await cluster.queue.find(entry.intent.token)) ?? [];
    if (id !== undefined) ids.set(entry.intent.token, id);
  }
  await cancel({ cluster }, [...ids.values()]);
}

export const createSlurmRunner = (cluster: Cluster): Runner => ({
  run: (batch, following) => run(cluster, batch, following),
  async end(folder) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names) await endBatch(cluster, join(folder, name));
  },
});
