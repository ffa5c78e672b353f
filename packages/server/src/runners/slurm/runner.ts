/**
 * Runs batches on a Slurm cluster: cuts the units into packs, submits them as arrays, and follows them to their end.
 *
 * Nothing that matters is only in this process: what was submitted is written down before it is (ledger.ts), what happened
 * is in the journals that the workers write on the cluster. After an interruption both are read again. That the cluster,
 * its queue or its file system cannot be asked means to ask again, and nothing else.
 */
import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { guarded, ignored } from '../../guard.ts';
import { SudoRefused } from '../../hosts/index.ts';
import { cancel, Interrupted, unlessAway, whileAway } from '../../slurm/index.ts';
import type { Batch } from '../batch.ts';
import { type Following, type Runner, RunnerProblem } from '../runner.ts';
import { createWakeUp } from '../wake-up.ts';
import type { Cluster } from './cluster.ts';
import { openJobArrays } from './job-arrays.ts';
import { createJournalReader } from './journals.ts';
import { openLedger } from './ledger.ts';
import { mayBegin, openProgress } from './progress.ts';
import { openResults } from './results.ts';
import { openUnits } from './rounds.ts';
import { createSchedulerWatch } from './scheduler-watch.ts';
import { createSettlement } from './settlement.ts';
import { createSubmitter } from './submission.ts';

const LEAST_POLL_MS = 500;
/** A phase that has run for long is looked at less often, up to the interval of the resource. */
const POLL_SHARE = 0.15;
const SECOND = 1000;

const AGAIN_AND_AGAIN = 'The cluster ended this job again and again before it began.';

/** Everything that works on one batch, made from what an earlier life of the service left. */
async function open(cluster: Cluster, batch: Batch, following: Following) {
  // not the folder above: where that is gone, another process has ended the job, and nothing may start again
  await mkdir(batch.folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await chmod(batch.folder, 0o755);
  const ledger = openLedger(batch.folder);
  const arrays = openJobArrays(ledger);
  const units = await openUnits(batch);
  const results = await openResults(batch.taskFolder, units, following.say);
  const progress = openProgress({ batch, ledger, results, following });
  const wakeUp = createWakeUp();
  const journals = createJournalReader({ cluster, batch, progress, wake: wakeUp.wake });
  return {
    ...{ ledger, arrays, units, results, progress, wakeUp, journals },
    settlement: createSettlement({ cluster, batch, progress, journals }),
    submitter: createSubmitter({ cluster, batch, following, arrays, units, results, progress, journals }),
    watch: createSchedulerWatch({ queue: cluster.queue, progress, arrays }),
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Looks at queue and journals until nothing is left to do. */
async function follow(opened: Opened, { stop, leave }: Following, pollMs: number): Promise<'finished' | 'left'> {
  const { progress, journals, watch, submitter, settlement, wakeUp } = opened;
  let looking: Promise<void> | undefined;
  let [cancelled, lastChange] = [0, Date.now()];
  let trouble: unknown;
  for (;;) {
    if (trouble !== undefined) throw trouble as Error;
    await journals.take();
    await watch.confirmClaims();
    if (await settlement.settleWhatIsOver()) lastChange = Date.now();
    await progress.report();
    if (leave.aborted) return 'left';
    const unsettled = progress.open();
    if (unsettled.length === 0) {
      const plan = progress.nextPlan();
      if (!plan) return 'finished';
      if (mayBegin(plan)) await submitter.beginRound(plan);
      else progress.giveUp(progress.begin(plan), AGAIN_AND_AGAIN, Date.now() / SECOND);
      lastChange = Date.now();
      continue;
    }
    if (stop.aborted && Date.now() - cancelled >= pollMs) {
      cancelled = Date.now();
      await submitter.cancelAll();
    }
    const within = Math.min(pollMs, Math.max(LEAST_POLL_MS, POLL_SHARE * (Date.now() - lastChange)));
    if (watch.hasSubmitted())
      looking ??= watch
        .look(within)
        .catch((error: unknown) => void (trouble = error))
        .finally(() => {
          looking = undefined;
          wakeUp.wake();
        });
    journals.plan(unsettled);
    await wakeUp.wait(journals.nextMs() ?? pollMs);
  }
}

async function run(cluster: Cluster, batch: Batch, following: Following): Promise<'finished' | 'left'> {
  const { stop, leave, say, onSubmitted } = following;
  const opened = await open(cluster, batch, following);
  const { ledger, arrays, units, results, wakeUp, journals, submitter } = opened;
  const guardedWake = guarded(wakeUp.wake, ignored);
  for (const signal of [stop, leave]) signal.addEventListener('abort', guardedWake);
  try {
    await submitter.start();
    if ((await follow(opened, following, cluster.pollMs)) === 'left') return 'left';
    const folders = { there: batch.cluster!.taskFolder, readable: batch.folder };
    await whileAway(() => results.fetchLogs(cluster.files, folders), {
      signal: leave,
      onSilence: (why, isFirst) => isFirst && say?.(`The cluster does not answer (${why}); this is tried again`),
    });
    if (!batch.single) await onSubmitted?.(arrays.ids());
    ledger.add({ done: true });
    return 'finished';
  } catch (error) {
    if (error instanceof Interrupted && leave.aborted) return 'left';
    throw error instanceof SudoRefused ? new RunnerProblem(error.message, { cause: error }) : error;
  } finally {
    for (const signal of [stop, leave]) signal.removeEventListener('abort', guardedWake);
    journals.close();
    await units.close();
  }
}

/** Cancels what a batch may still have on the cluster, without waiting for it. */
async function endBatch(cluster: Cluster, folder: string): Promise<void> {
  const ledger = openLedger(folder);
  // of a round that was refused, the scheduler may have more than it said
  const isRefused = ledger.entries.some((entry) => 'refused' in entry);
  if (!isRefused && ledger.entries.some((entry) => 'done' in entry)) return;
  const arrays = openJobArrays(ledger);
  const ids = arrays.ids();
  for (const { token } of arrays.all().filter(({ id }) => id === undefined)) {
    const found = await cluster.queue.find({ token });
    if ('ids' in found) ids.push(...found.ids.slice(0, 1));
  }
  await cancel(cluster, ids).catch(unlessAway);
}

export const createSlurmRunner = (cluster: Cluster): Runner => ({
  run: (batch, following) => run(cluster, batch, following),
  async end(folder) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names) await endBatch(cluster, join(folder, name));
  },
});
