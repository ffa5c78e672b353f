/** The shell lines that tasks bring along for the compute nodes: they run in the name of whoever starts the job. */
import type { WorkflowTask } from '@service/contract';

import { nameOf } from '../../format.ts';

export interface TaskLines {
  id: number;
  /** Counted from 1. */
  number: number;
  name: string;
  lines: string[];
}

type Task = Pick<WorkflowTask, 'id' | 'alias' | 'task' | 'meta_non_parallel' | 'meta_parallel'>;

const linesOf = (meta: Record<string, unknown> | null): string[] => {
  const lines = meta?.['extra_lines'];
  return Array.isArray(lines) ? lines.map(String) : [];
};

export const shellLines = (tasks: readonly Task[], first: number, last: number): TaskLines[] =>
  tasks
    .map((task, index) => ({
      id: task.id,
      number: index + 1,
      name: nameOf(task),
      lines: [...new Set([...linesOf(task.meta_non_parallel), ...linesOf(task.meta_parallel)])],
    }))
    .slice(first, last + 1)
    .filter(({ lines }) => lines.length > 0);
