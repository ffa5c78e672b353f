/** Which blocks of resources a task has. */
import type { TaskType } from '@service/contract';

export const META_NAMES = {
  meta_non_parallel: 'Initialisation',
  meta_parallel: 'Compute',
} as const;

export type MetaName = keyof typeof META_NAMES;
export type MetaValues = Partial<Record<MetaName, unknown>>;

export function metaBlocks(type: TaskType): MetaName[] {
  if (type === 'parallel') return ['meta_parallel'];
  return type.endsWith('compound') ? ['meta_non_parallel', 'meta_parallel'] : ['meta_non_parallel'];
}
