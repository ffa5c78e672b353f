/**
 * Hands the packs of a round to the scheduler, as few job arrays, each exactly once.
 *
 * Before `sbatch` runs, a token is written down; the scheduler keeps it as the comment of the job. When the answer of
 * `sbatch` is lost (the service was killed, the controller did not answer in time), the token tells whether the job is
 * there. Should a job come to run twice all the same, the workers of the second one find the packs taken and end.
 */
import { randomBytes } from 'node:crypto';

import { submissionScript } from '../../engine/slurm/script.ts';
import { isPassing, readJobId, refusalWords } from '../../engine/slurm/states.ts';
import { capture } from '../../hosts/index.ts';
import type { Batch } from '../batch.ts';
import { RunnerProblem } from '../runner.ts';
import type { Cluster } from './cluster.ts';
import type { Deliverer } from './deliver.ts';
import type { Memory } from './memory.ts';
import { Interrupted, isAway, pause, patiently } from './patience.ts';
import { packPrefix, type Round } from './rounds.ts';

/** Clusters take 1001 elements unless they are told otherwise; with a round number, names tell the number of a pack. */
const LARGEST_ARRAY = 1000;
const LONGEST_SBATCH_MS = 120_000;
const RETRY_MS = 3000;
const LONGEST_RETRY_MS = 30_000;

/** Scheduler jobs that were, or are about to be, submitted with one `sbatch`. */
export interface JobArray {
  round: number;
  base: number;
  count: number;
  token: string;
  id: number | undefined;
  /** The queue has shown it. */
  seen: boolean;
}

export interface SubmissionParts {
  cluster: Cluster;
  batch: Batch;
  memory: Memory;
  deliverer: Deliverer;
  signal: AbortSignal;
  say?: ((line: string) => void) | undefined;
}

/** The scheduler does not take the job; the message is for the person. */
export class Refused extends RunnerProblem {}

export function arraysOf(memory: Memory, round: Round): JobArray[] {
  const ids = new Map(
    memory.entries.flatMap((one) => ('submitted' in one ? [[one.submitted.token, one.submitted.id]] : [])),
  );
  const seen = new Set(memory.entries.flatMap((one) => ('seen' in one ? [one.seen] : [])));
  return memory.entries.flatMap((one) => {
    if (!('intent' in one) || one.intent.round !== round.plan.number) return [];
    return [{ ...one.intent, id: ids.get(one.intent.token), seen: seen.has(one.intent.token) }];
  });
}

function* pieces(round: Round): Generator<{ base: number; count: number }> {
  for (let base = 0; base < round.packs.length; base += LARGEST_ARRAY) {
    yield { base, count: Math.min(LARGEST_ARRAY, round.packs.length - base) };
  }
}

async function scriptOf(
  { cluster, batch, deliverer, say }: SubmissionParts,
  round: Round,
  inputs: string,
  array: JobArray,
) {
  const { cluster: there } = batch;
  const script = submissionScript({
    options: round.plan.options,
    parallel: round.plan.parallel,
    single: batch.single,
    base: array.base,
    count: array.count,
    round: round.plan.number,
    inputs,
    outputs: there!.outputs,
    taskFolder: there!.taskFolder,
    python: cluster.python,
    cacheDir: there!.cacheDir ?? there!.taskFolder,
    units: round.packs.slice(array.base, array.base + array.count).reduce((sum, pack) => sum + pack.units.length, 0),
  });
  if ('problem' in script) throw new Refused(script.problem);
  if (array.base === 0) for (const warning of script.warnings) say?.(warning);
  const attempt = round.plan.number === 0 ? '' : `-${round.plan.number}`;
  await deliverer.text(`${packPrefix(batch, array.base)}-slurm-submit${attempt}.sh`, script.text);
  return script.text;
}

function idIn(stdout: Buffer): number {
  const printed = stdout.toString('utf8');
  const id = readJobId(printed);
  if (id === undefined) throw new Refused(`Slurm took the job but gave no id for it: ${printed.trim()}`);
  return id;
}

/** Undefined when nobody knows whether it worked. */
async function sbatch({ cluster }: SubmissionParts, script: string, token: string): Promise<number | undefined> {
  try {
    const command = ['sbatch', '--parsable', `--comment=${token}`] as const;
    const options = { input: script, timeoutMs: LONGEST_SBATCH_MS };
    const { code, stdout, stderr } = await capture(cluster.commands, command, options);
    if (code === 0) return idIn(stdout);
    if (isPassing(stderr)) return undefined;
    throw new Refused(refusalWords(stderr));
  } catch (error) {
    if (isAway(error)) return undefined;
    throw error;
  }
}

/** Submits until the scheduler has it. `tried`: an earlier attempt may have worked. */
async function submitArray(parts: SubmissionParts, script: string, token: string, tried: boolean): Promise<number> {
  const { cluster, signal, say } = parts;
  for (let [wait, told] = [RETRY_MS, false]; ; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
    if (signal.aborted) throw new Interrupted();
    const known = tried ? await cluster.queue.find(token) : [];
    if (known?.[0] !== undefined) return known[0];
    if (known) {
      const id = await sbatch(parts, script, token);
      if (id !== undefined) return id;
      tried = true;
    }
    if (!told) say?.('Slurm does not answer; the submission is tried again');
    told = true;
    await pause(wait, signal);
  }
}

/** `isDone` tells of one that may have been submitted whether all of it has run, whatever its id was. */
export async function submitRound(
  parts: SubmissionParts,
  round: Round,
  isDone: (array: JobArray) => Promise<boolean>,
): Promise<JobArray[]> {
  const { memory, cluster, batch, signal, say } = parts;
  const before = arraysOf(memory, round);
  const cut = [...pieces(round)];
  if (before.filter((array) => array.id !== undefined).length === cut.length) return before;
  const there = `${batch.cluster!.inputs}/round-${round.plan.number}`;
  await patiently(() => cluster.bring(round.folder, there), { signal, say });
  const inputs = cluster.placeOf(round.folder, there);
  const arrays: JobArray[] = [];
  for (const { base, count } of cut) {
    const known = before.find((array) => array.base === base);
    const array: JobArray = known ?? {
      round: round.plan.number,
      base,
      count,
      token: `service-${randomBytes(12).toString('hex')}`,
      id: undefined,
      seen: false,
    };
    arrays.push(array);
    if (array.id !== undefined) continue;
    const script = await scriptOf(parts, round, inputs, array);
    if (!known) memory.add({ intent: { round: array.round, base, count, token: array.token } });
    if (known && (await isDone(array))) continue;
    array.id = await submitArray(parts, script, array.token, known !== undefined);
    memory.add({ submitted: { token: array.token, id: array.id } });
    say?.(`Slurm job ${array.id}: ${count === 1 ? '1 job' : `an array of ${count} jobs`}`);
  }
  return arrays;
}
