/** Task groups, their activities, and what is sent to make and change them. */
import { z } from 'zod';

import { PYTHONS } from '../pythons.ts';
import { textMap } from '../wire/maps.ts';
import { parseJson } from '../wire/numbers.ts';
import { absolutePath } from '../wire/paths.ts';
import { found, reader, type Reading, rule, valueError, wrong } from '../wire/problem.ts';
import { answer, boolean, choice, id, text, trimmedText } from '../wire/scalars.ts';
import { Manifest } from './manifest.ts';
import { commandProblem, Task, TaskSlim } from './task.ts';

export const ORIGINS = ['pypi', 'wheel-file', 'pixi', 'other'] as const;
export type Origin = (typeof ORIGINS)[number];
export const ACTIVITY_STATUSES = ['pending', 'ongoing', 'failed', 'OK'] as const;
export type ActivityStatus = (typeof ACTIVITY_STATUSES)[number];
export const ACTIVITY_ACTIONS = ['collect', 'deactivate', 'reactivate', 'delete', 'reset'] as const;
export type ActivityAction = (typeof ACTIVITY_ACTIONS)[number];

const optionalText = () => answer.text().nullable();
const pins = () => z.record(z.string(), z.string());

const group = {
  id: answer.integer(),
  user_email: answer.text(),
  user_group_id: answer.integer().nullable(),
  origin: z.enum(ORIGINS),
  pkg_name: answer.text(),
  version: answer.text(),
  python_version: optionalText(),
  pixi_version: optionalText(),
  path: optionalText(),
  venv_path: optionalText(),
  archive_path: optionalText(),
  pip_extras: optionalText(),
  pinned_package_versions_pre: pins(),
  pinned_package_versions_post: pins(),
  in_use: answer.boolean(),
  active: answer.boolean(),
  timestamp_created: answer.time(),
  timestamp_last_used: answer.time(),
  num_workflows: answer.integer(),
  num_submitted_jobs: answer.integer(),
};

export const TaskGroup = z.object({ ...group, task_list: z.array(Task) }).meta({ id: 'TaskGroupRead' });
export type TaskGroup = z.output<typeof TaskGroup>;

export const TaskGroupSlim = z.object({ ...group, task_list: z.array(TaskSlim) }).meta({ id: 'TaskGroupReadSlim' });
export type TaskGroupSlim = z.output<typeof TaskGroupSlim>;

export const TaskGroupAdmin = z
  .object({ ...group, task_list: z.array(Task), user_id: answer.integer(), resource_id: answer.integer() })
  .meta({ id: 'TaskGroupReadSuperuser' });
export type TaskGroupAdmin = z.output<typeof TaskGroupAdmin>;

export const STEP_STATUSES = ['pending', 'ongoing', 'OK', 'failed', 'skipped'] as const;

export const ActivityStep = z.object({
  name: answer.text(),
  status: z.enum(STEP_STATUSES),
  timestamp_started: answer.time().nullable(),
  timestamp_ended: answer.time().nullable(),
  done: answer.integer().nullable(),
  total: answer.integer().nullable(),
  detail: answer.text().nullable(),
});
export type ActivityStep = z.output<typeof ActivityStep>;

export const Activity = z
  .object({
    id: answer.integer(),
    user_id: answer.integer(),
    taskgroupv2_id: answer.integer().nullable(),
    timestamp_started: answer.time(),
    timestamp_ended: answer.time().nullable(),
    pkg_name: answer.text(),
    version: answer.text(),
    status: z.enum(ACTIVITY_STATUSES),
    action: z.enum(ACTIVITY_ACTIONS),
    log: answer.text().nullable(),
    steps: z.array(ActivityStep),
  })
  .meta({ id: 'TaskGroupActivityRead' });
export type Activity = z.output<typeof Activity>;

export const TaskGroupUpdate = z
  .strictObject({ user_group_id: id().nullable().optional() })
  .meta({ id: 'TaskGroupUpdate' });

/** A file that came with a form; it lies on disk until the request is over. */
export interface UploadedFile {
  filename: string;
  path: string;
  bytes: number;
}

const upload = () =>
  z
    .custom<UploadedFile>(
      (value) => typeof value === 'object' && value !== null && 'filename' in value && 'path' in value,
    )
    .meta({ type: 'string', format: 'binary' });

/** Pins arrive as a JSON text inside a form, or as an object. */
function readPins(input: unknown): Reading<Record<string, string>> {
  let value = input;
  if (typeof input === 'string') {
    try {
      value = parseJson(input);
    } catch {
      return wrong('json_invalid', 'Enter a JSON object such as {"numpy": "1.26.4"}.');
    }
  }
  const read = textMap().safeParse(value);
  return read.success ? found(read.data) : valueError('Enter a JSON object of package names and versions.');
}

const pinned = () => reader(readPins, { type: 'string', description: 'A JSON object of package names and versions.' });
const pythonVersion = () => choice(PYTHONS, 'literal_error');

export const CollectPip = z
  .object({
    package: z.string().nullish(),
    package_version: z.string().nullish(),
    package_extras: z.string().nullish(),
    python_version: pythonVersion().nullish(),
    pinned_package_versions_pre: pinned().nullish(),
    pinned_package_versions_post: pinned().nullish(),
    file: upload().nullish(),
  })
  .meta({ id: 'CollectPip' });
export type CollectPip = z.output<typeof CollectPip>;

export const CollectPixi = z
  .object({ file: upload(), pixi_version: trimmedText().nullish(), use_pixi_lockfile: boolean().default(true) })
  .meta({ id: 'CollectPixi' });
export type CollectPixi = z.output<typeof CollectPixi>;

export const CollectCustom = z
  .strictObject({
    manifest: Manifest,
    python_interpreter: absolutePath(),
    label: trimmedText(),
    version: trimmedText(),
    package_root: absolutePath().nullable().default(null),
    package_name: trimmedText().superRefine(rule(commandProblem)).nullable().default(null),
  })
  .superRefine(
    rule((body: { package_root: string | null; package_name: string | null }) =>
      (body.package_root === null) === (body.package_name === null)
        ? 'Give either package_root or package_name.'
        : undefined,
    ),
  )
  .meta({ id: 'TaskCollectCustom' });
export type CollectCustom = z.output<typeof CollectCustom>;

export const ResetPip = z
  .strictObject({
    pip_extras: text().nullable().default(null),
    python_version: pythonVersion().nullable().default(null),
    pinned_package_versions_pre: pinned().nullable().optional(),
    pinned_package_versions_post: pinned().nullable().optional(),
  })
  .meta({ id: 'TaskGroupOverridesPip' });
export type ResetPip = z.output<typeof ResetPip>;

export const ResetPixi = z
  .strictObject({ use_pixi_lockfile: boolean().default(false) })
  .meta({ id: 'TaskGroupOverridesPixi' });

export const TaskInfo = z
  .object({
    task: z.object({
      id: answer.integer(),
      name: answer.text(),
      type: answer.text(),
      is_core: answer.boolean(),
      taskgroupv2_id: answer.integer(),
      command_non_parallel: optionalText(),
      command_parallel: optionalText(),
      version: answer.text(),
      pkg_name: answer.text(),
      active: answer.boolean(),
      owner: answer.text(),
      user_group: optionalText(),
    }),
    relationships: z.array(
      z.object({
        workflow_id: answer.integer(),
        workflow_name: answer.text(),
        project_id: answer.integer(),
        project_name: answer.text(),
        project_users: z.array(z.object({ id: answer.integer(), email: answer.text() })),
      }),
    ),
  })
  .meta({ id: 'TaskInfo' });
export type TaskInfo = z.output<typeof TaskInfo>;
