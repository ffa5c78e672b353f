/**
 * A workflow from an export. Each task of the export is looked for among the installed ones that the caller can use: same
 * package, same name, same version. What is not found is answered with the versions that are there.
 */
import type { User, WorkflowImport, WorkflowWithWarnings } from '@service/contract';

import { requireDefaultGroup } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import { compareVersions } from '../engine/pep440.ts';
import { Refusal, type Written } from '../http/index.ts';
import { preferred } from '../tasks/index.ts';
import type { Executor, OpenProject } from './store/access.ts';
import { type MatchingTask, tasksToMatch } from './store/tasks.ts';
import { appendTasks } from './store/workflow-tasks.ts';
import { insertWorkflow } from './store/workflows.ts';
import { requireMatchingTypes } from './task-access.ts';
import { newWorkflowTask } from './workflow-tasks.ts';
import { orRefused, readWorkflow } from './workflows.ts';

type Wanted = WorkflowImport['task_list'][number]['task'];

/** Clients compare it literally. */
const HAS_ERROR_DATA = '[HAS_ERROR_DATA]';

const found = (wanted: Wanted, task: MatchingTask) => ({
  outcome: 'success',
  pkg_name: wanted.pkg_name,
  version: wanted.version,
  task_name: wanted.name,
  task_id: task.id,
});

const notFound = (wanted: Wanted, alternatives: MatchingTask[]) => ({
  outcome: 'fail',
  pkg_name: wanted.pkg_name,
  version: wanted.version,
  task_name: wanted.name,
  available_tasks: alternatives
    .toSorted((one, other) => compareVersions(other.version, one.version))
    .map(({ version, active, is_core }) => ({
      version,
      older_than_target: compareVersions(version, wanted.version) < 0,
      active,
      is_core,
    })),
});

const keyOf = (task: { pkg_name: string; name: string }) => JSON.stringify([task.pkg_name, task.name]);

/** The installed task for each wanted one; when one is missing, a refusal that says so for each. */
async function matchTasks(
  db: Executor,
  user: User,
  wanted: Wanted[],
  defaultGroupId: number | undefined,
): Promise<MatchingTask[]> {
  const installed = Map.groupBy(await tasksToMatch(db, user, wanted), keyOf);
  const matches = wanted.map((task) => {
    const alternatives = installed.get(keyOf(task)) ?? [];
    const equal = alternatives.filter((other) => other.version === task.version);
    return { task, alternatives, match: equal.length === 0 ? undefined : preferred(equal, user, defaultGroupId) };
  });
  const missing = matches.some(({ match }) => match === undefined);
  if (!missing) return matches.map(({ match }) => match!);
  const data = matches.map(({ task, alternatives, match }) =>
    match ? found(task, match) : notFound(task, alternatives),
  );
  throw new Refusal(422, { detail: HAS_ERROR_DATA, data });
}

interface ImportOptions {
  defaultGroup: string | null;
  /** The template that the export comes from. */
  template_id?: number | null;
}

/** Creates the workflow, in the given transaction or in one of its own. */
export function importWorkflow(
  db: Database,
  user: User,
  opened: OpenProject,
  body: WorkflowImport,
  options: ImportOptions,
  trx?: Executor,
): Promise<Written<WorkflowWithWarnings>> {
  const work = async (inside: Executor) => {
    const { name, description, task_list } = body;
    const row = { name, description, project_id: opened.project.id, template_id: options.template_id ?? null };
    const workflow = await orRefused(insertWorkflow(inside, row));
    const defaultGroupId = await requireDefaultGroup(inside, options.defaultGroup);
    const wanted = task_list.map((item) => item.task);
    const matches = await matchTasks(inside, user, wanted, defaultGroupId);
    const rows = task_list.map((item, index) => {
      const task = matches[index]!;
      requireMatchingTypes(task.name, task.input_types, item.type_filters);
      return newWorkflowTask(task, item);
    });
    await orRefused(appendTasks(inside, user, workflow.id, rows));
    return readWorkflow(inside, user, opened.project.id, workflow.id);
  };
  return trx ? work(trx) : db.transaction().execute(work);
}
