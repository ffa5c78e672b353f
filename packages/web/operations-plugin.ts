/**
 * Gives the client method and path of every operation, so that nothing is written twice, without the schemas, which no
 * browser needs.
 */
import type { Plugin } from 'vite';

import { accounts, jobs, type Operation, projects, tasks } from '@service/contract';

const ID = 'virtual:operations';
const RESOLVED = `\0${ID}`;

function operationsOf(areas: Record<string, object>): Record<string, [string, string]> {
  return Object.fromEntries(
    Object.entries(areas).flatMap(([area, operations]) =>
      Object.entries(operations as Record<string, Operation>).map(([name, { method, path }]) => [
        `${area}.${name}`,
        [method, path],
      ]),
    ),
  );
}

export const operations = (): Plugin => ({
  name: 'operations',
  resolveId: (id) => (id === ID ? RESOLVED : undefined),
  load: (id) =>
    id === RESOLVED
      ? `export default ${JSON.stringify(operationsOf({ accounts, jobs, projects, tasks }))};`
      : undefined,
});
