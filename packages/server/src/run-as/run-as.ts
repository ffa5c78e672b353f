/**
 * Whose account runs what people bring: `await runAs.host('tasks', 'jobs')`.
 *
 * A resource names an account (`account` in its `tasks_python_config`), else the setting SERVICE_TASKS_ACCOUNT does, else it is
 * that of the service. An account is looked at before its first use, and again until the service can work with it.
 */
import type { Resource } from '@service/contract';

import {
  type AccountHost,
  accountHost,
  findAccount,
  isRoot,
  maySudo,
  requireGroup,
  requireNotDatabase,
  requireSudo,
} from '../hosts/index.ts';

type ResourceAccount = Pick<Resource, 'type' | 'tasks_python_config'>;

/** Jobs share folders with the service; what is collected is written by the account alone. */
type Purpose = 'jobs' | 'collections';

export interface RunAs {
  /** The account that the resource or the setting names; undefined for the one of the service, or of an SSH profile. */
  nameFor(resource: ResourceAccount): string | undefined;
  /** Fails with `AccountProblem` where the service can't work with the account. */
  host(name: string, purpose: Purpose): Promise<AccountHost>;
  /** The account of a person, where sudo lets the service run anything as them; undefined where it does not. */
  person(username: string): Promise<AccountHost | undefined>;
}

interface Options {
  /** SERVICE_TASKS_ACCOUNT. */
  setting: string | null;
  dataDir: string;
  /** Called before an account is used for the first time. */
  onUse(): void;
}

/** How long it is remembered whether sudo allows something. */
const KEPT_MS = 60_000;

export function createRunAs({ setting, dataDir, onUse }: Options): RunAs {
  const known = new Map<string, AccountHost>();
  const people = new Map<string, { until: number; host: Promise<AccountHost | undefined> }>();

  async function look(name: string, purpose: Purpose): Promise<AccountHost> {
    const account = await findAccount(name);
    await requireNotDatabase(account, dataDir);
    await requireSudo(account);
    if (purpose === 'jobs') await requireGroup(account);
    return accountHost(account);
  }

  async function lookAtPerson(username: string): Promise<AccountHost | undefined> {
    const account = await findAccount(username).catch(() => undefined);
    if (!account || (!isRoot() && !(await maySudo(username)))) return undefined;
    return accountHost(account);
  }

  return {
    nameFor({ type, tasks_python_config }) {
      if (type === 'slurm_ssh') return undefined;
      return (tasks_python_config['account'] as string | null | undefined) ?? setting ?? undefined;
    },
    async host(name, purpose) {
      const key = `${purpose} ${name}`;
      const found = known.get(key) ?? (await look(name, purpose));
      if (known.size === 0) onUse();
      known.set(key, found);
      return found;
    },
    person(username) {
      const kept = people.get(username);
      if (kept && Date.now() < kept.until) return kept.host;
      const host = lookAtPerson(username);
      people.set(username, { until: Date.now() + KEPT_MS, host });
      return host;
    },
  };
}
