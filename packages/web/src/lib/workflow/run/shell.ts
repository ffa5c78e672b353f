/**
 * The shell lines and commands that tasks bring along: they run in the name of whoever starts the job, who may not have
 * written them.
 */
import type { ShellChange, WorkflowTask } from '@service/contract';

import { formatWhen, nameOf } from '../../format.ts';

interface ShellLine {
  text: string;
  change?: 'added' | 'removed';
}

export interface TaskLines {
  id: number;
  /** Counted from 1. */
  number: number;
  name: string;
  lines: ShellLine[];
  /** Whose lines these are, where somebody else changed them. */
  notes: string[];
}

type Task = Pick<WorkflowTask, 'id' | 'alias' | 'task' | 'meta_non_parallel' | 'meta_parallel'>;

export interface Shell {
  tasks: readonly Task[];
  first: number;
  last: number;
  changes: readonly ShellChange[];
  /** Extra lines are for the scripts of a scheduler. */
  onCluster: boolean;
  /** The address of who runs it: what they changed themselves needs no words. */
  email: string;
}

const linesOf = (meta: Record<string, unknown> | null): string[] => {
  const lines = meta?.['extra_lines'];
  return Array.isArray(lines) ? lines.map(String) : [];
};

function noteOf({ source, changed_by, timestamp_changed, timestamp_last_run }: ShellChange, now?: number): string {
  const what = source === 'command' ? 'the command' : 'lines';
  const when = timestamp_changed === null ? '' : ` ${formatWhen(timestamp_changed, now)}`;
  if (timestamp_last_run !== null) {
    const run = `after you ran this task last (${formatWhen(timestamp_last_run, now)})`;
    return `${changed_by ?? 'Somebody'} changed ${what}${when}, ${run}.`;
  }
  const written = changed_by === null ? '' : ` ${changed_by} wrote ${source === 'command' ? 'it' : 'them'}${when}.`;
  return `You have not run ${source === 'command' ? 'this command' : 'these lines'} yet.${written}`;
}

export function shellLines({ tasks, first, last, changes, onCluster, email }: Shell, now?: number): TaskLines[] {
  return tasks
    .map((task, index) => {
      const all = onCluster ? [...linesOf(task.meta_non_parallel), ...linesOf(task.meta_parallel)] : [];
      const isTheirs = ({ changed_by }: ShellChange) => changed_by !== email;
      // whoever changed a line last may have left others as somebody else wrote them: all that are new are marked
      const shown = changes.filter(
        (change) => change.workflowtask_id === task.id && (change.source === 'command' ? isTheirs(change) : onCluster),
      );
      const added = new Set(shown.flatMap((change) => change.added));
      const lines = [...new Set([...all, ...added])].map((text): ShellLine =>
        added.has(text) ? { text, change: 'added' } : { text },
      );
      const removed = shown.flatMap((change) => change.removed).map((text): ShellLine => ({ text, change: 'removed' }));
      return {
        id: task.id,
        number: index + 1,
        name: nameOf(task),
        lines: [...lines, ...removed],
        notes: shown.filter(isTheirs).map((change) => noteOf(change, now)),
      };
    })
    .slice(first, last + 1)
    .filter(({ lines }) => lines.length > 0);
}
