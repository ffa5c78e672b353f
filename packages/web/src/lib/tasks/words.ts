/** Tasks, packages and what happens to them, in words. */
import type { Origin, TaskType } from '@service/contract';

export const TYPE_WORDS: Record<TaskType, string> = {
  parallel: 'one unit per image',
  non_parallel: 'one unit for all images',
  compound: 'in parallel',
  converter_non_parallel: 'makes images in one unit',
  converter_compound: 'makes images in parallel',
};

export const TYPE_NAMES: Record<TaskType, string> = {
  parallel: 'Parallel',
  non_parallel: 'Non-parallel',
  compound: 'Compound',
  converter_non_parallel: 'Converter, non-parallel',
  converter_compound: 'Converter, compound',
};

export type Phase = 'non_parallel' | 'parallel';

/** The phases that a task runs in, in their order. */
export const phasesOf = (type: TaskType): Phase[] =>
  type === 'parallel'
    ? ['parallel']
    : type === 'compound' || type === 'converter_compound'
      ? ['non_parallel', 'parallel']
      : ['non_parallel'];

type OfPhases = Partial<Record<`args_${Phase}` | `meta_${Phase}`, unknown>>;

/** The phases that something is set for, in one of some files: they do not say of which type a task is. */
export const phasesIn = (...items: OfPhases[]): Phase[] =>
  phasesOf('compound').filter((phase) =>
    items.some((item) => (item[`args_${phase}`] ?? item[`meta_${phase}`] ?? null) !== null),
  );

const PHASE_NAMES: Record<Phase, string> = { non_parallel: 'Init', parallel: 'Compute' };

/** `Init arguments` and `Compute arguments` of a compound task; any other has but one phase, and `Arguments`. */
export const ofPhase = (what: string, phase: Phase, phases: readonly Phase[]): string =>
  phases.length < 2 ? what : `${PHASE_NAMES[phase]} ${what[0]!.toLowerCase()}${what.slice(1)}`;

/** Shell lines that workers run before they begin (`worker_init`). */
export const WORKER_INIT = 'Worker initialisation';

export const ORIGIN_NAMES: Record<Origin, string> = {
  pypi: 'PyPI',
  'wheel-file': 'Wheel file',
  pixi: 'Pixi',
  other: 'Own environment',
};

/** `3D: yes, illum_corr: no` as `3D, not illum_corr`. */
export const typeFlags = (types: Record<string, boolean>): string =>
  Object.entries(types)
    .map(([key, value]) => (value ? key : `not ${key}`))
    .join(', ');
