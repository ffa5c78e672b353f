/** Tasks as administrators see them: who uses them, and as a file. */
import type { TaskInfo } from '@service/contract';
import { csvOf } from '@service/contract/csv';

/** Everybody in a project with a workflow that has the task, each once. */
export function usersOf({ relationships }: Pick<TaskInfo, 'relationships'>): string[] {
  const emails = relationships.flatMap(({ project_users }) => project_users.map(({ email }) => email));
  return [...new Set(emails)].sort();
}

const HEAD = ['id', 'name', 'type', 'package', 'version', 'core', 'active', 'owner', 'group', 'users', 'workflows'];

export const tasksAsCsv = (tasks: readonly TaskInfo[]): string =>
  csvOf(
    HEAD,
    tasks.map((info) => [
      info.task.id,
      info.task.name,
      info.task.type,
      info.task.pkg_name,
      info.task.version,
      info.task.is_core,
      info.task.active,
      info.task.owner,
      info.task.user_group,
      usersOf(info).length,
      info.relationships.length,
    ]),
  );
