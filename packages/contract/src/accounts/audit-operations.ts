/** Reading the audit log. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { pageQuery } from '../pagination.ts';
import { AuditPage, AuditQuery } from './audit.ts';

const common = { access: 'superuser', tag: 'administration', method: 'GET' } as const;

export const listAudit = operation({
  ...common,
  id: 'list_audit',
  path: '/admin/v2/audit/',
  summary: 'Changes of rights, accounts and other people’s things, newest first',
  description:
    'A page has 100 records unless page_size says otherwise, and at most 1000. The first 100 000 matching records are counted and can be paged through; narrow the time to see older ones, or export them.',
  query: AuditQuery.extend(pageQuery),
  paginated: true,
  answer: [200, AuditPage],
});

export const exportAudit = operation({
  ...common,
  id: 'export_audit',
  path: '/admin/v2/audit/export/',
  summary: 'The audit log as CSV, all of it or what the filters let through',
  query: AuditQuery,
  answer: [200, z.string()],
  mediaType: 'text/csv',
  file: true,
});
