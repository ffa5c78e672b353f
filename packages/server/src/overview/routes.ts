/** The overview on the wire. */
import { accounts } from '@service/contract';

import type { Api } from '../http/index.ts';
import { createOverview, type OverviewParts } from './overview.ts';

export function overviewRoutes(api: Api, parts: OverviewParts): void {
  api.serve(accounts.adminOverview, createOverview(parts));
}
