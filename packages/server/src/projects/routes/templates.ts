/** Workflow templates on the wire. */
import { projects as operations } from '@service/contract';

import type { Api } from '../../http/index.ts';
import { pageOfTemplates } from '../store/templates.ts';
import * as templates from '../templates.ts';
import type { ProjectParts } from './projects.ts';

export function templateRoutes(api: Api, { db, defaultGroup }: ProjectParts): void {
  api.serve(operations.listTemplates, ({ user, query: { page, page_size, ...filter } }) =>
    pageOfTemplates(db, user.id, filter, { page, page_size }),
  );
  api.serve(operations.createTemplate, ({ user, query, body }) => templates.createTemplate(db, user, query, body));
  api.serve(operations.importTemplate, ({ user, query, body }) =>
    templates.importTemplate(db, user, query.user_group_id, body),
  );
  api.serve(operations.getTemplate, ({ user, params }) => templates.readTemplate(db, user, params.template_id));
  api.serve(operations.updateTemplate, ({ by, params, body }) =>
    templates.updateTemplate(db, by, params.template_id, body),
  );
  api.serve(operations.deleteTemplate, ({ by, params }) => templates.deleteTemplate(db, by, params.template_id));
  api.serve(operations.exportTemplate, ({ user, params }) => templates.exportTemplate(db, user, params.template_id));
  api.serve(operations.importWorkflowFromTemplate, ({ user, params, query, body }) =>
    templates.workflowFromTemplate(db, user, { ...params, ...query }, body, defaultGroup),
  );
}
