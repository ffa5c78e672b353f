/** Arguments as a file: one JSON object with the blocks of a task, to take them to another workflow. */
import { type ArgumentValues } from './blocks.ts';
import { isObject, JsonSyntaxError, parseJson, writeJson } from '../json.ts';
import type { TaskType } from '@service/contract';

const slug = (name: string) =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** The file of a task's arguments; `name` is its alias, else its name. */
export const argumentsFile = (name: string, values: ArgumentValues): { name: string; text: string } => ({
  name: `args-${slug(name) || 'task'}.json`,
  text: writeJson(values, 2),
});

const BLOCKS = ['args_non_parallel', 'args_parallel'] as const;

/** The blocks in a file, or what is wrong with it. Whether they fit the schema is seen in the form afterwards. */
export function readArgumentsFile(text: string): { values: ArgumentValues } | { problem: string } {
  let content: unknown;
  try {
    content = parseJson(text);
  } catch (mistake) {
    if (!(mistake instanceof JsonSyntaxError)) throw mistake;
    return { problem: `This file is not JSON. ${mistake.message}` };
  }
  const blocks = isObject(content) ? BLOCKS.filter((name) => Object.hasOwn(content, name)) : [];
  if (!isObject(content) || blocks.length === 0) {
    return { problem: 'This file has no arguments. Choose one with “args_parallel” or “args_non_parallel” in it.' };
  }
  const odd = blocks.find((name) => content[name] !== null && !isObject(content[name]));
  if (odd !== undefined) return { problem: `“${odd}” in this file is not a group of named values.` };
  return { values: Object.fromEntries(blocks.map((name) => [name, content[name]])) };
}

/** Which arguments of a file are for a task. */

/** Without the block that a task of this kind does not have; undefined when nothing is left. */
export function importable(values: ArgumentValues, type: TaskType): ArgumentValues | undefined {
  const takes = {
    args_non_parallel: type !== 'parallel',
    args_parallel: !type.endsWith('non_parallel'),
  };
  const entries = Object.entries(values).filter(([name]) => takes[name as keyof typeof takes]);
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
