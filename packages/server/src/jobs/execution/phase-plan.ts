/** Plans a phase of a task: the command, the folder and the units that are handed to a runner. */
import type { JsonObject } from '@service/contract';

import { commandWords } from '../../engine/command.ts';
import type { ParallelItem } from '../../engine/outputs.ts';
import {
  isCompoundType,
  planCompute,
  type PlannedUnit,
  planParallel,
  planSingle,
  unitOfMany,
} from '../../engine/units.ts';
import type { Surroundings } from '../../runners/index.ts';
import type { SnapshotTask } from '../snapshot.ts';
import { insertUnitsOnce, unitsOfPhase } from '../store/units.ts';
import { type JobContext, read, write } from './context.ts';
import type { Layout } from './layout.ts';
import { newUnit, type PlannedRun, taskFolder } from './plan.ts';

/** Of a compound task the first is `init`, and the second computes what the first gave back. */
export type PhaseKind = 'single' | 'parallel' | 'init' | 'compute';

export interface Phase {
  runId: number;
  /** Names the phase among those of the job. */
  name: string;
  isInit: boolean;
  /** The status of its units follows at the end of the task. */
  deferred: boolean;
  /** Why it cannot begin, if it cannot. */
  problem: string | undefined;
  command: string[];
  taskFolder: string;
  layout: Layout;
  /** One process, not one of many. */
  single: boolean;
  warm: boolean;
  total: number;
  units: () => Iterable<PlannedUnit>;
  /** Of all its units. */
  zarr_urls: string[];
  /** Units whose end is stored already. */
  ended: Set<number>;
}

const COLLECTED = ['pypi', 'wheel-file', 'pixi'];
const NO_LAYOUT: Layout = { unitsPerPack: null, width: null };

/** Packages that the service installed are started warm, unless somebody said no. */
function startsWarm({ runnerConfig }: JobContext, task: SnapshotTask, meta: JsonObject | null): boolean {
  const allowed = runnerConfig['warm_start'] !== false && meta?.['warm_start'] !== false;
  return allowed && COLLECTED.includes(task.task_group.origin);
}

/** How the tasks of a job are started on this machine: what they see of it. */
export const surroundingsOf = ({ job: { snapshot }, account }: JobContext): Surroundings => ({
  environment: snapshot.cache_dir === null ? {} : { FRACTAL_CACHE_DIR: snapshot.cache_dir },
  // where the service was started may be closed to another account
  workingFolder: account ? '/' : process.cwd(),
});

/** The commands of these tasks that start warm, in the order in which they come. */
export function warmCommands(context: JobContext, tasks: SnapshotTask[]): string[][] {
  const found = tasks.flatMap((one) => {
    const { task, workflowtask } = one;
    const single = startsWarm(context, one, workflowtask.meta_non_parallel) ? [task.command_non_parallel] : [];
    const many = startsWarm(context, one, workflowtask.meta_parallel) ? [task.command_parallel] : [];
    return [...single, ...many].filter((command) => command !== null);
  });
  return found.map(commandWords).flatMap((read) => ('words' in read ? [read.words] : []));
}

interface Planning {
  kind: PhaseKind;
  /** What a phase before this one gave to do. */
  items: ParallelItem[];
}

/** The arguments of each unit, written when the runner asks for them: there may be a million. */
function unitsFor(
  { job: { snapshot } }: JobContext,
  { task, workflowtask }: SnapshotTask,
  { kind, items }: Planning,
  { unitsPerPack, zarr_urls }: { unitsPerPack: number | null; zarr_urls: string[] },
): Iterable<PlannedUnit> {
  // existing servers write arguments for a cluster in lines
  const indent = snapshot.cluster ? { indent: 2 } : {};
  const args = workflowtask.args_parallel;
  if (kind === 'compute') return planCompute({ items, args, unitsPerPack, ...indent });
  if (kind === 'parallel') {
    const planned = planParallel({ zarr_urls, args, unitsPerPack, ...indent });
    if ('problem' in planned) throw new Error(planned.problem);
    return planned.units;
  }
  const type = task.type as Exclude<typeof task.type, 'parallel'>;
  const { zarr_dir } = snapshot;
  return [planSingle({ type, zarr_dir, zarr_urls, args: workflowtask.args_non_parallel, ...indent })];
}

export async function planPhase(
  context: JobContext,
  task: SnapshotTask,
  { runId, layouts }: Pick<PlannedRun, 'runId' | 'layouts'>,
  planning: Planning,
): Promise<Phase> {
  const { kind, items } = planning;
  const { workflowtask } = task;
  const isInit = kind === 'init';
  const single = isInit || kind === 'single';
  const folder = taskFolder(context, task);
  const warm = startsWarm(context, task, single ? workflowtask.meta_non_parallel : workflowtask.meta_parallel);
  let rows = await read(context, (db) => unitsOfPhase(db, runId, isInit));
  const total = kind === 'compute' ? items.length : rows.length;
  const layout = single ? layouts.single() : layouts.many(total);
  const unitsPerPack = 'problem' in layout ? null : layout.unitsPerPack;
  if (kind === 'compute' && rows.length === 0) {
    // they are known only now; a run that is taken up again has them
    const units = items.map(({ zarr_url }, number) =>
      newUnit(folder, unitOfMany(zarr_url, { number, unitsPerPack, total })),
    );
    await write(context, (trx) => insertUnitsOnce(trx, runId, units));
    rows = units.map(({ number, zarr_urls }) => ({ number, zarr_urls, ended: false }));
  }
  const words = commandWords(single ? task.task.command_non_parallel : task.task.command_parallel);
  const zarr_urls = rows.flatMap((row) => row.zarr_urls);
  return {
    runId,
    name: `${workflowtask.order}-${isInit ? 'init' : 'main'}`,
    isInit,
    deferred: isCompoundType(task.task.type),
    problem: 'problem' in words ? words.problem : 'problem' in layout ? layout.problem : undefined,
    command: 'problem' in words ? [] : words.words,
    taskFolder: folder,
    layout: 'problem' in layout ? NO_LAYOUT : layout,
    single,
    warm,
    total,
    units: () => unitsFor(context, task, planning, { unitsPerPack, zarr_urls }),
    zarr_urls,
    ended: new Set(rows.filter((row) => row.ended).map((row) => row.number)),
  };
}
