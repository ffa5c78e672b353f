/** Workflows and their tasks on the wire. */
import { projects } from '@service/contract';

import type { Database } from '../../db/index.ts';
import type { Api } from '../../http/index.ts';
import { openProject } from '../access.ts';
import * as replacing from '../replace-task.ts';
import { importWorkflow } from '../workflow-import.ts';
import * as tasks from '../workflow-tasks.ts';
import * as workflows from '../workflows.ts';

export interface WorkflowParts {
  db: Database;
  /** The name of the group that everybody is in, if there is one. */
  defaultGroup: string | null;
}

export function workflowRoutes(api: Api, { db, defaultGroup }: WorkflowParts): void {
  api.serve(projects.listWorkflows, ({ user, params, query }) =>
    workflows.listWorkflows(db, user, params.project_id, query.slim),
  );
  api.serve(projects.createWorkflow, ({ user, params, body }) =>
    workflows.createWorkflow(db, user, params.project_id, body),
  );
  api.serve(projects.importWorkflow, async ({ user, params, body }) => {
    const opened = await openProject(db, user, params.project_id, 'rw');
    return importWorkflow(db, user, opened, body, { defaultGroup });
  });
  api.serve(projects.getWorkflow, ({ user, params }) =>
    workflows.readWorkflow(db, user, params.project_id, params.workflow_id),
  );
  api.serve(projects.updateWorkflow, ({ user, params, body }) =>
    workflows.updateWorkflow(db, user, params.project_id, params.workflow_id, body),
  );
  api.serve(projects.deleteWorkflow, ({ by, params }) =>
    workflows.deleteWorkflow(db, by, params.project_id, params.workflow_id),
  );
  api.serve(projects.starWorkflow, ({ user, params }) =>
    workflows.starWorkflow(db, user, params.project_id, params.workflow_id, true),
  );
  api.serve(projects.unstarWorkflow, ({ user, params }) =>
    workflows.starWorkflow(db, user, params.project_id, params.workflow_id, false),
  );
  api.serve(projects.exportWorkflow, async ({ user, params }) => {
    await workflows.openWorkflow(db, user, params.project_id, params.workflow_id, 'r');
    return workflows.exportWorkflow(db, params.workflow_id);
  });
  api.serve(projects.typeFiltersFlow, ({ user, params }) =>
    workflows.typeFiltersFlow(db, user, params.project_id, params.workflow_id),
  );
  api.serve(projects.versionUpdateCandidates, ({ user, params }) =>
    replacing.versionCandidates(db, user, params.project_id, params.workflow_id),
  );
  workflowTaskRoutes(api, db);
}

function workflowTaskRoutes(api: Api, db: Database): void {
  api.serve(projects.createWorkflowTasks, ({ user, params, query, body }) =>
    tasks.insertTasks(db, user, params, body, query.order),
  );
  api.serve(projects.replaceTask, ({ user, params, query, body }) =>
    replacing.replaceTask(
      db,
      user,
      { ...params, workflow_task_id: query.workflow_task_id },
      { task_id: query.task_id, args: body, revision: query.revision },
    ),
  );
  api.serve(projects.getWorkflowTask, ({ user, params }) => tasks.readTask(db, user, params));
  api.serve(projects.updateWorkflowTask, ({ user, params, query, body }) =>
    tasks.updateTask(db, user, params, body, query.revision),
  );
  api.serve(projects.deleteWorkflowTask, ({ user, params }) => tasks.deleteTask(db, user, params));
}
