/** Which arguments of a file are for a task. */
import type { TaskType } from '@service/contract';

import type { ArgumentValues } from '../form/blocks.ts';

/** Without the block that a task of this kind does not have; undefined when nothing is left. */
export function importable(values: ArgumentValues, type: TaskType): ArgumentValues | undefined {
  const takes = {
    args_non_parallel: type !== 'parallel',
    args_parallel: !type.endsWith('non_parallel'),
  };
  const entries = Object.entries(values).filter(([name]) => takes[name as keyof typeof takes]);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
