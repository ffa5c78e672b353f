/** Tasks: what they are, and what is sent to make or change a single one. */
import { z } from 'zod';

import { flagMap, jsonAnswer, jsonObject } from '../wire/json.ts';
import { distinct } from '../wire/maps.ts';
import { reader, type Reading, rule, valueError, wrong } from '../wire/problem.ts';
import { answer, choice, name, readTrimmedText, text, trimmedText } from '../wire/scalars.ts';

export const TASK_TYPES = [
  'compound',
  'converter_compound',
  'non_parallel',
  'converter_non_parallel',
  'parallel',
] as const;
export type TaskType = (typeof TASK_TYPES)[number];

const optionalText = () => answer.text().nullable();

export const Task = z
  .object({
    id: answer.integer(),
    name: answer.text(),
    type: z.enum(TASK_TYPES),
    version: answer.text(),
    is_core: answer.boolean(),
    command_non_parallel: optionalText(),
    command_parallel: optionalText(),
    meta_parallel: jsonAnswer.object(),
    meta_non_parallel: jsonAnswer.object(),
    args_schema_non_parallel: jsonAnswer.object().nullable(),
    args_schema_parallel: jsonAnswer.object().nullable(),
    args_schema_version: optionalText(),
    docs_info: optionalText(),
    docs_link: optionalText(),
    input_types: jsonAnswer.flags(),
    output_types: jsonAnswer.flags(),
    taskgroupv2_id: answer.integer().nullable(),
    category: optionalText(),
    modality: optionalText(),
    authors: optionalText(),
    tags: z.array(answer.text()),
  })
  .meta({ id: 'TaskRead' });
export type Task = z.output<typeof Task>;

export const TaskSlim = z
  .object({
    id: answer.integer(),
    name: answer.text(),
    version: answer.text(),
    is_core: answer.boolean(),
    category: optionalText(),
    modality: optionalText(),
    authors: optionalText(),
    tags: z.array(answer.text()),
    input_types: jsonAnswer.flags(),
    docs_info: optionalText(),
    docs_link: optionalText(),
    type: z.enum(TASK_TYPES),
  })
  .meta({ id: 'TaskReadSlim' });
export type TaskSlim = z.output<typeof TaskSlim>;

const UNSAFE = /[`#$&*()\\|[\]{};<>?!\n\r\0]/;

/** What is wrong with a text that becomes part of a command, or nothing. */
export const commandProblem = (text: string) =>
  UNSAFE.test(text) ? 'Remove line breaks and characters with a meaning for shells.' : undefined;

function readCommand(input: unknown): Reading<string> {
  const reading = readTrimmedText(input);
  if ('problem' in reading) return reading;
  const problem = commandProblem(reading.value);
  return problem === undefined ? reading : valueError(problem);
}

/** A command line; it is split into words as a shell does, and never passes through one. */
const command = () => reader(readCommand, { type: 'string', minLength: 1 });

function readHttpUrl(input: unknown): Reading<string> {
  const reading = readTrimmedText(input);
  if ('problem' in reading) return reading;
  const url = URL.canParse(reading.value) ? new URL(reading.value) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || reading.value.length > 2083) {
    return wrong('url_parsing', 'Enter an address that starts with http:// or https://.');
  }
  return reading;
}

export const httpUrl = () => reader(readHttpUrl, { type: 'string', format: 'uri' });

const tags = () => z.array(trimmedText()).superRefine(distinct());
const optionalObject = () => jsonObject().nullable();

/** The type of a task whose author gave none: converters are never guessed. */
export function inferredType(parallel: unknown, nonParallel: unknown): TaskType {
  if (parallel == null) return 'non_parallel';
  return nonParallel == null ? 'parallel' : 'compound';
}

export const TaskCreate = z
  .strictObject({
    name: name(),
    version: trimmedText(),
    command_non_parallel: command().optional(),
    command_parallel: command().optional(),
    type: choice(TASK_TYPES).nullable().optional(),
    meta_non_parallel: optionalObject().optional(),
    meta_parallel: optionalObject().optional(),
    args_schema_non_parallel: optionalObject().default(null),
    args_schema_parallel: optionalObject().default(null),
    args_schema_version: trimmedText().optional(),
    docs_info: text().nullable().default(null),
    docs_link: httpUrl().nullable().default(null),
    input_types: flagMap().default({}),
    output_types: flagMap().default({}),
    category: trimmedText().nullable().default(null),
    modality: trimmedText().nullable().default(null),
    authors: trimmedText().nullable().default(null),
    tags: tags().default([]),
  })
  .superRefine(
    rule((task: { command_non_parallel?: string | undefined; command_parallel?: string | undefined }) =>
      task.command_non_parallel === undefined && task.command_parallel === undefined
        ? 'Give command_parallel, command_non_parallel or both.'
        : undefined,
    ),
  )
  .meta({ id: 'TaskCreate' });
export type TaskCreate = z.output<typeof TaskCreate>;

export const TaskUpdate = z
  .strictObject({
    command_parallel: command().optional(),
    command_non_parallel: command().optional(),
    input_types: flagMap().optional(),
    output_types: flagMap().optional(),
    category: trimmedText().nullable().optional(),
    modality: trimmedText().nullable().optional(),
    authors: trimmedText().nullable().optional(),
    tags: tags().nullable().optional(),
  })
  .meta({ id: 'TaskUpdate' });
export type TaskUpdate = z.output<typeof TaskUpdate>;
