/**
 * Gives the client what it needs of the contract, so that nothing is written twice: method and path of every operation,
 * and the schemas of resources, whose form is made from them. All other schemas stay behind; no browser needs them.
 */
import type { Plugin } from 'vite';

import { accounts, jobs, openapiDocument, type Operation, projects, tasks } from '@service/contract';

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

type Schema = Record<string, unknown>;

const KINDS = { local: 'Local', slurm_sudo: 'SlurmSudo', slurm_ssh: 'SlurmSSH' };

/** One schema for each kind of resource, complete in itself, without what this kind cannot have. */
function resourceSchemas(): Record<string, Schema> {
  const document = openapiDocument([accounts.createResource], { title: '', version: '' });
  const { schemas } = document['components'] as { schemas: Record<string, Schema> };
  const $defs = JSON.parse(JSON.stringify(schemas).replaceAll('#/components/schemas/', '#/$defs/')) as typeof schemas;
  return Object.fromEntries(
    Object.entries(KINDS).map(([kind, name]) => {
      const { properties, ...schema } = $defs[`ValidResource${name}Request`]!;
      const possible = Object.entries(properties as Record<string, Schema>).filter(([, { type }]) => type !== 'null');
      return [kind, { ...schema, properties: Object.fromEntries(possible), $defs }];
    }),
  );
}

const MODULES: Record<string, () => unknown> = {
  'virtual:operations': () => operationsOf({ accounts, jobs, projects, tasks }),
  'virtual:resource-schemas': resourceSchemas,
};

export const operations = (): Plugin => ({
  name: 'operations',
  resolveId: (id) => (id in MODULES ? `\0${id}` : undefined),
  load: (id) => (id.slice(1) in MODULES ? `export default ${JSON.stringify(MODULES[id.slice(1)]!())};` : undefined),
});
