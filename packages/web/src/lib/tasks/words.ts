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
