/** Workflows, their tasks, exports and templates. */
import { z } from 'zod';

import { pageOf } from '../pagination.ts';
import { Task, TASK_TYPES } from '../tasks/task.ts';
import { argsObject, flagMap, jsonAnswer, jsonObject } from '../wire/json.ts';
import { distinct, mapOf } from '../wire/maps.ts';
import { addProblem, valueError } from '../wire/problem.ts';
import { answer, id, name, readInteger, smallInteger, trimmedText } from '../wire/scalars.ts';
import { Project } from './project.ts';

const workflowTask = {
  id: answer.integer(),
  workflow_id: answer.integer(),
  order: answer.integer().nullable(),
  meta_non_parallel: jsonAnswer.object().nullable(),
  meta_parallel: jsonAnswer.object().nullable(),
  args_non_parallel: jsonAnswer.object().nullable(),
  args_parallel: jsonAnswer.object().nullable(),
  type_filters: jsonAnswer.flags(),
  task_type: z.enum(TASK_TYPES),
  task_id: answer.integer(),
  task: Task,
  alias: answer.text().nullable(),
  description: answer.text().nullable(),
  revision: answer.integer(),
  timestamp_modified: answer.time(),
};

export const WorkflowTask = z.object(workflowTask).meta({ id: 'WorkflowTaskRead' });
export type WorkflowTask = z.output<typeof WorkflowTask>;

export const WorkflowTaskWithWarning = z
  .object({ ...workflowTask, warning: answer.text().nullable() })
  .meta({ id: 'WorkflowTaskReadWithWarning' });
export type WorkflowTaskWithWarning = z.output<typeof WorkflowTaskWithWarning>;

const workflow = {
  id: answer.integer(),
  name: answer.text(),
  project_id: answer.integer(),
  is_starred: answer.boolean(),
  project: Project,
  timestamp_created: answer.time(),
  description: answer.text().nullable(),
  template_id: answer.integer().nullable(),
};

export const Workflow = z.object({ ...workflow, task_list: z.array(WorkflowTask) }).meta({ id: 'WorkflowRead' });
export type Workflow = z.output<typeof Workflow>;

/** The list of a project can leave the tasks out, which carry whole argument schemas. */
export const WorkflowInList = z
  .object({ ...workflow, task_list: z.array(WorkflowTask).optional(), num_tasks: answer.integer().optional() })
  .meta({ id: 'WorkflowInList' });
export type WorkflowInList = z.output<typeof WorkflowInList>;

export const WorkflowWithWarnings = z
  .object({
    ...workflow,
    task_list: z.array(WorkflowTaskWithWarning),
    num_jobs: answer.integer(),
    num_submitted_jobs: answer.integer(),
    last_dataset_id: answer.integer().nullable(),
  })
  .meta({ id: 'WorkflowReadWithWarnings' });
export type WorkflowWithWarnings = z.output<typeof WorkflowWithWarnings>;

export const WorkflowCreate = z
  .strictObject({ name: name(), description: trimmedText().nullable().default(null) })
  .meta({ id: 'WorkflowCreate' });
export type WorkflowCreate = z.output<typeof WorkflowCreate>;

export const WorkflowUpdate = z
  .strictObject({
    name: name().optional(),
    description: trimmedText().nullable().optional(),
    reordered_workflowtask_ids: z
      .array(id({ least: 0 }))
      .superRefine(distinct())
      .nullable()
      .optional(),
  })
  .meta({ id: 'WorkflowUpdate' });
export type WorkflowUpdate = z.output<typeof WorkflowUpdate>;

const optionalObject = () => jsonObject().nullable();
const optionalArgs = () => argsObject().nullable();
const optionalText = () => trimmedText().nullable();

export const WorkflowTaskCreate = z
  .strictObject({
    task_id: id(),
    meta_non_parallel: optionalObject().default(null),
    meta_parallel: optionalObject().default(null),
    args_non_parallel: optionalArgs().default(null),
    args_parallel: optionalArgs().default(null),
    type_filters: flagMap().default({}),
    description: optionalText().default(null),
    alias: name().nullable().default(null),
  })
  .meta({ id: 'WorkflowTaskCreate' });
export type WorkflowTaskCreate = z.output<typeof WorkflowTaskCreate>;

export const WorkflowTaskUpdate = z
  .strictObject({
    meta_non_parallel: optionalObject().optional(),
    meta_parallel: optionalObject().optional(),
    args_non_parallel: optionalArgs().optional(),
    args_parallel: optionalArgs().optional(),
    type_filters: flagMap().optional(),
    description: optionalText().optional(),
    alias: name().nullable().optional(),
  })
  .meta({ id: 'WorkflowTaskUpdate' });
export type WorkflowTaskUpdate = z.output<typeof WorkflowTaskUpdate>;

export const WorkflowTaskReplace = z
  .object({
    args_non_parallel: mapOf(z.unknown()).nullable().default(null),
    args_parallel: mapOf(z.unknown()).nullable().default(null),
  })
  .meta({ id: 'WorkflowTaskReplace' });
export type WorkflowTaskReplace = z.output<typeof WorkflowTaskReplace>;

export const TypeFiltersFlow = z.array(
  z.object({
    workflowtask_id: answer.integer(),
    current_type_filters: jsonAnswer.flags(),
    input_type_filters: jsonAnswer.flags(),
    output_type_filters: jsonAnswer.flags(),
  }),
);

export const VersionCandidates = z.array(z.array(z.object({ task_id: answer.integer(), version: answer.text() })));

export const WorkflowExport = z
  .object({
    name: answer.text(),
    description: answer.text().nullable(),
    task_list: z.array(
      z.object({
        meta_non_parallel: jsonAnswer.object().nullable(),
        meta_parallel: jsonAnswer.object().nullable(),
        args_non_parallel: jsonAnswer.object().nullable(),
        args_parallel: jsonAnswer.object().nullable(),
        type_filters: jsonAnswer.flags(),
        description: answer.text().nullable(),
        alias: answer.text().nullable(),
        task: z.object({ pkg_name: answer.text(), version: answer.text(), name: answer.text() }),
      }),
    ),
  })
  .meta({ id: 'WorkflowExport' });
export type WorkflowExport = z.output<typeof WorkflowExport>;

const TaskToMatch = z.strictObject({
  pkg_name: trimmedText(),
  name: trimmedText(),
  version: trimmedText().nullable().default(null),
});

/** Filters of old exports; only their types still mean something. */
function typeFiltersOf(item: {
  type_filters?: Record<string, boolean> | null;
  input_filters?: Record<string, unknown> | null;
}) {
  const legacy = item.input_filters;
  if (legacy == null) return { value: item.type_filters ?? {} };
  if ('type_filters' in item && item.type_filters !== undefined) {
    return valueError('Give type_filters or input_filters, not both.');
  }
  const attributes = z.strictObject({}).safeParse(legacy['attributes']);
  if (!attributes.success) {
    return valueError('input_filters.attributes must be {}.');
  }
  const types = flagMap().safeParse(legacy['types'] ?? {});
  return types.success ? { value: types.data } : valueError('input_filters.types must be an object of flags.');
}

const WorkflowImportItem = z
  .strictObject({
    meta_non_parallel: optionalObject().default(null),
    meta_parallel: optionalObject().default(null),
    args_non_parallel: optionalArgs().default(null),
    args_parallel: optionalArgs().default(null),
    type_filters: flagMap().nullable().optional(),
    input_filters: mapOf(z.unknown()).nullable().optional(),
    description: optionalText().default(null),
    alias: optionalText().default(null),
    task: TaskToMatch,
  })
  .transform(({ input_filters, type_filters, ...item }, ctx) => {
    const read = typeFiltersOf({ input_filters, ...(type_filters === undefined ? {} : { type_filters }) });
    if ('value' in read) return { ...item, type_filters: read.value };
    addProblem(ctx, read.problem);
    return z.NEVER;
  });
export type WorkflowImportItem = z.output<typeof WorkflowImportItem>;

export const WorkflowImport = z
  .strictObject({
    name: name(),
    description: trimmedText().nullable().default(null),
    task_list: z.array(WorkflowImportItem),
  })
  .meta({ id: 'WorkflowImport' });
export type WorkflowImport = z.output<typeof WorkflowImport>;

export const WorkflowFromTemplate = z
  .strictObject({
    name: name().nullable().default(null),
    override_versions: mapOf(trimmedText())
      .transform((map, ctx) => {
        const versions = new Map<number, string>();
        for (const [key, version] of Object.entries(map)) {
          const index = readInteger(key);
          if ('value' in index) versions.set(index.value, version);
          else addProblem(ctx, { type: 'int_parsing', message: 'Keys are positions in the list of tasks.' });
        }
        return versions;
      })
      .default(new Map()),
  })
  .meta({ id: 'WorkflowFromTemplate' });
export type WorkflowFromTemplate = z.output<typeof WorkflowFromTemplate>;

const templateName = {
  name: name(),
  version: smallInteger({ above: 0 }),
  description: trimmedText().nullable().default(null),
};

export const TemplateCreate = z.object(templateName).meta({ id: 'WorkflowTemplateCreate' });
export type TemplateCreate = z.output<typeof TemplateCreate>;

/** What a template holds is an export: each task says its version. */
const TemplateData = WorkflowImport.transform(({ task_list, ...workflow }, ctx) => {
  const tasks = task_list.map(({ task: { version, ...task }, ...item }, index) => {
    if (version === null) {
      const message = 'Value error, A template needs the version of each task.';
      addProblem(ctx, { type: 'value_error', message }, ['task_list', index, 'task', 'version']);
    }
    return { ...item, task: { ...task, version: version ?? '' } };
  });
  return { ...workflow, task_list: tasks };
});

export const TemplateImport = z.object({ ...templateName, data: TemplateData }).meta({ id: 'WorkflowTemplateImport' });
export type TemplateImport = z.output<typeof TemplateImport>;

export const TemplateUpdate = z
  .object({ user_group_id: id().nullable().optional(), description: trimmedText().nullable().optional() })
  .meta({ id: 'WorkflowTemplateUpdate' });
export type TemplateUpdate = z.output<typeof TemplateUpdate>;

export const Template = z
  .object({
    id: answer.integer(),
    user_email: answer.text(),
    name: answer.text(),
    version: answer.integer(),
    timestamp_created: answer.time(),
    timestamp_last_used: answer.time(),
    user_group_id: answer.integer().nullable(),
    description: answer.text().nullable(),
    data: WorkflowExport,
    fractal_server_version: answer.text(),
  })
  .meta({ id: 'WorkflowTemplateRead' });
export type Template = z.output<typeof Template>;

export const TemplatePage = pageOf(
  z.object({
    user_email: answer.text(),
    template_name: answer.text(),
    templates: z.array(z.object({ template_id: answer.integer(), template_version: answer.integer() })),
  }),
)
  .extend({ email_list: z.array(answer.text()) })
  .meta({ id: 'WorkflowTemplatePage' });
export type TemplatePage = z.output<typeof TemplatePage>;

export const TemplateExport = z
  .object({
    name: answer.text(),
    version: answer.integer(),
    description: answer.text().nullable(),
    data: WorkflowExport,
  })
  .meta({ id: 'WorkflowTemplateExport' });
