/**
 * Hands the rounds of a batch to the scheduler, as few job arrays, each exactly once, and cancels them.
 *
 * Should a job come to run twice all the same, the workers of the second one find the packs taken and end.
 */
import { plural } from '@service/contract/plural';

import { packsScript } from '../../engine/slurm/script.ts';
import { capture, HostAway } from '../../hosts/index.ts';
import {
  type Asked,
  type Asking,
  cancel,
  Interrupted,
  SubmissionRefused,
  submitOnce,
  unlessAway,
  untilAnswered,
  whileAway,
} from '../../slurm/index.ts';
import type { Batch } from '../batch.ts';
import { type Following, RunnerProblem } from '../runner.ts';
import type { Cluster } from './cluster.ts';
import { type ArrayPiece, type JobArray, type JobArrays, packsOf, piecesOf } from './job-arrays.ts';
import type { JournalReader } from './journals.ts';
import type { RoundPlan } from './ledger.ts';
import { isComplete } from './packs.ts';
import type { Progress } from './progress.ts';
import type { Results } from './results.ts';
import { packPrefix, type Round, type UnitIndex, workerFileOf, writeRound } from './rounds.ts';

const LONGEST_COMMAND_MS = 120_000;
const SUBMIT_AGAIN_MS = 3000;
const SECOND = 1000;

interface SubmitterParts {
  cluster: Cluster;
  batch: Batch;
  following: Following;
  arrays: JobArrays;
  units: UnitIndex;
  results: Results;
  progress: Progress;
  journals: JournalReader;
}

export interface Submitter {
  /** Goes on with what an earlier life of the service submitted, or was about to; else begins the first round. */
  start(): Promise<void>;
  /** Its files are complete before anybody knows of it. */
  beginRound(plan: RoundPlan): Promise<void>;
  /** Asks the scheduler to end all of it, without waiting for that. */
  cancelAll(): Promise<void>;
}

export function createSubmitter(parts: SubmitterParts): Submitter {
  const { cluster, batch, following, arrays, units, results, progress, journals } = parts;
  const { leave, stop, say } = following;
  const there = batch.cluster!;
  const asking: Asking = {
    signal: AbortSignal.any([leave, stop]),
    onSilence: (why, isFirst) => isFirst && say?.(`The cluster does not answer (${why}); this is tried again`),
  };

  /** What the scheduler has of these rounds; a pack may run in another job than the one that was submitted last. */
  const idsOf = (rounds: Round[]): number[] => {
    const others = rounds.flatMap(({ packs }) => packs.flatMap((pack) => (pack.settled ? [] : (pack.arrayJob ?? []))));
    return [...new Set([...rounds.flatMap((round) => arrays.ids(arrays.of(round))), ...others])];
  };

  async function makeFolders(): Promise<void> {
    const command = ['mkdir', '-p', '--', there.taskFolder, there.outputs] as const;
    const make = () => capture(cluster.commands, command, { timeoutMs: LONGEST_COMMAND_MS });
    // nothing runs there yet: the job does not wait in silence for what only a person can repair
    const failsForPerson = progress.rounds.length === 0;
    const { code, stderr } = await whileAway(make, { ...asking, failsForPerson }).catch((error: unknown) => {
      throw error instanceof HostAway ? new RunnerProblem(error.message, { cause: error }) : error;
    });
    if (code !== 0) throw new RunnerProblem(`The folder of the job could not be made on the cluster: ${stderr.trim()}`);
  }

  async function scriptOf(round: Round, inputs: string, piece: ArrayPiece): Promise<string> {
    const { plan } = round;
    const script = packsScript({
      options: plan.options,
      parallel: plan.parallel,
      single: batch.single,
      ...piece,
      worker: `${inputs}/${workerFileOf(round)}`,
      inputs,
      outputs: there.outputs,
      taskFolder: there.taskFolder,
      python: cluster.python,
      cacheDir: there.cacheDir ?? there.taskFolder,
      units: packsOf(round, piece).reduce((sum, pack) => sum + pack.units.length, 0),
    });
    if ('problem' in script) throw new SubmissionRefused(script.problem, script.problem);
    if (piece.base === 0) for (const warning of script.warnings) say?.(warning);
    const attempt = plan.number === 0 ? '' : `-${plan.number}`;
    await results.keepText(`${packPrefix(batch, piece.base)}-slurm-submit${attempt}.sh`, script.text);
    return script.text;
  }

  /** Whether all of an array that may have been submitted has run, whatever its id was. */
  async function hasRun(round: Round, array: JobArray): Promise<boolean> {
    const packs = packsOf(round, array);
    await whileAway(() => journals.readAll(packs), asking);
    return packs.every(isComplete);
  }

  async function submitArray(round: Round, inputs: string, piece: ArrayPiece): Promise<void> {
    const known = arrays.of(round).find((array) => array.base === piece.base);
    if (known?.id !== undefined) return;
    const text = await scriptOf(round, inputs, piece);
    if (known && (await hasRun(round, known))) return;
    const array = known ?? arrays.add(piece);
    const submission = { mark: { token: array.token }, script: { text }, mayBeThere: known !== undefined };
    const id = await submitOnce(cluster, submission, {
      ...asking,
      pauses: { firstPauseMs: SUBMIT_AGAIN_MS },
      onSilence: (_, isFirst) => isFirst && say?.('Slurm does not answer; the submission is tried again'),
    });
    arrays.submitted(array, id);
    say?.(`Slurm job ${id}: ${piece.count === 1 ? '1 job' : `an array of ${piece.count} jobs`}`);
  }

  async function submitArrays(round: Round): Promise<void> {
    const pieces = [...piecesOf(round)];
    if (arrays.ids(arrays.of(round)).length < pieces.length) {
      const path = `${there.inputs}/round-${round.plan.number}`;
      await whileAway(() => cluster.share(round.folder, path), asking);
      for (const piece of pieces) await submitArray(round, cluster.sharedPath(round.folder, path), piece);
    }
    await following.onSubmitted?.(arrays.ids());
  }

  /** Nobody watches a round that is given up: the scheduler has to hear first that what it took is to end. */
  async function giveUp(round: Round, words: string): Promise<void> {
    await untilAnswered(() => cancel(cluster, idsOf([round])), asking);
    progress.giveUp(round, words, Date.now() / SECOND);
  }

  /** Submits a round, or finds it submitted. A refusal of the scheduler fails the units, not the service. */
  async function submit(round: Round): Promise<void> {
    try {
      if (round.refusal === undefined) return await submitArrays(round);
    } catch (error) {
      if (!(error instanceof SubmissionRefused)) throw error;
      progress.refuse(round, error.message);
    }
    await giveUp(round, round.refusal!);
  }

  async function goOn(): Promise<void> {
    const submitted = progress.rounds.filter((round) => arrays.of(round).length > 0);
    await whileAway(() => journals.readAll(submitted.flatMap((round) => round.packs)), asking);
    for (const round of progress.rounds) if (round.packs.some((pack) => !pack.settled)) await submit(round);
  }

  /** Stopped before everything was submitted: what the scheduler has is cancelled, the rest never begins. */
  async function endUnsubmitted(): Promise<void> {
    const again = { signal: leave, pauses: { firstPauseMs: cluster.pollMs, longestPauseMs: cluster.pollMs } };
    for (const array of arrays.all().filter(({ id }) => id === undefined)) {
      const [id] = await untilAnswered(async (): Promise<Asked<number[]>> => {
        const found = await cluster.queue.find({ token: array.token });
        return 'ids' in found ? { answer: found.ids } : { silence: found.problem };
      }, again);
      if (id !== undefined) arrays.submitted(array, id);
    }
    const never = progress.open().filter((pack) => arrays.idOf(pack) === undefined);
    const ends = never.map((pack) => ({ pack, kind: 'cancelled' as const, errors: '' }));
    await progress.settle(ends, Date.now() / SECOND);
  }

  /** Submits, unless the job is stopped meanwhile. */
  async function unlessStopped(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Interrupted) || leave.aborted) throw error;
      await endUnsubmitted();
    }
  }

  async function writeAndSubmit(plan: RoundPlan): Promise<void> {
    const [count, why] = [plan.units?.length ?? 0, plan.attempt > 0 ? ' with more memory or time' : ''];
    if (plan.units) say?.(`${count} ${plural(count, 'unit is', 'units are')} submitted again${why}`);
    await writeRound(batch, plan, units);
    await submit(progress.begin(plan));
  }

  return {
    start: () =>
      unlessStopped(async () => {
        await makeFolders();
        if (progress.rounds.length > 0) await goOn();
        else await writeAndSubmit({ ...there.plan, number: 0, attempt: 0, units: null });
      }),
    beginRound: (plan) => unlessStopped(() => writeAndSubmit(plan)),
    async cancelAll() {
      await cancel(cluster, idsOf(progress.rounds)).catch(unlessAway);
    },
  };
}
