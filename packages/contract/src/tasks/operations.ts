/** The operations on tasks, task groups and their life. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { pageOf, pageQuery } from '../pagination.ts';
import { distinct } from '../wire/maps.ts';
import { boolean, choice, datetime, id, text } from '../wire/scalars.ts';
import {
  Activity,
  ACTIVITY_ACTIONS,
  ACTIVITY_STATUSES,
  CollectCustom,
  CollectPip,
  CollectPixi,
  ORIGINS,
  ResetPip,
  ResetPixi,
  TaskGroup,
  TaskGroupAdmin,
  TaskGroupSlim,
  TaskGroupUpdate,
  TaskInfo,
} from './task-group.ts';
import { Task, TASK_TYPES, TaskCreate, TaskSlim, TaskUpdate } from './task.ts';

const UNKNOWN = { 404: 'There is no such object.' };
const ofTask = z.object({ task_id: id() });
const ofGroup = z.object({ task_group_id: id() });
const visibility = z.object({ private: boolean().default(false), user_group_id: id().optional() });

export const listTasks = operation({
  id: 'list_tasks',
  method: 'GET',
  path: '/api/v2/task/',
  access: 'reader',
  tag: 'tasks',
  summary: 'Tasks you may use, in short',
  answer: [200, z.array(TaskSlim)],
});

export const getTask = operation({
  id: 'get_task',
  method: 'GET',
  path: '/api/v2/task/{task_id}/',
  access: 'reader',
  tag: 'tasks',
  summary: 'One task',
  params: ofTask,
  answer: [200, Task],
  refusals: UNKNOWN,
});

export const createTask = operation({
  id: 'create_task',
  method: 'POST',
  path: '/api/v2/task/',
  access: 'member',
  tag: 'tasks',
  summary: 'Creates a single task',
  query: visibility,
  body: TaskCreate,
  answer: [201, Task],
  refusals: UNKNOWN,
});

export const updateTask = operation({
  id: 'update_task',
  method: 'PATCH',
  path: '/api/v2/task/{task_id}/',
  access: 'member',
  tag: 'tasks',
  summary: 'Changes a task',
  params: ofTask,
  body: TaskUpdate,
  answer: [200, Task],
  refusals: UNKNOWN,
});

export const deleteTask = operation({
  id: 'delete_task',
  method: 'DELETE',
  path: '/api/v2/task/{task_id}/',
  access: 'member',
  tag: 'tasks',
  summary: 'Not possible: tasks go with their task group',
  params: ofTask,
  answer: [204],
  refusals: { 405: 'Delete the task group instead.' },
});

export const collectPip = operation({
  id: 'collect_tasks_pip',
  method: 'POST',
  path: '/api/v2/task/collect/pip/',
  access: 'member',
  tag: 'collection',
  summary: 'Installs a package, or an uploaded wheel, and takes in its tasks',
  query: visibility,
  body: CollectPip,
  form: true,
  bodySize: 'upload',
  answer: [202, Activity],
  refusals: UNKNOWN,
});

export const collectPixi = operation({
  id: 'collect_tasks_pixi',
  method: 'POST',
  path: '/api/v2/task/collect/pixi/',
  access: 'member',
  tag: 'collection',
  summary: 'Installs an uploaded pixi project and takes in its tasks',
  query: visibility,
  body: CollectPixi,
  form: true,
  bodySize: 'upload',
  answer: [202, Activity],
  refusals: UNKNOWN,
});

export const collectCustom = operation({
  id: 'collect_tasks_custom',
  method: 'POST',
  path: '/api/v2/task/collect/custom/',
  access: 'member',
  tag: 'collection',
  summary: 'Takes in the tasks of a package that is installed already',
  query: visibility,
  body: CollectCustom,
  answer: [201, z.array(Task)],
  refusals: UNKNOWN,
});

/** `[name, groups]`. Not a tuple, whose description some tools cannot read when it refers to another schema. */
const packageWithGroups = z.array(z.union([z.string(), z.array(TaskGroupSlim)])).length(2);

export const listTaskGroups = operation({
  id: 'list_task_groups',
  method: 'GET',
  path: '/api/v2/task-group/',
  access: 'reader',
  tag: 'task groups',
  summary: 'Task groups you may use, by package',
  description: 'Of equal versions one is shown, unless `all_groups=true`.',
  query: z.object({
    only_active: boolean().default(false),
    only_owner: boolean().default(false),
    all_groups: boolean().default(false),
  }),
  answer: [200, z.array(packageWithGroups)],
  refusals: UNKNOWN,
});

export const getTaskGroup = operation({
  id: 'get_task_group',
  method: 'GET',
  path: '/api/v2/task-group/{task_group_id}/',
  access: 'reader',
  tag: 'task groups',
  summary: 'One task group with its tasks',
  params: ofGroup,
  answer: [200, TaskGroup],
  refusals: UNKNOWN,
});

export const updateTaskGroup = operation({
  id: 'update_task_group',
  method: 'PATCH',
  path: '/api/v2/task-group/{task_group_id}/',
  access: 'member',
  tag: 'task groups',
  summary: 'Shares a task group with a user group, or makes it private',
  params: ofGroup,
  body: TaskGroupUpdate,
  answer: [200, TaskGroup],
  refusals: UNKNOWN,
});

const activityFilters = {
  task_group_activity_id: id().optional(),
  taskgroupv2_id: id().optional(),
  pkg_name: text().optional(),
  status: choice(ACTIVITY_STATUSES).optional(),
  action: choice(ACTIVITY_ACTIONS).optional(),
  timestamp_started_min: datetime().optional(),
};

export const listActivities = operation({
  id: 'list_task_group_activities',
  method: 'GET',
  path: '/api/v2/task-group/activity/',
  access: 'reader',
  tag: 'task groups',
  summary: 'What was done with your task groups, newest first',
  description: 'With `log=false` the logs are left out.',
  query: z.object({ ...activityFilters, log: boolean().default(true) }),
  answer: [200, z.array(Activity)],
});

export const getActivity = operation({
  id: 'get_task_group_activity',
  method: 'GET',
  path: '/api/v2/task-group/activity/{task_group_activity_id}/',
  access: 'reader',
  tag: 'task groups',
  summary: 'One activity with its log and steps',
  params: z.object({ task_group_activity_id: id() }),
  answer: [200, Activity],
  refusals: UNKNOWN,
});

const lifecycle = (action: 'deactivate' | 'reactivate' | 'delete', admin: boolean) =>
  operation({
    id: `${admin ? 'admin_' : ''}${action}_task_group`,
    method: 'POST',
    path: `${admin ? '/admin' : '/api'}/v2/task-group/{task_group_id}/${action}/`,
    access: admin ? 'superuser' : 'member',
    tag: admin ? 'administration' : 'task groups',
    summary: {
      deactivate: 'Removes the environment, keeps the rest',
      reactivate: 'Rebuilds the environment',
      delete: 'Deletes a task group with its files',
    }[action],
    params: ofGroup,
    answer: [202, Activity],
    refusals: UNKNOWN,
  });
export const deactivateTaskGroup = lifecycle('deactivate', false);
export const reactivateTaskGroup = lifecycle('reactivate', false);
export const deleteTaskGroup = lifecycle('delete', false);
export const adminDeactivateTaskGroup = lifecycle('deactivate', true);
export const adminReactivateTaskGroup = lifecycle('reactivate', true);
export const adminDeleteTaskGroup = lifecycle('delete', true);

export const deleteTaskGroupByDelete = operation({
  id: 'delete_task_group_by_delete',
  method: 'DELETE',
  path: '/api/v2/task-group/{task_group_id}/',
  access: 'member',
  tag: 'task groups',
  summary: 'Deletes a task group with its files',
  params: ofGroup,
  answer: [202, Activity],
  refusals: UNKNOWN,
});

export const adminListTasks = operation({
  id: 'admin_list_tasks',
  method: 'GET',
  path: '/admin/v2/task/',
  access: 'superuser',
  tag: 'administration',
  summary: 'All tasks, and which workflows use them',
  query: z.object({
    id: id().optional(),
    version: text().optional(),
    name: text().optional(),
    task_type: choice(TASK_TYPES).optional(),
    category: text().optional(),
    modality: text().optional(),
    author: text().optional(),
    resource_id: id().optional(),
    owner_id: id().optional(),
    task_group: text().optional(),
    core: boolean().optional(),
    private: boolean().optional(),
    active: boolean().optional(),
    ...pageQuery,
  }),
  paginated: true,
  answer: [200, pageOf(TaskInfo)],
});

const taskIds = () =>
  z
    .array(id({ least: 0 }))
    .min(1)
    .superRefine(distinct());

const core = (what: 'make-core' | 'make-not-core') =>
  operation({
    id: `admin_${what.replaceAll('-', '_')}_tasks`,
    method: 'POST',
    path: `/admin/v2/task/${what}/`,
    access: 'superuser',
    tag: 'administration',
    summary: what === 'make-core' ? 'Marks tasks as core tasks' : 'Takes the core mark from tasks',
    body: taskIds(),
    answer: [200],
    refusals: UNKNOWN,
  });
export const makeTasksCore = core('make-core');
export const makeTasksNotCore = core('make-not-core');

const groupCore = (what: 'make-core' | 'make-not-core') =>
  operation({
    id: `admin_${what.replaceAll('-', '_')}_task_group`,
    method: 'POST',
    path: `/admin/v2/task-group/{task_group_id}/${what}/`,
    access: 'superuser',
    tag: 'administration',
    summary:
      what === 'make-core'
        ? 'Marks all tasks of a group as core tasks'
        : 'Takes the core mark from all tasks of a group',
    params: ofGroup,
    answer: [200],
    refusals: UNKNOWN,
  });
export const makeTaskGroupCore = groupCore('make-core');
export const makeTaskGroupNotCore = groupCore('make-not-core');

export const adminListTaskGroups = operation({
  id: 'admin_list_task_groups',
  method: 'GET',
  path: '/admin/v2/task-group/',
  access: 'superuser',
  tag: 'administration',
  summary: 'All task groups',
  query: z.object({
    task_group_id: id().optional(),
    user_id: id().optional(),
    user_group_id: id().optional(),
    private: boolean().optional(),
    active: boolean().optional(),
    pkg_name: text().optional(),
    origin: choice(ORIGINS).optional(),
    timestamp_last_used_min: datetime().optional(),
    timestamp_last_used_max: datetime().optional(),
    resource_id: id().optional(),
    in_use: boolean().optional(),
    ...pageQuery,
  }),
  paginated: true,
  answer: [200, pageOf(TaskGroupAdmin)],
});

export const adminGetTaskGroup = operation({
  id: 'admin_get_task_group',
  method: 'GET',
  path: '/admin/v2/task-group/{task_group_id}/',
  access: 'superuser',
  tag: 'administration',
  summary: 'One task group',
  params: ofGroup,
  answer: [200, TaskGroupAdmin],
  refusals: UNKNOWN,
});

export const adminUpdateTaskGroup = operation({
  id: 'admin_update_task_group',
  method: 'PATCH',
  path: '/admin/v2/task-group/{task_group_id}/',
  access: 'superuser',
  tag: 'administration',
  summary: 'Shares a task group with a user group, or makes it private',
  params: ofGroup,
  body: TaskGroupUpdate,
  answer: [200, TaskGroupAdmin],
  refusals: UNKNOWN,
});

export const adminListActivities = operation({
  id: 'admin_list_task_group_activities',
  method: 'GET',
  path: '/admin/v2/task-group/activity/',
  access: 'superuser',
  tag: 'administration',
  summary: 'What was done with task groups, newest first',
  query: z.object({ ...activityFilters, user_id: id().optional(), log: boolean().default(true), ...pageQuery }),
  paginated: true,
  answer: [200, pageOf(Activity)],
});

export const resetTaskGroupPip = operation({
  id: 'admin_reset_task_group_pip',
  method: 'POST',
  path: '/admin/v2/task-group/{task_group_id}/reset/pip/',
  access: 'superuser',
  tag: 'administration',
  summary: 'Builds the environment of a pip task group anew',
  description: 'Pins that are left out stay as they are; an empty object removes them.',
  params: ofGroup,
  body: ResetPip,
  answer: [202, Activity],
  refusals: UNKNOWN,
});

export const resetTaskGroupPixi = operation({
  id: 'admin_reset_task_group_pixi',
  method: 'POST',
  path: '/admin/v2/task-group/{task_group_id}/reset/pixi/',
  access: 'superuser',
  tag: 'administration',
  summary: 'Builds the environment of a pixi task group anew',
  params: ofGroup,
  body: ResetPixi,
  answer: [202, Activity],
  refusals: UNKNOWN,
});
