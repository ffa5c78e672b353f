/**
 * How the units of a task are spread: over processes of this machine, or over the jobs of a scheduler. Worked out once for a
 * task, and carried to its phases.
 */
import type { JsonObject } from '@service/contract';

import { batchesOf } from '../../engine/slurm/batching.ts';
import { slurmOptions } from '../../engine/slurm/config.ts';
import { isCompoundType, parallelWidth } from '../../engine/units.ts';
import type { ClusterBatch } from '../../runners/index.ts';
import type { ClusterAccess, SnapshotTask } from '../snapshot.ts';
import type { JobContext } from './context.ts';

type Problem = { problem: string };

export interface Layout {
  /** How many units in a row have file names that begin alike. */
  unitsPerPack: number | null;
  /** On this machine: how many at a time, where that is limited. */
  width: number | null;
  /** On a cluster: what is asked of its scheduler. */
  plan?: ClusterBatch['plan'];
}

export interface TaskLayouts {
  /** Of the phase that is one process. */
  single(): Layout | Problem;
  /** Of the phase that is many: of a compound task their number is known late. */
  many(total: number): Layout | Problem;
}

function localLayouts({ runnerConfig }: JobContext, { workflowtask }: SnapshotTask): TaskLayouts {
  const own = workflowtask.meta_parallel?.['parallel_tasks_per_job'];
  const read = parallelWidth(own === undefined ? runnerConfig['parallel_tasks_per_job'] : own);
  const many = 'problem' in read ? read : { unitsPerPack: read.width, width: read.width };
  return { single: () => ({ unitsPerPack: null, width: null }), many: () => many };
}

/** Remembers what it gave, until it is asked for something else. */
function once<T>(work: (total: number) => T): (total?: number) => T {
  let known: { total: number; result: T } | undefined;
  return (total = 1) => {
    if (known?.total !== total) known = { total, result: work(total) };
    return known.result;
  };
}

function clusterLayouts({ job }: JobContext, { config }: ClusterAccess, task: SnapshotTask): TaskLayouts {
  const { slurm_account: account, worker_init: workerInit } = job;

  function layoutFor(meta: JsonObject | null, total: number, single: boolean): Layout | Problem {
    const asked = slurmOptions({ config, meta, taskName: task.task.name, account, workerInit });
    if ('problem' in asked) return asked;
    const packed = batchesOf(asked.options, total, single);
    if ('problem' in packed) return packed;
    const { unitsPerPack, parallel } = packed;
    return { unitsPerPack, width: null, plan: { options: asked.options, unitsPerPack, parallel } };
  }

  const single = once(() => layoutFor(task.workflowtask.meta_non_parallel, 1, true));
  return { single, many: once((total: number) => layoutFor(task.workflowtask.meta_parallel, total, false)) };
}

export function layoutsOf(context: JobContext, task: SnapshotTask): TaskLayouts {
  const { cluster } = context.job.snapshot;
  return cluster ? clusterLayouts(context, cluster, task) : localLayouts(context, task);
}

/** Of all phases that the task has; how many units the second one of a compound task has is not known yet. */
export function layoutProblem(layouts: TaskLayouts, { task: { type } }: SnapshotTask, total: number) {
  const single = type === 'parallel' ? undefined : layouts.single();
  if (single && 'problem' in single) return single.problem;
  if (type !== 'parallel' && !isCompoundType(type)) return undefined;
  const many = layouts.many(type === 'parallel' ? total : 1);
  return 'problem' in many ? many.problem : undefined;
}
