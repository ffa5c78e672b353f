/** What an import did, for administrators to look at. */
import { accounts, type ImportOverview } from '@service/contract';

import type { Database } from '../db/index.ts';
import type { Api } from '../http/index.ts';
import { isChange } from './rules.ts';

export function importRoutes(api: Api, { db }: { db: Database }): void {
  api.serve(accounts.listImports, async (): Promise<ImportOverview[]> => {
    const rows = await db.selectFrom('imports').select('overview').orderBy('id').execute();
    return rows.map(({ overview: { rules, ...report } }) => ({
      ...report,
      rules: rules.map((found) => ({ ...found, changes: isChange(found.rule) })),
    }));
  });
}
