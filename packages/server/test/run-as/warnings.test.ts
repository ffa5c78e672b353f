/** What administrators are told where people's code runs as the account of the service. */
import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';

import { accountWarnings, createRunAs } from '../../src/run-as/index.ts';

const resource = (id: number, name: string, type: 'local' | 'slurm_sudo' | 'slurm_ssh', account?: string) => ({
  id,
  name,
  type,
  tasks_python_config: account === undefined ? {} : { account },
});
const runAs = createRunAs({ setting: null, dataDir: '/nowhere', onUse: () => undefined });

describe('warnings about accounts', () => {
  it('are one for each type of resource, with the names of those that it is about', () => {
    const found = accountWarnings(
      [
        resource(1, 'Bench', 'local'),
        resource(2, 'Attic', 'local'),
        resource(3, 'Cluster', 'slurm_sudo'),
        resource(4, 'Far away', 'slurm_ssh'),
        resource(5, 'Careful', 'local', 'tasks'),
        resource(6, 'Cellar', 'local'),
      ],
      runAs,
    );
    expect(found.map(({ resource_ids }) => resource_ids)).toEqual([[1, 2, 6], [3]]);
    expect(found[0]!.text).toMatch(
      `Tasks and collections on "Bench", "Attic", and "Cellar" run as ${userInfo().username}, the account of the service.`,
    );
    expect(found[1]!.text).toContain('On "Cluster", packages are collected as');
  });

  it('are none where every resource has an account', () => {
    expect(accountWarnings([resource(1, 'Careful', 'local', 'tasks'), resource(2, 'SSH', 'slurm_ssh')], runAs)).toEqual(
      [],
    );
  });
});
