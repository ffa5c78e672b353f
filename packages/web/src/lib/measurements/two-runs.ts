/** What two runs did differently with the same image: the arguments of their tasks, side by side. */
import type { ImageHistory, TaskOfImage } from '@service/contract';

import { writeJson } from '../json.ts';

const tasksOf = ({ made_by, worked_on_by }: ImageHistory): TaskOfImage[] => [
  ...(made_by ? [made_by] : []),
  ...worked_on_by,
];

/** The one that wrote last. */
export const lastTask = (history: ImageHistory): TaskOfImage | undefined => tasksOf(history).at(-1);

interface Difference {
  task: string;
  argument: string;
  here: string;
  there: string;
}

const words = (value: unknown): string =>
  value === undefined ? 'default' : typeof value === 'string' ? value : writeJson(value);

/** Of each task by its name, as it ran last. */
const argumentsOf = (history: ImageHistory) =>
  new Map(
    tasksOf(history).map(({ name, args_non_parallel, args_parallel }) => [
      name,
      new Map<string, unknown>(Object.entries({ ...args_non_parallel, ...args_parallel })),
    ]),
  );

/** Tasks that only one of them ran are no difference of arguments. */
export function argumentsThatDiffer(one: ImageHistory, other: ImageHistory): Difference[] {
  const theirs = argumentsOf(other);
  return [...argumentsOf(one)].flatMap(([task, own]) => {
    const there = theirs.get(task);
    if (!there) return [];
    return [...new Set([...own.keys(), ...there.keys()])]
      .map((argument) => ({ task, argument, here: words(own.get(argument)), there: words(there.get(argument)) }))
      .filter((difference) => difference.here !== difference.there);
  });
}
