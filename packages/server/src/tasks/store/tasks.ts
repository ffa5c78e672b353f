/** The SQL of tasks: those a person may use, single ones, and new ones. */
import { type ExpressionBuilder, sql, type Transaction, type Updateable } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';

import type { JsonObject, Task, TaskSlim, TaskType, User } from '@service/contract';

import type { Database, Tables } from '../../db/index.ts';
import { isOffered, isReadable, onOwnResource } from './visibility.ts';

export type Executor = Database | Transaction<Tables>;

const SLIM_COLUMNS = [
  'tasks.id',
  'tasks.name',
  'tasks.version',
  'tasks.is_core',
  'tasks.category',
  'tasks.modality',
  'tasks.authors',
  'tasks.tags',
  'tasks.input_types',
  'tasks.docs_info',
  'tasks.docs_link',
  'tasks.type',
] as const;

const COLUMNS = [
  ...SLIM_COLUMNS,
  'tasks.command_non_parallel',
  'tasks.command_parallel',
  'tasks.meta_parallel',
  'tasks.meta_non_parallel',
  'tasks.args_schema_non_parallel',
  'tasks.args_schema_parallel',
  'tasks.args_schema_version',
  'tasks.output_types',
  'tasks.taskgroupv2_id',
] as const;

/** What a person can use and run, oldest first. */
export const listTasks = (db: Executor, user: User): Promise<TaskSlim[]> =>
  db
    .selectFrom('tasks')
    .innerJoin('task_groups', 'task_groups.id', 'tasks.taskgroupv2_id')
    .select(SLIM_COLUMNS)
    .where((eb) => isOffered(eb, user))
    .orderBy('tasks.id')
    .execute();

const ofGroups = (groupIds: number[]) => sql<number>`any(${groupIds}::int[])`;

/** By task group, in the order in which they were added. */
export async function tasksOfGroups(db: Executor, groupIds: number[]): Promise<Map<number, Task[]>> {
  const tasks = await db
    .selectFrom('tasks')
    .select(COLUMNS)
    .where('tasks.taskgroupv2_id', '=', ofGroups(groupIds))
    .orderBy('tasks.id')
    .execute();
  return Map.groupBy(tasks, (task) => task.taskgroupv2_id);
}

/** The tasks of a group as lists of groups show them. */
export const slimTaskList = (eb: ExpressionBuilder<Tables, 'task_groups'>) =>
  jsonArrayFrom(
    eb
      .selectFrom('tasks')
      .select(SLIM_COLUMNS)
      .whereRef('tasks.taskgroupv2_id', '=', 'task_groups.id')
      .orderBy('tasks.id'),
  );

/** A task, and what the caller may do with it. */
export async function findTask(db: Executor, user: User, taskId: number) {
  const row = await db
    .selectFrom('tasks')
    .innerJoin('task_groups', 'task_groups.id', 'tasks.taskgroupv2_id')
    .innerJoin('users', 'users.id', 'task_groups.user_id')
    .select(COLUMNS)
    .select((eb) => [
      'task_groups.origin',
      'task_groups.user_id',
      'users.email as owner_email',
      isReadable(eb, user).as('readable'),
      onOwnResource(eb, user).as('on_own_resource'),
    ])
    .where('tasks.id', '=', taskId)
    .executeTakeFirst();
  if (!row) return undefined;
  const { origin, user_id, owner_email, readable, on_own_resource, ...task } = row;
  return { task, origin, owner_email, isOwner: user_id === user.id, readable, on_own_resource };
}

export interface NewTask {
  name: string;
  type: TaskType;
  version: string;
  command_non_parallel: string | null;
  command_parallel: string | null;
  meta_non_parallel: JsonObject;
  meta_parallel: JsonObject;
  args_schema_non_parallel: JsonObject | null;
  args_schema_parallel: JsonObject | null;
  args_schema_version: string | null;
  docs_info: string | null;
  docs_link: string | null;
  input_types: Record<string, boolean>;
  output_types: Record<string, boolean>;
  category: string | null;
  modality: string | null;
  authors: string | null;
  tags: string[];
}

/** Adds tasks to a task group, in order. They go over as one JSON text, however many they are. */
export async function insertTasks(db: Executor, groupId: number, tasks: NewTask[]): Promise<Task[]> {
  if (tasks.length === 0) return [];
  await sql`
    insert into tasks (taskgroupv2_id, name, type, version, command_non_parallel, command_parallel, meta_non_parallel,
      meta_parallel, args_schema_non_parallel, args_schema_parallel, args_schema_version, docs_info, docs_link,
      input_types, output_types, category, modality, authors, tags)
    select ${groupId}::int, item.*
    from json_array_elements(${JSON.stringify(tasks)}::json) with ordinality as row (value, position),
      json_to_record(row.value) as item (name text, type text, version text, command_non_parallel text,
        command_parallel text, meta_non_parallel json, meta_parallel json, args_schema_non_parallel json,
        args_schema_parallel json, args_schema_version text, docs_info text, docs_link text, input_types jsonb,
        output_types jsonb, category text, modality text, authors text, tags text[])
    order by row.position`.execute(db);
  return (await tasksOfGroups(db, [groupId])).get(groupId) ?? [];
}

type TaskChanges = Partial<Pick<NewTask, (typeof CHANGING)[number]>>;
const CHANGING = [
  'command_non_parallel',
  'command_parallel',
  'input_types',
  'output_types',
  'category',
  'modality',
  'authors',
  'tags',
] as const satisfies (keyof NewTask)[];

/** Changes what is given. Undefined when the task is gone. */
export async function updateTask(db: Executor, taskId: number, changes: TaskChanges): Promise<Task | undefined> {
  const columns = CHANGING.filter((name) => changes[name] !== undefined).map((name) => {
    const isJson = name === 'input_types' || name === 'output_types';
    return [name, isJson ? JSON.stringify(changes[name]) : changes[name]];
  });
  if (columns.length === 0) {
    return db.selectFrom('tasks').select(COLUMNS).where('id', '=', taskId).executeTakeFirst();
  }
  return db
    .updateTable('tasks')
    .set(Object.fromEntries(columns) as Updateable<Tables['tasks']>)
    .where('id', '=', taskId)
    .returning(COLUMNS)
    .executeTakeFirst();
}

/** Who runs the task is shown whose commands these are. */
export async function noteNewCommands(db: Executor, taskId: number, userId: number): Promise<void> {
  await db
    .updateTable('tasks')
    .set({ commands_changed_by: userId, commands_changed_at: sql<string>`now()` })
    .where('id', '=', taskId)
    .execute();
}
