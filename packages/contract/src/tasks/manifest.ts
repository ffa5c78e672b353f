/** The manifest of a task package, `__FRACTAL_MANIFEST__.json`: which tasks it has and how they are started. */
import { z } from 'zod';

import { flagMap, jsonObject } from '../wire/json.ts';
import { distinct } from '../wire/maps.ts';
import { addProblem, rule } from '../wire/problem.ts';
import { boolean, choice, text, trimmedText } from '../wire/scalars.ts';
import { httpUrl, TASK_TYPES } from './task.ts';

export const MANIFEST_FILE = '__FRACTAL_MANIFEST__.json';

const executable = () => text().nullable().default(null);

export const ManifestTask = z
  .object({
    name: trimmedText(),
    executable_non_parallel: executable(),
    executable_parallel: executable(),
    type: choice(TASK_TYPES).nullable().default(null),
    input_types: flagMap().default({}),
    output_types: flagMap().default({}),
    meta_non_parallel: jsonObject().default({}),
    meta_parallel: jsonObject().default({}),
    args_schema_non_parallel: jsonObject().nullable().default(null),
    args_schema_parallel: jsonObject().nullable().default(null),
    docs_info: text().nullable().default(null),
    docs_link: httpUrl().nullable().default(null),
    category: trimmedText().nullable().default(null),
    modality: trimmedText().nullable().default(null),
    tags: z.array(trimmedText()).superRefine(distinct()).default([]),
  })
  .superRefine((task, ctx) => {
    const refused = (field: string, message: string) =>
      addProblem(ctx, { type: 'value_error', message: `Value error, ${message}` }, [field]);
    if (task.executable_non_parallel === null && task.executable_parallel === null) {
      addProblem(ctx, {
        type: 'value_error',
        message: 'Value error, A task needs executable_parallel, executable_non_parallel or both.',
      });
    }
    for (const kind of ['non_parallel', 'parallel'] as const) {
      if (task[`executable_${kind}`] !== null) continue;
      if (Object.keys(task[`meta_${kind}`]).length > 0) {
        refused(`meta_${kind}`, `Without executable_${kind} there must be no meta_${kind}.`);
      }
      if (task[`args_schema_${kind}`] !== null) {
        refused(`args_schema_${kind}`, `Without executable_${kind} there must be no args_schema_${kind}.`);
      }
    }
  })
  .meta({ id: 'TaskManifestV2' });
export type ManifestTask = z.output<typeof ManifestTask>;

export const Manifest = z
  .object({
    manifest_version: choice(['2'], 'literal_error'),
    task_list: z
      .array(ManifestTask)
      .superRefine(
        rule((tasks: { name: string }[]) =>
          new Set(tasks.map((task) => task.name)).size < tasks.length ? 'Two tasks have the same name.' : undefined,
        ),
      ),
    has_args_schemas: boolean().default(false),
    args_schema_version: text().nullable().default(null),
    authors: trimmedText().nullable().default(null),
  })
  .superRefine((manifest, ctx) => {
    if (!manifest.has_args_schemas) return;
    const refused = (path: (string | number)[], message: string) =>
      addProblem(ctx, { type: 'value_error', message: `Value error, ${message}` }, path);
    if (!manifest.args_schema_version?.trim()) {
      refused(['args_schema_version'], 'With has_args_schemas the manifest names its args_schema_version.');
    }
    for (const [index, task] of manifest.task_list.entries()) {
      for (const kind of ['non_parallel', 'parallel'] as const) {
        if (task[`executable_${kind}`] !== null && task[`args_schema_${kind}`] === null) {
          refused(['task_list', index, `args_schema_${kind}`], 'With has_args_schemas every executable has a schema.');
        }
      }
    }
  })
  .meta({ id: 'ManifestV2' });
export type Manifest = z.output<typeof Manifest>;
