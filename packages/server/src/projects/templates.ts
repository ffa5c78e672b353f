/** Templates: exported workflows that a person keeps under a name and version, alone or for one of their groups. */
import {
  readValue,
  type Template,
  type TemplateCreate,
  type TemplateImport,
  type TemplateUpdate,
  type User,
  type WorkflowExport,
  type WorkflowFromTemplate,
  WorkflowImport,
  type WorkflowWithWarnings,
} from '@service/contract';

import { changes, ifChanged, record } from '../audit/index.ts';
import { brokenConstraint, type Database } from '../db/index.ts';
import { requireMembership } from '../accounts/index.ts';
import { type Acting, refuse, type Written } from '../http/index.ts';
import { VERSION } from '../version.ts';
import { openProject } from './access.ts';
import type { Executor } from './store/access.ts';
import * as store from './store/templates.ts';
import { findWorkflowById } from './store/workflows.ts';
import { importWorkflow } from './workflow-import.ts';
import { exportWorkflow } from './workflows.ts';

const NO_TEMPLATE = 'There is no template with this id.';
const NO_GROUP = 'There is no group with this id.';
const NO_TASKS = 'There are no tasks in this workflow. A template needs at least one.';

async function find(db: Executor, user: User, templateId: number) {
  const found = await store.findTemplate(db, user.id, templateId);
  if (!found) throw refuse(404, NO_TEMPLATE);
  return found;
}

export async function readTemplate(db: Executor, user: User, templateId: number): Promise<Template> {
  const { template, isReadable } = await find(db, user, templateId);
  if (!isReadable) {
    throw refuse(403, `This template is not shared with you. Ask ${template.user_email} to share it with a group.`);
  }
  return template;
}

async function findOwn(db: Executor, user: User, templateId: number): Promise<Template> {
  const { template, isOwner } = await find(db, user, templateId);
  if (!isOwner) throw refuse(403, `Only the owner, ${template.user_email}, can change this template.`);
  return template;
}

const ofTemplate = ({ id, name, version }: Template): ['template', number, string] => [
  'template',
  id,
  `${name} ${version}`,
];

async function checkGroup(db: Executor, user: User, groupId: number | null | undefined): Promise<void> {
  if (groupId != null) await requireMembership(db, user, groupId);
}

async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const constraint = brokenConstraint(error);
    if (constraint === 'workflow_templates_unique') {
      throw refuse(422, 'You have a template with this name and version. Choose another version.');
    }
    // a group that was deleted meanwhile
    if (constraint === 'workflow_templates_user_group_id_fkey') throw refuse(404, NO_GROUP);
    throw error;
  }
}

type Given = TemplateCreate & { data: WorkflowExport };

async function insert(db: Database, user: User, groupId: number | undefined, given: Given): Promise<Template> {
  const { name, version, description, data } = given;
  const owned = { user_id: user.id, user_group_id: groupId ?? null, fractal_server_version: VERSION };
  const id = await explained(store.insertTemplate(db, { name, version, description, data, ...owned }));
  return (await find(db, user, id)).template;
}

export async function createTemplate(
  db: Database,
  user: User,
  { workflow_id, user_group_id }: { workflow_id: number; user_group_id?: number | undefined },
  body: TemplateCreate,
): Promise<Template> {
  const workflow = await findWorkflowById(db, workflow_id);
  if (!workflow) throw refuse(404, 'There is no workflow with this id.');
  await openProject(db, user, workflow.project_id, 'r');
  const data = await exportWorkflow(db, workflow_id);
  if (data.task_list.length === 0) throw refuse(422, NO_TASKS);
  await checkGroup(db, user, user_group_id);
  return insert(db, user, user_group_id, { ...body, data });
}

/** The tasks need not be installed here: they are looked for when the template is used. */
export async function importTemplate(
  db: Database,
  user: User,
  groupId: number | undefined,
  body: TemplateImport,
): Promise<Template> {
  await checkGroup(db, user, groupId);
  if (body.data.task_list.length === 0) throw refuse(422, NO_TASKS);
  return insert(db, user, groupId, body);
}

/** What a template holds, with another name and other versions where the caller asks for them. */
function workflowOf({ data }: Template, { name, override_versions }: WorkflowFromTemplate): WorkflowImport {
  const outside = [...override_versions.keys()].find((index) => index < 0 || index >= data.task_list.length);
  if (outside !== undefined) {
    throw refuse(422, `There is no task ${outside} in this template; its last one is ${data.task_list.length - 1}.`);
  }
  const task_list = data.task_list.map(({ task, ...item }, index) => ({
    ...item,
    task: { ...task, version: override_versions.get(index) ?? task.version },
  }));
  const read = readValue(WorkflowImport, { ...data, name: name ?? data.name, task_list }, 'data');
  if ('value' in read) return read.value;
  const [first] = read.entries;
  throw refuse(422, `This template holds a workflow that cannot be imported (${first!.loc.join('.')}: ${first!.msg})`);
}

export const workflowFromTemplate = (
  db: Database,
  user: User,
  { project_id, template_id }: { project_id: number; template_id: number },
  body: WorkflowFromTemplate,
  defaultGroup: string | null,
): Promise<Written<WorkflowWithWarnings>> =>
  db.transaction().execute(async (trx) => {
    const workflow = workflowOf(await readTemplate(trx, user, template_id), body);
    const opened = await openProject(trx, user, project_id, 'rw');
    // before the import: the template stays until the workflow that names it is there
    if (!(await store.rememberUse(trx, template_id))) throw refuse(404, NO_TEMPLATE);
    return importWorkflow(db, user, opened, workflow, { defaultGroup, template_id }, trx);
  });

export async function updateTemplate(
  db: Database,
  by: Acting,
  templateId: number,
  change: TemplateUpdate,
): Promise<Template> {
  const before = await findOwn(db, by.user, templateId);
  await checkGroup(db, by.user, change.user_group_id);
  if (Object.keys(change).length === 0) return before;
  const work = db.transaction().execute(async (trx) => {
    await store.updateTemplate(trx, templateId, change);
    const { template } = await find(trx, by.user, templateId);
    const details = changes(before, template, ['user_group_id']);
    await record(trx, by, ifChanged('template.share', ofTemplate(before), details));
    return template;
  });
  return explained(work);
}

export async function deleteTemplate(db: Database, by: Acting, templateId: number): Promise<void> {
  const template = await findOwn(db, by.user, templateId);
  await db.transaction().execute(async (trx) => {
    await store.deleteTemplate(trx, templateId);
    await record(trx, by, { action: 'template.delete', object: ofTemplate(template) });
  });
}

export async function exportTemplate(db: Database, user: User, templateId: number) {
  const { name, version, description, data } = await readTemplate(db, user, templateId);
  return { name, version, description, data };
}
