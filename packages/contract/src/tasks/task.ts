/** Tasks, as workflows show them. */
import { z } from 'zod';

import { jsonAnswer } from '../wire/json.ts';
import { answer } from '../wire/scalars.ts';

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
