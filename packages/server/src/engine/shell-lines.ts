/** The shell lines that a workflow brings along for whoever runs it. */
import type { JsonObject } from '@service/contract';

interface Meta {
  meta_non_parallel: JsonObject | null;
  meta_parallel: JsonObject | null;
}

const linesIn = (meta: JsonObject | null): string[] => {
  const lines = meta?.['extra_lines'];
  return Array.isArray(lines) ? lines.map(String) : [];
};

/** Each line once: both parts of a task run in one kind of script. */
export const extraLines = ({ meta_non_parallel, meta_parallel }: Meta): string[] => [
  ...new Set([...linesIn(meta_non_parallel), ...linesIn(meta_parallel)]),
];

export interface LineChanges {
  added: string[];
  removed: string[];
}

/** Undefined where nothing changed. An order is a change, too: then all lines are told. */
export function lineChanges(before: readonly string[], now: readonly string[]): LineChanges | undefined {
  const added = now.filter((line) => !before.includes(line));
  const removed = before.filter((line) => !now.includes(line));
  if (added.length + removed.length > 0) return { added, removed };
  return now.some((line, at) => line !== before[at]) ? { added: [...now], removed: [] } : undefined;
}
