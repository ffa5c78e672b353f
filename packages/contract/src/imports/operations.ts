/** Reading what an import did. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { ImportOverview } from './report.ts';

export const listImports = operation({
  id: 'list_imports',
  method: 'GET',
  path: '/admin/v2/import/',
  access: 'superuser',
  tag: 'administration',
  summary: 'What servicectl import-db took over from an existing deployment',
  description:
    'An empty list where nothing was imported. Of every rule the first 20 rows; the whole report is in the file that --report wrote, and in the table imports.',
  answer: [200, z.array(ImportOverview)],
});
