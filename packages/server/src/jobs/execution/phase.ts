/** Runs the units of one phase of a task, and judges each by what it left. */
import { basename, join } from 'node:path';

import type { Cause, HistoryStatus } from '@service/contract';

import { unitFailure } from '../../engine/failures.ts';
import { readInitOutput, readTaskOutput, type TaskOutput } from '../../engine/outputs.ts';
import { type PlannedUnit, tooManyUnits } from '../../engine/units.ts';
import type { Batch, JournalRecord, UnitEnd } from '../../runners/index.ts';
import { JobIsOver, recordSchedulerJobs, recordUnits, type UnitNews } from '../store/execution.ts';
import { type Execution, Left, write } from './execution.ts';
import { collector } from './news.ts';
import type { Layout } from './plan.ts';

export interface Phase {
  runId: number;
  /** Names the phase among those of the job. */
  name: string;
  isInit: boolean;
  /** The status of its units follows at the end of the task. */
  deferred: boolean;
  command: string[];
  taskFolder: string;
  layout: Layout;
  /** One process, not one of many. */
  single: boolean;
  warm: boolean;
  total: number;
  units: () => Iterable<PlannedUnit>;
  /** Units whose end is stored already. */
  ended: Set<number>;
}

export interface UnitFailure {
  number: number;
  cause: Cause;
  message: string;
  end: UnitEnd | undefined;
}

export interface PhaseResult {
  failed: Map<number, UnitFailure>;
  /** Of units that said something, by number. */
  outputs: Map<number, TaskOutput>;
  /** What an init phase said. */
  initOutput: string | null;
  executorError: string | null;
}

interface Judgement {
  /** Undefined for a unit that did its work. */
  failure: UnitFailure | undefined;
  output: TaskOutput | undefined;
}

function readOutput(end: UnitEnd, isInit: boolean, { limits }: Execution): { output?: TaskOutput; problem?: string } {
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
  return problem === undefined ? {} : { problem };
}

function judge(end: UnitEnd, isInit: boolean, execution: Execution): Judgement {
  const ran = end.exit_code === 0 && end.problem === null && !end.stopped && !end.lost;
  const read = ran ? readOutput(end, isInit, execution) : {};
  if (ran && read.problem === undefined) return { failure: undefined, output: read.output };
  const told = unitFailure({ ...end, output_problem: read.problem ?? null });
  // it is kept until the task is over, and what it wrote may be large
  return { failure: { number: end.end, ...told, end: { ...end, output: null, tail: '' } }, output: undefined };
}

const endedNews = (end: UnitEnd, failure: UnitFailure | undefined): UnitNews => ({
  number: end.end,
  ended: end.time,
  exit_code: end.exit_code,
  signal: end.signal,
  cause: failure?.cause,
  message: failure?.message,
  warnings: end.warnings,
  cpu: end.cpu,
  memory: end.memory,
  node: end.node,
  scheduler_job: end.scheduler_job,
  memory_limit: end.memory_limit,
});

const isSilent = ({ image_list_updates, image_list_removals }: TaskOutput) =>
  image_list_updates.length === 0 && image_list_removals.length === 0;

/** The folders of a phase as the nodes of a cluster see them. What is the service's own is apart from what users know. */
function clusterPlace({ job }: Execution, { layout, name, taskFolder }: Phase): Pick<Batch, 'cluster'> {
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

export async function runPhase(execution: Execution, phase: Phase): Promise<PhaseResult> {
  const { job, runner, stop, log } = execution;
  const { runId, isInit, deferred, ended } = phase;
  const result: PhaseResult = { failed: new Map(), outputs: new Map(), initOutput: null, executorError: null };
  const done = new Set<number>();
  const trouble = new AbortController();
  const news = collector<UnitNews>(
    (rows) => write(execution, (trx) => recordUnits(trx, job.id, runId, isInit, rows)),
    // a job that was ended by hand still has its processes ended
    (error) => (error instanceof JobIsOver ? stop.abort() : trouble.abort()),
  );

  /** Undefined where the status follows later. */
  function statusOf(failure: UnitFailure | undefined): HistoryStatus | undefined {
    if (isInit) return failure && 'failed';
    if (deferred) return undefined;
    return failure ? 'failed' : 'done';
  }

  function takeEnd(end: UnitEnd): void {
    const { failure, output } = judge(end, isInit, execution);
    done.add(end.end);
    if (failure) result.failed.set(end.end, failure);
    else if (isInit) result.initOutput = end.output;
    else if (output && !isSilent(output)) result.outputs.set(end.end, output);
    if (!ended.has(end.end)) news.add(end.end, { ...endedNews(end, failure), status: statusOf(failure) });
  }

  function onRecords(records: JournalRecord[]): void {
    for (const record of records) {
      if ('end' in record) takeEnd(record);
      else if ('start' in record && !ended.has(record.start)) {
        const { start: number, time: started, node, scheduler_job } = record;
        news.add(number, { number, started, node, scheduler_job });
      }
    }
  }

  let outcome: 'finished' | 'left';
  try {
    outcome = await runner.run(
      {
        folder: join(job.service_folder, phase.name),
        command: phase.command,
        taskFolder: phase.taskFolder,
        workingFolder: process.cwd(),
        environment: job.snapshot.cache_dir === null ? {} : { FRACTAL_CACHE_DIR: job.snapshot.cache_dir },
        warm: phase.warm,
        largestOutput: execution.limits.output,
        total: phase.total,
        units: phase.units,
        single: phase.single,
        width: phase.layout.width,
        ...clusterPlace(execution, phase),
      },
      {
        onRecords,
        stop: stop.signal,
        leave: AbortSignal.any([execution.leave, trouble.signal]),
        onSubmitted: (ids) => write(execution, (trx) => recordSchedulerJobs(trx, { job, runId, isInit, ids })),
        onExecutorError: (text) => (result.executorError = text),
        say: (line) => log.line('INFO', line),
      },
    );
  } finally {
    await news.close();
  }
  if (outcome === 'left') throw new Left();
  for (let number = 0; number < phase.total; number++) {
    if (!done.has(number)) result.failed.set(number, { number, ...STOPPED, end: undefined });
  }
  return result;
}

export const STOPPED = { cause: 'stopped' as const, message: 'The job was stopped before this began.' };
