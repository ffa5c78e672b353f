/** The SQL of the tasks that workflows are made of: who may use them, which ones match an import, which are newer. */
import { type ExpressionBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';

import type { Task, TaskType, User } from '@service/contract';

import type { Tables } from '../../db/index.ts';
import { isOffered, isReadable, onOwnResource } from '../../tasks/index.ts';
import type { Executor } from './access.ts';

/** A task as the wire shows it, numbers as they were written. */
export const taskObject = (eb: ExpressionBuilder<Tables, 'tasks'>) =>
  jsonBuildObject({
    id: eb.ref('tasks.id'),
    name: eb.ref('tasks.name'),
    type: eb.ref('tasks.type'),
    version: eb.ref('tasks.version'),
    is_core: eb.ref('tasks.is_core'),
    command_non_parallel: eb.ref('tasks.command_non_parallel'),
    command_parallel: eb.ref('tasks.command_parallel'),
    meta_parallel: eb.ref('tasks.meta_parallel'),
    meta_non_parallel: eb.ref('tasks.meta_non_parallel'),
    args_schema_non_parallel: eb.ref('tasks.args_schema_non_parallel'),
    args_schema_parallel: eb.ref('tasks.args_schema_parallel'),
    args_schema_version: eb.ref('tasks.args_schema_version'),
    docs_info: eb.ref('tasks.docs_info'),
    docs_link: eb.ref('tasks.docs_link'),
    input_types: eb.ref('tasks.input_types'),
    output_types: eb.ref('tasks.output_types'),
    taskgroupv2_id: eb.ref('tasks.taskgroupv2_id'),
    category: eb.ref('tasks.category'),
    modality: eb.ref('tasks.modality'),
    authors: eb.ref('tasks.authors'),
    tags: eb.ref('tasks.tags'),
  }).$castTo<Task>();

/** What a task brings along into a workflow. */
const USED_COLUMNS = [
  'tasks.id',
  'tasks.name',
  'tasks.type',
  'tasks.meta_non_parallel',
  'tasks.meta_parallel',
  'tasks.input_types',
] as const;

/** Tasks by id, with what the caller may do with each. */
export const tasksForUser = (db: Executor, user: User, taskIds: number[]) =>
  db
    .selectFrom('tasks')
    .innerJoin('task_groups', 'task_groups.id', 'tasks.taskgroupv2_id')
    .select(USED_COLUMNS)
    .select((eb) => [
      'task_groups.active',
      isReadable(eb, user).as('readable'),
      onOwnResource(eb, user).as('on_own_resource'),
    ])
    .where('tasks.id', '=', sql<number>`any(${taskIds}::int[])`)
    .execute();
export type TaskForUser = Awaited<ReturnType<typeof tasksForUser>>[number];

/** The tasks that could be meant by packages and names of an import, oldest task group first. */
export const tasksToMatch = (db: Executor, user: User, wanted: { pkg_name: string; name: string }[]) =>
  db
    .selectFrom('task_groups')
    .innerJoin('tasks', 'tasks.taskgroupv2_id', 'task_groups.id')
    .leftJoin('group_members', (join) =>
      join.onRef('group_members.group_id', '=', 'task_groups.user_group_id').on('group_members.user_id', '=', user.id),
    )
    .select(USED_COLUMNS)
    .select([
      'tasks.is_core',
      'task_groups.pkg_name',
      'task_groups.version',
      'task_groups.active',
      'task_groups.user_id',
      'task_groups.user_group_id',
      'group_members.timestamp_joined',
    ])
    .where((eb) => isOffered(eb, user))
    .where(
      sql<boolean>`(task_groups.pkg_name, tasks.name) in (select * from unnest(
        ${wanted.map((task) => task.pkg_name)}::text[], ${wanted.map((task) => task.name)}::text[]))`,
    )
    .orderBy('task_groups.id')
    .execute();
export type MatchingTask = Awaited<ReturnType<typeof tasksToMatch>>[number];

const EMPTY_JSON = String.raw`^\s*(null|\{\s*\}|\[\s*\]|""|0|false)\s*$`;

/** An argument schema with something in it. Its text is looked at: the database cannot take every imported one apart. */
const hasKeys = (column: 'args_schema_non_parallel' | 'args_schema_parallel') =>
  sql<boolean>`coalesce(${sql.ref(`tasks.${column}`)}::text !~ ${EMPTY_JSON}, false)`;

/** The tasks of a workflow in order, with what decides whether another version can take their place. */
export const versionsInUse = (db: Executor, workflowId: number) =>
  db
    .selectFrom('workflow_tasks')
    .innerJoin('tasks', 'tasks.id', 'workflow_tasks.task_id')
    .innerJoin('task_groups', 'task_groups.id', 'tasks.taskgroupv2_id')
    .select([
      'workflow_tasks.task_type',
      'tasks.name',
      'task_groups.pkg_name',
      'task_groups.version',
      sql<boolean>`${hasKeys('args_schema_non_parallel')} or ${hasKeys('args_schema_parallel')}`.as('has_schema'),
    ])
    .where('workflow_tasks.workflow_id', '=', workflowId)
    .orderBy('workflow_tasks.order')
    .execute();

export interface OtherVersion {
  task_id: number;
  name: string;
  type: TaskType;
  pkg_name: string;
  version: string;
}

/** Every version that the caller can use of the tasks of a workflow, whatever its number. */
export const otherVersions = (db: Executor, user: User, workflowId: number): Promise<OtherVersion[]> =>
  db
    .selectFrom('task_groups')
    .innerJoin('tasks', 'tasks.taskgroupv2_id', 'task_groups.id')
    .select(['tasks.id as task_id', 'tasks.name', 'tasks.type', 'task_groups.pkg_name', 'task_groups.version'])
    .where('task_groups.active', '=', true)
    .where((eb) => isOffered(eb, user))
    .where((eb) =>
      eb.or([eb('tasks.args_schema_non_parallel', 'is not', null), eb('tasks.args_schema_parallel', 'is not', null)]),
    )
    .where(
      sql<boolean>`(task_groups.pkg_name, tasks.name) in (
        select current_group.pkg_name, current_task.name
        from workflow_tasks
        join tasks current_task on current_task.id = workflow_tasks.task_id
        join task_groups current_group on current_group.id = current_task.taskgroupv2_id
        where workflow_tasks.workflow_id = ${workflowId})`,
    )
    .orderBy('tasks.id')
    .execute();
