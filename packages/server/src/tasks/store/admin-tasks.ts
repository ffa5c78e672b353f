/** The SQL of the administrators' list of tasks, with the workflows that use them. */
import { sql } from 'kysely';

import type { PageRequest, TaskInfo, TaskType } from '@service/contract';

import { contains, pageOf, rowsOf } from '../../db/index.ts';
import type { Executor } from './tasks.ts';

export interface TaskFilter {
  id?: number | undefined;
  version?: string | undefined;
  name?: string | undefined;
  task_type?: TaskType | undefined;
  category?: string | undefined;
  modality?: string | undefined;
  author?: string | undefined;
  resource_id?: number | undefined;
  owner_id?: number | undefined;
  task_group?: string | undefined;
  core?: boolean | undefined;
  private?: boolean | undefined;
  active?: boolean | undefined;
}

function filtered(db: Executor, filter: TaskFilter) {
  let query = db
    .selectFrom('tasks')
    .innerJoin('task_groups', 'task_groups.id', 'tasks.taskgroupv2_id')
    .innerJoin('users as owner', 'owner.id', 'task_groups.user_id')
    .leftJoin('user_groups', 'user_groups.id', 'task_groups.user_group_id');
  if (filter.id !== undefined) query = query.where('tasks.id', '=', filter.id);
  if (filter.version !== undefined) query = query.where('tasks.version', '=', filter.version);
  if (filter.task_type !== undefined) query = query.where('tasks.type', '=', filter.task_type);
  const parts = [
    ['tasks.name', filter.name],
    ['tasks.authors', filter.author],
    ['task_groups.pkg_name', filter.task_group],
  ] as const;
  for (const [column, text] of parts) if (text !== undefined) query = query.where(column, 'ilike', contains(text));
  for (const column of ['category', 'modality'] as const) {
    const text = filter[column];
    if (text !== undefined) query = query.where(sql<boolean>`lower(${sql.ref(`tasks.${column}`)}) = lower(${text})`);
  }
  if (filter.resource_id !== undefined) query = query.where('task_groups.resource_id', '=', filter.resource_id);
  if (filter.owner_id !== undefined) query = query.where('task_groups.user_id', '=', filter.owner_id);
  if (filter.core !== undefined) query = query.where('tasks.is_core', '=', filter.core);
  if (filter.private !== undefined)
    query = query.where('task_groups.user_group_id', filter.private ? 'is' : 'is not', null);
  if (filter.active !== undefined) query = query.where('task_groups.active', '=', filter.active);
  return query;
}

type Relationship = TaskInfo['relationships'][number];

/** By task, one for each place in a workflow. */
async function relationshipsOf(db: Executor, taskIds: number[]): Promise<Map<number, Relationship[]>> {
  const rows = await db
    .selectFrom('workflow_tasks')
    .innerJoin('workflows', 'workflows.id', 'workflow_tasks.workflow_id')
    .innerJoin('projects', 'projects.id', 'workflows.project_id')
    .innerJoin('users', 'users.id', 'projects.owner_id')
    .select([
      'workflow_tasks.task_id',
      'workflows.id as workflow_id',
      'workflows.name as workflow_name',
      'projects.id as project_id',
      'projects.name as project_name',
      'users.id as owner_id',
      'users.email as owner_email',
    ])
    .where('workflow_tasks.task_id', '=', sql<number>`any(${taskIds}::int[])`)
    .orderBy('workflows.id')
    .orderBy('workflow_tasks.order')
    .execute();
  const byTask = Map.groupBy(rows, (row) => row.task_id);
  return new Map(
    [...byTask].map(([taskId, uses]) => [
      taskId,
      uses.map(({ workflow_id, workflow_name, project_id, project_name, owner_id, owner_email }) => ({
        ...{ workflow_id, workflow_name, project_id, project_name },
        project_users: [{ id: owner_id, email: owner_email }],
      })),
    ]),
  );
}

export async function pageOfTasks(db: Executor, filter: TaskFilter, page: PageRequest) {
  const query = filtered(db, filter);
  const { count } = await query.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const { limit, offset } = rowsOf(page);
  const tasks = await query
    .select([
      'tasks.id',
      'tasks.name',
      'tasks.type',
      'tasks.is_core',
      'tasks.taskgroupv2_id',
      'tasks.command_non_parallel',
      'tasks.command_parallel',
      'tasks.version',
      'task_groups.pkg_name',
      'task_groups.active',
      'owner.email as owner',
      'user_groups.name as user_group',
    ])
    .orderBy('tasks.id')
    .limit(limit)
    .offset(offset)
    .execute();
  const relationships = await relationshipsOf(
    db,
    tasks.map((task) => task.id),
  );
  const items: TaskInfo[] = tasks.map((task) => ({ task, relationships: relationships.get(task.id) ?? [] }));
  return pageOf(page, count, items);
}
