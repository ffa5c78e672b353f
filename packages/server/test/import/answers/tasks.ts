/** Tasks, task groups and their activities, as an existing server tells of them. */
import { compareVersions } from '../../../src/engine/pep440.ts';
import { adminRefusalOf, anyOrder, exactly, page, type Read, refusalOf, refused } from './expected.ts';
import {
  byId,
  type Caller,
  DEFAULT_GROUP,
  emailOf,
  groupIdsOf,
  latestFirst,
  type Old,
  pick,
  resourceOf,
  type Row,
  sorted,
} from './old.ts';

const object = (value: unknown) => exactly(value ?? {});

export const taskAnswer = (task: Row) => ({
  ...task,
  meta_parallel: object(task['meta_parallel']),
  meta_non_parallel: object(task['meta_non_parallel']),
  args_schema_parallel: exactly(task['args_schema_parallel']),
  args_schema_non_parallel: exactly(task['args_schema_non_parallel']),
  input_types: object(task['input_types']),
  output_types: object(task['output_types']),
});

const slimTask = (task: Row) => ({
  ...pick(
    task,
    'id',
    'name',
    'version',
    'is_core',
    'category',
    'modality',
    'authors',
    'tags',
    'docs_info',
    'docs_link',
  ),
  input_types: object(task['input_types']),
});

const tasksOf = (old: Old, group: Row) => old.tasks.filter((task) => task['taskgroupv2_id'] === group['id']);

const isInUse = (old: Old, group: Row) =>
  tasksOf(old, group).some(({ id }) => old.workflowTasks.some((one) => one['task_id'] === id));

const groupAnswer = (
  old: Old,
  { user_id, resource_id: _resource, env_info: _info, ...group }: Row,
  form = taskAnswer,
) => ({
  ...group,
  task_list: anyOrder(tasksOf(old, group).map(form)),
  user_email: emailOf(old, user_id as number),
  pinned_package_versions_pre: object(group['pinned_package_versions_pre']),
  pinned_package_versions_post: object(group['pinned_package_versions_post']),
  in_use: isInUse(old, group),
});

const adminGroupAnswer = (old: Old, group: Row) => ({
  ...groupAnswer(old, group),
  ...pick(group, 'user_id', 'resource_id'),
});

const activityAnswer = ({ fractal_server_version: _version, ...activity }: Row) => activity;

const sharesGroup = (old: Old, caller: Caller, group: Row) =>
  groupIdsOf(old, caller).includes(group['user_group_id'] as number);

const isOnResource = (old: Old, caller: Caller, group: Row) => group['resource_id'] === resourceOf(old, caller);

/** Whether somebody may look at a task group: of others, only those of one's own resource. */
export const mayReadGroup = (old: Old, caller: Caller, group: Row): boolean =>
  group['user_id'] === caller['id'] || (sharesGroup(old, caller, group) && isOnResource(old, caller, group));

export const isListed = (old: Old, caller: Caller, group: Row): boolean =>
  isOnResource(old, caller, group) && (group['user_id'] === caller['id'] || sharesGroup(old, caller, group));

/** Of several groups with one version: one's own, that of everybody, that of the group joined first. */
function chosen(old: Old, caller: Caller, groups: Row[]): Row {
  const joined = (group: Row) =>
    old.memberships.find((one) => one['group_id'] === group['user_group_id'] && one['user_id'] === caller['id'])?.[
      'timestamp_created'
    ] as string;
  const isDefault = (group: Row) => byId(old.groups, group['user_group_id'])?.['name'] === DEFAULT_GROUP;
  return sorted(
    groups,
    (group) => group['user_id'] !== caller['id'],
    (group) => !isDefault(group),
    (group) => joined(group) ?? '',
  )[0]!;
}

function packages(old: Old, caller: Caller, groups: Row[]) {
  const names = [...new Set(groups.map((group) => group['pkg_name'] as string))].sort();
  return names.map((name) => {
    const own = groups.filter((group) => group['pkg_name'] === name);
    const versions = [...new Set(own.map((group) => group['version'] as string))].sort((a, b) => compareVersions(b, a));
    const picked = versions.map((version) =>
      chosen(
        old,
        caller,
        own.filter((group) => group['version'] === version),
      ),
    );
    return [name, picked.map((group) => groupAnswer(old, group, slimTask as typeof taskAnswer))];
  });
}

function ownReads(old: Old, caller: Caller): Read[] {
  const groups = old.taskGroups.filter((group) => isListed(old, caller, group));
  const ids = groups.map((group) => group['id'] as number);
  const read = (path: string, refusal: number | undefined, answer: () => unknown): Read =>
    refusal === undefined ? { path, status: 200, answer: answer() } : { path, status: refusal };
  const activities = old.activities.filter((one) => one['user_id'] === caller['id']);
  return [
    {
      path: '/api/v2/task/',
      status: 200,
      answer: old.tasks.filter((task) => ids.includes(task['taskgroupv2_id'] as number)).map(slimTask),
    },
    ...old.tasks.map((task) => {
      const group = byId(old.taskGroups, task['taskgroupv2_id'])!;
      const may = mayReadGroup(old, caller, group) && isOnResource(old, caller, group);
      return read(`/api/v2/task/${task['id']}/`, may ? undefined : 403, () => taskAnswer(task));
    }),
    { path: '/api/v2/task-group/', status: 200, answer: packages(old, caller, groups) },
    {
      path: '/api/v2/task-group/?only_active=true&only_owner=true',
      status: 200,
      answer: packages(
        old,
        caller,
        groups.filter((group) => group['active'] && group['user_id'] === caller['id']),
      ),
    },
    ...old.taskGroups.map((group) =>
      read(`/api/v2/task-group/${group['id']}/`, mayReadGroup(old, caller, group) ? undefined : 403, () =>
        groupAnswer(old, group),
      ),
    ),
    { path: '/api/v2/task-group/activity/', status: 200, answer: anyOrder(activities.map(activityAnswer)) },
    ...old.activities.map((one) =>
      read(`/api/v2/task-group/activity/${one['id']}/`, activities.includes(one) ? undefined : 403, () =>
        activityAnswer(one),
      ),
    ),
    { path: '/api/v2/task/999999/', status: 404 },
    { path: '/api/v2/task-group/999999/', status: 404 },
  ];
}

function relationships(old: Old, task: Row) {
  return old.workflowTasks
    .filter((one) => one['task_id'] === task['id'])
    .map((one) => {
      const workflow = byId(old.workflows, one['workflow_id'])!;
      const project = byId(old.projects, workflow['project_id'])!;
      const owner = old.links.find((link) => link['project_id'] === project['id'] && link['is_owner'])!;
      return {
        workflow_id: workflow['id'] as number,
        workflow_name: workflow['name'] as string,
        project_id: project['id'] as number,
        project_name: project['name'] as string,
        project_users: [{ id: owner['user_id'] as number, email: emailOf(old, owner['user_id'] as number) }],
      };
    });
}

function adminTask(old: Old, task: Row) {
  const group = byId(old.taskGroups, task['taskgroupv2_id'])!;
  return {
    task: {
      ...pick(task, 'id', 'name', 'type', 'is_core', 'taskgroupv2_id', 'command_non_parallel', 'command_parallel'),
      ...pick(task, 'version'),
      ...pick(group, 'pkg_name', 'active'),
      owner: emailOf(old, group['user_id'] as number),
      user_group: (byId(old.groups, group['user_group_id'])?.['name'] ?? null) as string | null,
    },
    relationships: anyOrder(relationships(old, task)),
  };
}

function adminReads(old: Old): Read[] {
  const ok = (path: string, answer: unknown): Read => ({ path, status: 200, answer });
  const groups = (path: string, is: (group: Row) => boolean) =>
    ok(`/admin/v2/task-group/?${path}`, page(old.taskGroups.filter(is).map((group) => adminGroupAnswer(old, group))));
  const tasks = (path: string, is: (task: Row, group: Row) => boolean) =>
    ok(
      `/admin/v2/task/?${path}`,
      page(
        old.tasks
          .filter((task) => is(task, byId(old.taskGroups, task['taskgroupv2_id'])!))
          .map((task) => adminTask(old, task)),
      ),
    );
  return [
    tasks('', () => true),
    tasks('core=true', (task) => task['is_core'] as boolean),
    tasks('private=true', (_, group) => group['user_group_id'] === null),
    tasks('active=false', (_, group) => !group['active']),
    tasks('task_type=compound', (task) => task['type'] === 'compound'),
    groups('', () => true),
    groups('in_use=true', (group) => isInUse(old, group)),
    groups('private=true', (group) => group['user_group_id'] === null),
    groups('origin=pypi', (group) => group['origin'] === 'pypi'),
    ...old.taskGroups.map((group) => ok(`/admin/v2/task-group/${group['id']}/`, adminGroupAnswer(old, group))),
    ok(
      '/admin/v2/task-group/activity/',
      page(latestFirst(old.activities, (one) => one['timestamp_started'] as string).map(activityAnswer)),
    ),
  ];
}

export function taskReads(old: Old, caller: Caller): Read[] {
  const own = refusalOf(caller);
  const admin = adminRefusalOf(caller);
  return [
    ...(own === undefined ? ownReads(old, caller) : refused(['/api/v2/task/', '/api/v2/task-group/'], own)),
    ...(admin === undefined ? adminReads(old) : refused(['/admin/v2/task/', '/admin/v2/task-group/'], admin)),
  ];
}
