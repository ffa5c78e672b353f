/**
 * After images were killed for memory: how much the task should have next.
 *
 *     moreMemory(task, 16 * 1024 ** 3) // { block: 'meta_parallel', want: 32768 }
 */
import type { TaskStatus, TaskType } from '@service/contract';

import { ofPhase, type Phase, phasesOf } from '../phases.ts';

const MB = 1024 ** 2;
const GB_IN_MB = 1024;

export interface MoreMemory {
  /** Where it is written. */
  block: MetaName;
  /** In MB. */
  want: number;
}

interface TaskLike extends MetaValues {
  task_type: TaskType;
}

/** How many images, or units, were killed for memory in the latest run. */
export const killedForMemory = (status: TaskStatus | null | undefined): number =>
  status && 'causes' in status ? (status.causes.memory ?? 0) : 0;

/** Twice what it had; undefined where the phase that needs it is not known, or where somebody gave it more already. */
export function moreMemory(task: TaskLike, limit: number): MoreMemory | undefined {
  const [block, other] = metaBlocks(task.task_type);
  if (block === undefined || other !== undefined) return undefined;
  const had = Math.round(limit / MB);
  const asked = inMegabytes((task[block] as { mem?: unknown } | null | undefined)?.mem);
  if (had < 1 || (asked !== undefined && asked > had)) return undefined;
  return { block, want: roundedUp(had * 2) };
}

/** `{…, mem: 32768}`: everything else that is asked for stays. */
export const withMemory = (meta: unknown, megabytes: number): object => ({
  ...(meta as object | null),
  mem: megabytes,
});

const roundedUp = (megabytes: number): number =>
  megabytes < GB_IN_MB ? megabytes : Math.ceil(megabytes / GB_IN_MB) * GB_IN_MB;

const IN_MB: Record<string, number> = { K: 1 / 1024, M: 1, G: 1024, T: 1024 ** 2 };

/** As a scheduler reads it: a number is in MB, a text may say its unit. */
function inMegabytes(mem: unknown): number | undefined {
  if (typeof mem === 'number') return mem;
  const [, digits, unit = 'M'] = /^\s*(\d+(?:\.\d+)?)\s*([KMGT])?B?\s*$/i.exec(String(mem)) ?? [];
  return digits === undefined ? undefined : Number(digits) * IN_MB[unit.toUpperCase()]!;
}

export type MetaName = `meta_${Phase}`;
export type MetaValues = Partial<Record<MetaName, unknown>>;

/** Which blocks of resources a task has. */
export const metaBlocks = (type: TaskType): MetaName[] => phasesOf(type).map((phase) => `meta_${phase}` as const);

export const metaLabel = (name: MetaName, type: TaskType): string =>
  ofPhase('Resources', name === 'meta_parallel' ? 'parallel' : 'non_parallel', phasesOf(type));
