/** The operations on workflows, their tasks and templates. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { pageQuery } from '../pagination.ts';
import { boolean, id, integer, smallInteger, text } from '../wire/scalars.ts';
import {
  Template,
  TemplateCreate,
  TemplateExport,
  TemplateImport,
  TemplatePage,
  TemplateUpdate,
  TypeFiltersFlow,
  VersionCandidates,
  Workflow,
  WorkflowCreate,
  WorkflowExport,
  WorkflowFromTemplate,
  WorkflowImport,
  WorkflowInList,
  WorkflowTask,
  WorkflowTaskCreate,
  WorkflowTaskReplace,
  WorkflowTaskUpdate,
  WorkflowUpdate,
  WorkflowWithWarnings,
} from './workflow.ts';

const inProject = z.object({ project_id: id() });
const ofWorkflow = z.object({ project_id: id(), workflow_id: id() });
const ofWorkflowTask = z.object({ project_id: id(), workflow_id: id(), workflow_task_id: id() });
const ofTemplate = z.object({ template_id: id() });
const UNKNOWN = { 404: 'There is no such object.' };
const CHANGED = { ...UNKNOWN, 409: 'Someone changed it in the meantime: the revision is not the stored one.' };
const all = '/api/v2/project/{project_id}/workflow/';
const one = `${all}{workflow_id}/`;
const tasks = `${one}wftask/`;
const templates = '/api/v2/workflow-template/';

export const listWorkflows = operation({
  id: 'list_workflows',
  method: 'GET',
  path: all,
  access: 'reader',
  tag: 'workflows',
  summary: 'The workflows of a project',
  description: 'With `slim=true` each has `num_tasks` instead of `task_list`.',
  params: inProject,
  query: z.object({ slim: boolean().default(false) }),
  answer: [200, z.array(WorkflowInList)],
  refusals: UNKNOWN,
});

export const createWorkflow = operation({
  id: 'create_workflow',
  method: 'POST',
  path: all,
  access: 'member',
  tag: 'workflows',
  summary: 'Creates an empty workflow',
  params: inProject,
  body: WorkflowCreate,
  answer: [201, Workflow],
  refusals: UNKNOWN,
});

export const importWorkflow = operation({
  id: 'import_workflow',
  method: 'POST',
  path: `${all}import/`,
  access: 'member',
  tag: 'workflows',
  summary: 'Creates a workflow from an export',
  params: inProject,
  body: WorkflowImport,
  answer: [201, WorkflowWithWarnings],
  refusals: UNKNOWN,
});

export const importWorkflowFromTemplate = operation({
  id: 'import_workflow_from_template',
  method: 'POST',
  path: `${all}import-from-template/`,
  access: 'member',
  tag: 'workflows',
  summary: 'Creates a workflow from a template',
  params: inProject,
  query: z.object({ template_id: id() }),
  body: WorkflowFromTemplate,
  answer: [201, WorkflowWithWarnings],
  refusals: UNKNOWN,
});

export const getWorkflow = operation({
  id: 'get_workflow',
  method: 'GET',
  path: one,
  access: 'reader',
  tag: 'workflows',
  summary: 'One workflow with its tasks',
  params: ofWorkflow,
  answer: [200, WorkflowWithWarnings],
  refusals: UNKNOWN,
});

export const updateWorkflow = operation({
  id: 'update_workflow',
  method: 'PATCH',
  path: one,
  access: 'member',
  tag: 'workflows',
  summary: 'Renames, describes or reorders a workflow',
  params: ofWorkflow,
  body: WorkflowUpdate,
  answer: [200, WorkflowWithWarnings],
  refusals: UNKNOWN,
});

export const deleteWorkflow = operation({
  id: 'delete_workflow',
  method: 'DELETE',
  path: one,
  access: 'member',
  tag: 'workflows',
  summary: 'Deletes a workflow',
  params: ofWorkflow,
  answer: [204],
  refusals: UNKNOWN,
});

const star = (what: 'star' | 'unstar') =>
  operation({
    id: `${what}_workflow`,
    method: 'POST',
    path: `${one}${what}/`,
    access: 'member',
    tag: 'workflows',
    summary: what === 'star' ? 'Stars a workflow for everybody in the project' : 'Removes the star',
    params: ofWorkflow,
    answer: [200],
    refusals: UNKNOWN,
  });
export const starWorkflow = star('star');
export const unstarWorkflow = star('unstar');

export const exportWorkflow = operation({
  id: 'export_workflow',
  file: true,
  method: 'GET',
  path: `${one}export/`,
  access: 'reader',
  tag: 'workflows',
  summary: 'A workflow as import takes it',
  params: ofWorkflow,
  answer: [200, WorkflowExport],
  refusals: UNKNOWN,
});

export const typeFiltersFlow = operation({
  id: 'type_filters_flow',
  method: 'GET',
  path: `${one}type-filters-flow/`,
  access: 'reader',
  tag: 'workflows',
  summary: 'Which types of images reach each task',
  params: ofWorkflow,
  answer: [200, TypeFiltersFlow],
  refusals: UNKNOWN,
});

export const versionUpdateCandidates = operation({
  id: 'version_update_candidates',
  method: 'GET',
  path: `${one}version-update-candidates/`,
  access: 'reader',
  tag: 'workflows',
  summary: 'Newer versions of each task',
  params: ofWorkflow,
  answer: [200, VersionCandidates],
  refusals: UNKNOWN,
});

export const createWorkflowTasks = operation({
  id: 'create_workflow_tasks',
  method: 'POST',
  path: tasks,
  access: 'member',
  tag: 'workflow tasks',
  summary: 'Inserts tasks into a workflow, all or none',
  params: ofWorkflow,
  query: z.object({ order: integer({ least: 0 }).optional() }),
  body: z.array(WorkflowTaskCreate),
  answer: [201, z.array(WorkflowTask)],
  refusals: UNKNOWN,
});

export const replaceTask = operation({
  id: 'replace_workflow_task',
  method: 'POST',
  path: `${tasks}replace-task/`,
  access: 'member',
  tag: 'workflow tasks',
  summary: 'Puts another task, or another version of it, in the place of one',
  params: ofWorkflow,
  query: z.object({ workflow_task_id: id(), task_id: id(), revision: integer().optional() }),
  body: WorkflowTaskReplace,
  answer: [201, WorkflowTask],
  refusals: CHANGED,
});

export const getWorkflowTask = operation({
  id: 'get_workflow_task',
  method: 'GET',
  path: `${tasks}{workflow_task_id}/`,
  access: 'reader',
  tag: 'workflow tasks',
  summary: 'One task of a workflow',
  params: ofWorkflowTask,
  answer: [200, WorkflowTask],
  refusals: UNKNOWN,
});

export const updateWorkflowTask = operation({
  id: 'update_workflow_task',
  method: 'PATCH',
  path: `${tasks}{workflow_task_id}/`,
  access: 'member',
  tag: 'workflow tasks',
  summary: 'Changes arguments, configuration or filters of a task',
  params: ofWorkflowTask,
  query: z.object({ revision: integer().optional() }),
  body: WorkflowTaskUpdate,
  answer: [200, WorkflowTask],
  refusals: CHANGED,
});

export const deleteWorkflowTask = operation({
  id: 'delete_workflow_task',
  method: 'DELETE',
  path: `${tasks}{workflow_task_id}/`,
  access: 'member',
  tag: 'workflow tasks',
  summary: 'Removes a task from a workflow',
  params: ofWorkflowTask,
  answer: [204],
  refusals: UNKNOWN,
});

export const listTemplates = operation({
  id: 'list_workflow_templates',
  method: 'GET',
  path: templates,
  access: 'reader',
  tag: 'templates',
  summary: 'Templates you may use, by owner and name',
  query: z.object({
    template_id: id().optional(),
    is_owner: boolean().default(false),
    user_email: text().optional(),
    name: text().optional(),
    version: smallInteger().optional(),
    ...pageQuery,
  }),
  paginated: true,
  answer: [200, TemplatePage],
});

export const createTemplate = operation({
  id: 'create_workflow_template',
  method: 'POST',
  path: templates,
  access: 'member',
  tag: 'templates',
  summary: 'Makes a template from a workflow',
  query: z.object({ workflow_id: id(), user_group_id: id().optional() }),
  body: TemplateCreate,
  answer: [201, Template],
  refusals: UNKNOWN,
});

export const importTemplate = operation({
  id: 'import_workflow_template',
  method: 'POST',
  path: `${templates}import/`,
  access: 'member',
  tag: 'templates',
  summary: 'Creates a template from an export',
  query: z.object({ user_group_id: id().optional() }),
  body: TemplateImport,
  answer: [201, Template],
  refusals: UNKNOWN,
});

export const getTemplate = operation({
  id: 'get_workflow_template',
  method: 'GET',
  path: `${templates}{template_id}/`,
  access: 'reader',
  tag: 'templates',
  summary: 'One template',
  params: ofTemplate,
  answer: [200, Template],
  refusals: UNKNOWN,
});

export const updateTemplate = operation({
  id: 'update_workflow_template',
  method: 'PATCH',
  path: `${templates}{template_id}/`,
  access: 'member',
  tag: 'templates',
  summary: 'Describes a template or shares it with a group',
  params: ofTemplate,
  body: TemplateUpdate,
  answer: [200, Template],
  refusals: UNKNOWN,
});

export const deleteTemplate = operation({
  id: 'delete_workflow_template',
  method: 'DELETE',
  path: `${templates}{template_id}/`,
  access: 'member',
  tag: 'templates',
  summary: 'Deletes a template; workflows made from it stay',
  params: ofTemplate,
  answer: [204],
  refusals: UNKNOWN,
});

export const exportTemplate = operation({
  id: 'export_workflow_template',
  file: true,
  method: 'GET',
  path: `${templates}{template_id}/export/`,
  access: 'reader',
  tag: 'templates',
  summary: 'A template as import takes it',
  params: ofTemplate,
  answer: [200, TemplateExport],
  refusals: UNKNOWN,
});
