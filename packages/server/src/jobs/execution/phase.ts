/** Runs the units of one phase of a task, and judges each by what it left. */
import { basename, join } from 'node:path';

import type { Cause, HistoryStatus } from '@service/contract';

import { unitFailure } from '../../engine/failures.ts';
import { type ParallelItem, readInitOutput, readTaskOutput, type TaskOutput } from '../../engine/outputs.ts';
import { tooManyUnits } from '../../engine/units.ts';
import type { Batch, JournalRecord, UnitEnd } from '../../runners/index.ts';
import { JobIsOver, recordImports, recordSchedulerJobs } from '../store/execution.ts';
import { failUnits, recordUnits, type UnitUpdate } from '../store/units.ts';
import { HandedOver, type JobContext, write } from './context.ts';
import { type Phase, surroundingsOf } from './phase-plan.ts';
import { createUpdateBuffer } from './unit-updates.ts';

interface UnitFailure {
  number: number;
  cause: Cause;
  message: string;
  end: UnitEnd | undefined;
}

export interface PhaseResult {
  failed: Map<number, UnitFailure>;
  /** Of units that said something, by number. */
  outputs: Map<number, TaskOutput>;
  /** Why none of them is kept, if they are too much together. */
  tooMuchOutput: string | null;
  /** What an init phase gave to do. */
  items: ParallelItem[];
  executorError: string | null;
}

interface Judgement {
  /** Undefined for a unit that did its work. */
  failure: UnitFailure | undefined;
  output: UnitOutput | undefined;
}

/** What a unit said: an init unit what there is to do, the others what became of images. */
type UnitOutput = TaskOutput | { items: ParallelItem[] };

function readOutput(end: UnitEnd, isInit: boolean, { limits }: JobContext): { output?: UnitOutput; problem?: string } {
  if (end.output_too_large) {
    return {
      problem: `It has ${end.output_bytes} bytes, and at most ${limits.output} are read. Write less, or have SERVICE_MAX_OUTPUT_SIZE raised.`,
    };
  }
  if (end.output_not_text) return { problem: 'It is not UTF-8 text.' };
  if (!isInit) return readTaskOutput(end.output);
  const read = readInitOutput(end.output);
  if ('problem' in read) return read;
  const problem = tooManyUnits(read.items.length, limits.units);
  return problem === undefined ? { output: read } : { problem };
}

function judge(end: UnitEnd, isInit: boolean, context: JobContext): Judgement {
  const ran = end.exit_code === 0 && end.problem === null && !end.stopped && !end.lost;
  const read = ran ? readOutput(end, isInit, context) : {};
  if (ran && read.problem === undefined) return { failure: undefined, output: read.output };
  const told = unitFailure({ ...end, output_problem: read.problem ?? null });
  // it is kept until the task is over, and what it wrote may be large
  return { failure: { number: end.end, ...told, end: { ...end, output: null, tail: '' } }, output: undefined };
}

const updateAtEnd = (end: UnitEnd, failure: UnitFailure | undefined): UnitUpdate => ({
  number: end.end,
  ended: end.time,
  exit_code: end.exit_code,
  signal: end.signal,
  cause: failure?.cause,
  message: failure?.message,
  num_warnings: end.num_warnings,
  cpu_seconds: end.cpu_seconds,
  peak_memory_bytes: end.peak_memory_bytes,
  node: end.node,
  scheduler_job_id: end.scheduler_job_id,
  memory_limit_bytes: end.memory_limit_bytes,
});

const isSilent = ({ image_list_updates, image_list_removals }: TaskOutput) =>
  image_list_updates.length === 0 && image_list_removals.length === 0;

/** The folders of a phase as the nodes of a cluster see them. What is the service's own is apart from what users know. */
function clusterPlace({ job }: JobContext, { layout, name, taskFolder }: Phase): Pick<Batch, 'cluster'> {
  if (!layout.plan) return {};
  const own = join(job.working_dir_user, '.service', name);
  return {
    cluster: {
      plan: layout.plan,
      taskFolder: join(job.working_dir_user, basename(taskFolder)),
      inputs: join(own, 'in'),
      outputs: join(own, 'out'),
      cacheDir: job.snapshot.cache_dir,
    },
  };
}

const STOPPED = { cause: 'stopped' as const, message: 'The job was stopped before this began.' };

const emptyResult = (): PhaseResult => ({
  failed: new Map(),
  outputs: new Map(),
  tooMuchOutput: null,
  items: [],
  executorError: null,
});

/** What units say stays in memory until the task is over. It all counts, in whatever order and however often it is read. */
function outputKeeper(result: PhaseResult, most: number) {
  let bytes = 0;
  return ({ end, output: text }: UnitEnd, output: TaskOutput): void => {
    bytes += Buffer.byteLength(text ?? '');
    if (bytes <= most) return void result.outputs.set(end, output);
    result.outputs.clear();
    result.tooMuchOutput = `The output files of its units have ${bytes} bytes together, and at most ${most} are read. Write less, or have SERVICE_MAX_TASK_OUTPUT_SIZE raised.`;
  };
}

/** All units of a phase that never began. */
async function failAll(context: JobContext, phase: Phase, failure: Omit<UnitFailure, 'number' | 'end'>) {
  const { job } = context;
  const { runId, isInit, total } = phase;
  await write(context, async (trx) => {
    // many units that were to go to a scheduler have their record, also when none of them got there
    if (phase.problem !== undefined && job.snapshot.cluster && !phase.single)
      await recordSchedulerJobs(trx, { job, runId, isInit, ids: [] });
    await failUnits(trx, runId, failure);
  });
  const result = emptyResult();
  for (let number = 0; number < total; number++) result.failed.set(number, { number, ...failure, end: undefined });
  return result;
}

/** Hands the units to the runner, and takes in what it tells of them. */
async function runUnits(context: JobContext, phase: Phase): Promise<PhaseResult> {
  const { job, runner, stop, log } = context;
  const { runId, isInit, deferred, ended } = phase;
  const result = emptyResult();
  const keepOutput = outputKeeper(result, context.limits.taskOutput);
  const done = new Set<number>();
  const trouble = new AbortController();
  // a job that was ended by hand still has its processes ended
  const onTrouble = (error: unknown) => (error instanceof JobIsOver ? stop.abort() : trouble.abort());
  const updates = createUpdateBuffer<UnitUpdate>(
    (rows) => write(context, (trx) => recordUnits(trx, job.id, runId, isInit, rows)),
    onTrouble,
  );
  let imports: Promise<void> | undefined;

  /** Undefined where the status follows later. */
  function statusOf(failure: UnitFailure | undefined): HistoryStatus | undefined {
    if (isInit) return failure && 'failed';
    if (deferred) return undefined;
    return failure ? 'failed' : 'done';
  }

  function takeEnd(end: UnitEnd): void {
    const { failure, output } = judge(end, isInit, context);
    done.add(end.end);
    if (failure) result.failed.set(end.end, failure);
    else if (output && 'items' in output) result.items = output.items;
    else if (output && !isSilent(output)) keepOutput(end, output);
    if (!ended.has(end.end)) updates.add(end.end, { ...updateAtEnd(end, failure), status: statusOf(failure) });
  }

  function onRecords(records: JournalRecord[]): void {
    for (const record of records) {
      if ('end' in record) takeEnd(record);
      else if ('start' in record && !ended.has(record.start)) {
        const { start: number, time: started, node, scheduler_job_id } = record;
        updates.add(number, { number, started, node, scheduler_job_id });
      } else if ('importing' in record)
        imports ??= write(context, (trx) => recordImports(trx, runId, record.time)).catch(onTrouble);
    }
  }

  let outcome: 'finished' | 'left';
  try {
    outcome = await runner.run(
      {
        folder: join(job.service_folder, phase.name),
        command: phase.command,
        taskFolder: phase.taskFolder,
        ...surroundingsOf(context),
        warm: phase.warm,
        largestOutput: context.limits.output,
        total: phase.total,
        units: phase.units,
        single: phase.single,
        width: phase.layout.width,
        ...clusterPlace(context, phase),
      },
      {
        onRecords,
        stop: stop.signal,
        leave: AbortSignal.any([context.leave, trouble.signal]),
        onSubmitted: (ids) => write(context, (trx) => recordSchedulerJobs(trx, { job, runId, isInit, ids })),
        onExecutorError: (text) => (result.executorError = text),
        say: (line) => log.line('INFO', line),
      },
    );
  } finally {
    await imports;
    await updates.close();
  }
  if (outcome === 'left') throw new HandedOver(job.id);
  for (let number = 0; number < phase.total; number++) {
    if (!done.has(number)) result.failed.set(number, { number, ...STOPPED, end: undefined });
  }
  return result;
}

export async function runPhase(context: JobContext, phase: Phase): Promise<PhaseResult> {
  const { problem, ended, runId } = phase;
  if (problem !== undefined) return failAll(context, phase, { cause: 'start', message: problem });
  // what a cluster has of it already has to be asked for, and cancelled
  const { cluster } = context.job.snapshot;
  if (context.stop.signal.aborted && ended.size === 0 && !cluster) return failAll(context, phase, STOPPED);
  const result = await runUnits(context, phase);
  const stopped = [...result.failed.values()].some((failure) => failure.end === undefined);
  if (stopped) await write(context, (trx) => failUnits(trx, runId, STOPPED));
  return result;
}
