/** Runs one task of a job: its phases, one after the other, and then what they said together. */
import type { JsonObject } from '@service/contract';

import { commandWords } from '../../engine/command.ts';
import { cleanText, LONGEST_QUOTED_LOG, unitErrorText } from '../../engine/failures.ts';
import { type ParallelItem, readInitOutput, type TaskOutput } from '../../engine/outputs.ts';
import { planCompute, planParallel, planSingle, unitStem } from '../../engine/units.ts';
import { bytesBetween, collect, openRegular } from '../../hosts/index.ts';
import type { SnapshotTask } from '../snapshot.ts';
import * as store from '../store/execution.ts';
import { concernsJob, type Execution, read, write } from './execution.ts';
import { runPhase, type Phase, type PhaseResult, STOPPED, type UnitFailure } from './phase.ts';
import { isCompound, isConverter, layoutOf, logPath, planTask, taskFolder } from './plan.ts';
import { settleRun } from './settle.ts';

/** Why a task failed: a sentence for notices, and a text for the log of the job. */
export interface TaskFailure extends store.RunFailure {
  text: string;
}

const SILENT: TaskOutput = { image_list_updates: [], image_list_removals: [] };
const COLLECTED = ['pypi', 'wheel-file', 'pixi'];

/** Packages that the service installed are started warm, unless somebody said no. */
function startsWarm({ runnerConfig }: Execution, task: SnapshotTask, meta: JsonObject | null): boolean {
  const allowed = runnerConfig['warm_start'] !== false && meta?.['warm_start'] !== false;
  return allowed && COLLECTED.includes(task.task_group.origin);
}

interface PhaseKind {
  isInit: boolean;
  parallel: boolean;
  /** How many units it has. */
  total: number;
}

/** What a phase of a task needs apart from its units. */
function phaseOf(execution: Execution, task: SnapshotTask, { isInit, parallel, total }: PhaseKind) {
  const { workflowtask } = task;
  const meta = parallel ? workflowtask.meta_parallel : workflowtask.meta_non_parallel;
  const layout = layoutOf(execution, task, { parallel, total });
  return {
    name: `${workflowtask.order}-${isInit ? 'init' : 'main'}`,
    isInit,
    deferred: isCompound(task),
    taskFolder: taskFolder(execution, task),
    layout,
    single: !parallel,
    warm: startsWarm(execution, task, meta),
    words: commandWords(parallel ? task.task.command_parallel : task.task.command_non_parallel),
  };
}

const batchSizeOf = ({ layout }: ReturnType<typeof phaseOf>) => ('problem' in layout ? null : layout.batchSize);

/** Existing servers write arguments for a cluster in lines. */
const indentOf = ({ job }: Execution) => (job.snapshot.cluster ? { indent: 2 } : {});

/** All units of a phase that never began. */
async function failAll(
  execution: Execution,
  runId: number,
  total: number,
  failure: Omit<UnitFailure, 'number' | 'end'>,
) {
  await write(execution, (trx) => store.failUnits(trx, runId, failure));
  const failed = new Map<number, UnitFailure>();
  for (let number = 0; number < total; number++) failed.set(number, { number, ...failure, end: undefined });
  return { failed, outputs: new Map(), initOutput: null, executorError: null } satisfies PhaseResult;
}

/** Many units that were to go to a scheduler have their record, also when none of them got there. */
async function recordNothing(
  execution: Execution,
  runId: number,
  { single, isInit }: { single: boolean; isInit: boolean },
) {
  const { job } = execution;
  if (!job.snapshot.cluster || single) return;
  await write(execution, (trx) => store.recordSchedulerJobs(trx, { job, runId, isInit, ids: [] }));
}

async function runUnits(
  execution: Execution,
  runId: number,
  { words, layout, ...phase }: ReturnType<typeof phaseOf>,
  rows: store.PlannedRow[],
  units: Phase['units'],
): Promise<PhaseResult> {
  const total = rows.length;
  if ('problem' in words || 'problem' in layout) {
    const message = 'problem' in words ? words.problem : (layout as { problem: string }).problem;
    await recordNothing(execution, runId, phase);
    return failAll(execution, runId, total, { cause: 'start', message });
  }
  const ended = new Set(rows.filter((row) => row.ended).map((row) => row.number));
  // what a cluster has of it already has to be asked for, and cancelled
  const { cluster } = execution.job.snapshot;
  if (execution.stop.signal.aborted && ended.size === 0 && !cluster) return failAll(execution, runId, total, STOPPED);
  const result = await runPhase(execution, { ...phase, layout, command: words.words, runId, total, units, ended });
  const stopped = [...result.failed.values()].some((failure) => failure.end === undefined);
  if (stopped) await write(execution, (trx) => store.failUnits(trx, runId, STOPPED));
  return result;
}

interface Ran {
  result: PhaseResult;
  total: number;
  num_tasks: number;
  silentUrls: string[];
}

async function runSingle(execution: Execution, runId: number, task: SnapshotTask): Promise<Ran> {
  const isInit = isCompound(task);
  const { type } = task.task;
  const rows = await read(execution, (db) => store.unitsOfPhase(db, runId, isInit));
  const zarr_urls = rows[0]!.zarr_urls;
  const phase = phaseOf(execution, task, { isInit, parallel: false, total: 1 });
  const { zarr_dir } = execution.job.snapshot;
  const args = task.workflowtask.args_non_parallel;
  const result = await runUnits(execution, runId, phase, rows, () => [
    planSingle({ type: type as Exclude<typeof type, 'parallel'>, zarr_dir, zarr_urls, args, ...indentOf(execution) }),
  ]);
  return { result, total: 1, num_tasks: 1, silentUrls: zarr_urls };
}

async function runParallel(execution: Execution, runId: number, task: SnapshotTask): Promise<Ran> {
  const rows = await read(execution, (db) => store.unitsOfPhase(db, runId, false));
  const phase = phaseOf(execution, task, { isInit: false, parallel: true, total: rows.length });
  const zarr_urls = rows.map((row) => row.zarr_urls[0]!);
  const batchSize = batchSizeOf(phase);
  const result = await runUnits(execution, runId, phase, rows, () => {
    const planned = planParallel({
      zarr_urls,
      args: task.workflowtask.args_parallel,
      batchSize,
      ...indentOf(execution),
    });
    if ('problem' in planned) throw new Error(planned.problem);
    return planned.units;
  });
  const total = rows.length;
  return {
    result,
    total,
    num_tasks: total,
    silentUrls: zarr_urls.filter((_, number) => !result.failed.has(number)),
  };
}

async function runCompute(
  execution: Execution,
  runId: number,
  task: SnapshotTask,
  init: Ran,
  items: ParallelItem[],
): Promise<Ran> {
  const total = items.length;
  const phase = phaseOf(execution, task, { isInit: false, parallel: true, total });
  const batchSize = batchSizeOf(phase);
  const stemOf = (number: number) => unitStem({ number, batchSize, total });
  let rows = await read(execution, (db) => store.unitsOfPhase(db, runId, false));
  if (rows.length === 0) {
    const units = items.map(({ zarr_url }, number) => {
      return { number, is_init: false, logfile: logPath(phase.taskFolder, stemOf(number)), zarr_urls: [zarr_url] };
    });
    rows = units.map(({ number, zarr_urls }) => ({ number, zarr_urls, ended: false }));
    await write(execution, async (trx) => {
      if (!(await store.hasUnits(trx, runId, false))) await store.insertUnits(trx, runId, units, null);
    });
  }
  const args = task.workflowtask.args_parallel;
  const result = await runUnits(execution, runId, phase, rows, () =>
    planCompute({ items, args, batchSize, ...indentOf(execution) }),
  );
  const silentUrls = result.failed.size === 0 ? init.silentUrls : [];
  return { result, total, num_tasks: 1 + total, silentUrls };
}

/** The phases of a task; of a compound one both, when the first one gave something to do. */
async function runPhases(execution: Execution, runId: number, task: SnapshotTask): Promise<Ran> {
  if (task.task.type === 'parallel') return runParallel(execution, runId, task);
  const single = await runSingle(execution, runId, task);
  if (!isCompound(task) || single.result.failed.size > 0) return single;
  const { executorError } = single.result;
  const read = readInitOutput(single.result.initOutput);
  if ('problem' in read) throw new Error(read.problem);
  if (read.items.length === 0) return single;
  const computed = await runCompute(execution, runId, task, single, read.items);
  computed.result.executorError ??= executorError;
  return computed;
}

/** The start of a log, as long as it is quoted; null when there is none. */
async function quotedLog(path: string): Promise<{ log: string | null; log_length: number }> {
  try {
    const file = await openRegular(path);
    if (!file) return { log: null, log_length: 0 };
    try {
      // a character has at most four bytes
      if (file.size > 4 * LONGEST_QUOTED_LOG) return { log: null, log_length: file.size };
      const log = cleanText((await collect(bytesBetween(file.handle, 0, file.size))).toString('utf8'));
      return { log, log_length: log.length };
    } finally {
      await file.handle.close();
    }
  } catch {
    return { log: null, log_length: 0 };
  }
}

/** The first of the units that failed, which stands for the task. */
function firstFailure({ result }: Ran): UnitFailure | undefined {
  let first: UnitFailure | undefined;
  for (const failure of result.failed.values()) if (!first || failure.number < first.number) first = failure;
  return first;
}

function failureOf({ stop }: Execution, { task }: SnapshotTask, ran: Ran): store.RunFailure | null {
  const first = firstFailure(ran);
  if (!first) return null;
  const num_images = ran.result.failed.size;
  const stopped = stop.signal.aborted && [...ran.result.failed.values()].some(({ cause }) => cause === 'stopped');
  if (stopped) return { kind: 'stopped', message: `The job was stopped during ${task.name}.`, num_images };
  const more = num_images > 1 ? ` (and ${num_images - 1} more)` : '';
  const kind = first.cause === 'output' ? 'output' : 'task';
  return { kind, message: `${task.name}: ${first.message}${more}`, num_images };
}

const ENDED_BY_ITSELF = ['error', 'signal', 'memory'];

/** Undefined for a run that is done. What it says is read back, so that it is the same after an interruption. */
async function readFailure(execution: Execution, runId: number, task: SnapshotTask): Promise<TaskFailure | undefined> {
  const { failure, unit } = await read(execution, (db) => store.failureOfRun(db, runId));
  if (!failure) return undefined;
  if (!unit || (failure.kind === 'output' && unit.cause === 'output')) return { ...failure, text: failure.message };
  const single = unit.is_init || task.task.command_parallel === null;
  const text = unitErrorText({
    exit_code: unit.exit_code,
    signal: unit.signal,
    ...(await quotedLog(unit.logfile)),
    command: (single ? task.task.command_non_parallel : task.task.command_parallel) ?? '',
    logfile: unit.logfile,
    problem: ENDED_BY_ITSELF.includes(unit.cause) ? null : unit.message,
  });
  return { ...failure, text: failure.kind === 'stopped' ? `${failure.message}\n${text}` : text };
}

/** Outputs in the order of the units; the silent ones are told by one that says nothing. */
function outputsOf({ result, total }: Ran): TaskOutput[] {
  const outputs = [...result.outputs.entries()].sort(([one], [other]) => one - other).map(([, output]) => output);
  const silent = total - result.failed.size > outputs.length;
  return silent ? [...outputs, SILENT] : outputs;
}

/** A defect while the units ran: what has no outcome of its own has failed. */
async function failUnexpectedly(execution: Execution, runId: number, message: string): Promise<void> {
  const { job } = execution;
  await write(execution, async (trx) => {
    if (!(await store.isOpen(trx, runId))) return;
    await store.failUnits(trx, runId, { cause: 'start', message }, true);
    await store.endRun(trx, runId, { kind: 'internal', message, num_images: 0 });
    await store.insertAccounting(trx, { user_id: job.user_id, num_tasks: 0, num_new_images: 0 });
  });
}

/** Undefined when the task is done. `position` counts the tasks of this job from 0. */
export async function runTask(
  execution: Execution,
  task: SnapshotTask,
  position: number,
): Promise<TaskFailure | undefined> {
  const { runId, over } = await planTask(execution, task, position);
  if (!over) {
    try {
      const ran = await runPhases(execution, runId, task);
      const changesTypes = Object.keys(task.task.output_types).length > 0;
      await settleRun(execution, {
        runId,
        task,
        outputs: outputsOf(ran),
        silentUrls: changesTypes && !isConverter(task) ? ran.silentUrls : [],
        failure: failureOf(execution, task, ran),
        together: isCompound(task),
        num_tasks: ran.num_tasks,
        executorError: ran.result.executorError,
      });
    } catch (error) {
      if (concernsJob(error)) await failUnexpectedly(execution, runId, cleanText((error as Error).message));
      throw error;
    }
  }
  return readFailure(execution, runId, task);
}
