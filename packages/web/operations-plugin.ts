/**
 * Gives the client what it needs of the contract, so that nothing is written twice: method and path of every operation.
 * Schemas stay behind; no browser needs them.
 */
import type { Plugin } from 'vite';

import { accounts, jobs, type Operation, projects, tasks } from '@service/contract';

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

const NAME = 'virtual:operations';

export const operations = (): Plugin => ({
  name: 'operations',
  resolveId: (id) => (id === NAME ? `\0${id}` : undefined),
  load: (id) =>
    id === `\0${NAME}`
      ? `export default ${JSON.stringify(operationsOf({ accounts, jobs, projects, tasks }))};`
      : undefined,
});
