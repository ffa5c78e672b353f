/**
 * Accounts of this machine that run what people bring, and whether the service can work with them: `await findAccount('tasks')`.
 *
 * Started by root, the service becomes them; started by anybody else, it needs a sudo rule, and to be in their group so that
 * both reach the folders that they share.
 */
import { userInfo } from 'node:os';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';

import { ServiceError } from '@service/contract/errors';

import { capture } from './capture.ts';
import { localHost } from './local.ts';
import { unlessGone } from './reading.ts';
import { ACCOUNT_NAME, sudoSaid } from './sudo.ts';

export interface Account {
  name: string;
  uid: number;
  gid: number;
  home: string;
  shell: string;
}

/** The service cannot run anything as an account; the message says what to change, for an administrator. */
export class AccountProblem extends ServiceError {
  readonly kind = 'account-problem';
  readonly account: string;

  constructor(account: string, message: string) {
    super(message);
    this.account = account;
  }
}

export const isRoot = () => process.getuid?.() === 0;
export const ownName = () => userInfo().username;

const LONGEST_MS = 20_000;

/** By name or number, wherever the machine knows its accounts from; undefined when there is none. */
export async function lookUpAccount(key: string): Promise<Account | undefined> {
  const { stdout } = await capture(localHost, ['getent', 'passwd', key], { timeoutMs: LONGEST_MS });
  const [name = '', , uid, gid, , home = '', shell = ''] = stdout.toString('utf8').split('\n')[0]!.split(':');
  if (!/^\d+$/.test(uid ?? '') || !/^\d+$/.test(gid ?? '')) return undefined;
  return { name, uid: Number(uid), gid: Number(gid), home: home || '/', shell: shell || '/bin/sh' };
}

async function groupName(gid: number): Promise<string> {
  const { stdout } = await capture(localHost, ['getent', 'group', String(gid)], { timeoutMs: LONGEST_MS });
  return stdout.toString('utf8').split(':')[0]?.trim() || String(gid);
}

/** How every command begins that goes through sudo. */
export const CLEAN_SESSION = ['env', '-i', 'setsid', '--wait', '/bin/sh', '-c'] as const;

/** Whether sudo lets the service run any command as a person. Asked for as a list: a command that is refused may alert the site. */
export async function maySudo(name: string): Promise<boolean> {
  const command = ['sudo', '--non-interactive', '-u', name, '-l', '--', ...CLEAN_SESSION, ':'] as const;
  try {
    return (await capture(localHost, command, { timeoutMs: LONGEST_MS })).code === 0;
  } catch {
    return false;
  }
}

/** What sudo says where it does not let the service run commands as an account. */
async function sudoProblem(name: string): Promise<string | undefined> {
  const command = ['sudo', '--non-interactive', '-u', name, '--', ...CLEAN_SESSION, ':'] as const;
  try {
    const { code, stderr } = await capture(localHost, command, { env: { LC_ALL: 'C.UTF-8' }, timeoutMs: LONGEST_MS });
    return code === 0 ? undefined : (sudoSaid(stderr) ?? stderr.trim());
  } catch (error) {
    return (error as Error).message;
  }
}

export async function findAccount(name: string): Promise<Account> {
  const problem = (message: string) => new AccountProblem(name, message);
  if (!ACCOUNT_NAME.test(name)) throw problem(`${JSON.stringify(name)} is not the name of an account.`);
  const account = await lookUpAccount(name);
  if (!account) {
    throw problem(
      `There is no account "${name}" on this machine. Create it as root: useradd --system --create-home ${name}`,
    );
  }
  if (account.uid === 0) throw problem(`"${name}" is root. Name an account that owns nothing else.`);
  if (account.uid === process.getuid?.()) {
    throw problem(`"${name}" is the account of the service itself. Name another one that owns nothing else.`);
  }
  return account;
}

/** The account whose files the database's are must not run what people bring. */
export async function requireNotDatabase({ name, uid }: Account, dataDir: string): Promise<void> {
  const postgres = await unlessGone(stat(join(dataDir, 'postgres')));
  if (postgres?.uid !== uid) return;
  throw new AccountProblem(name, `"${name}" runs the database of the service. Name an account that owns nothing else.`);
}

/** What an ordinary account needs to run commands as another one, checked by doing it. */
export async function requireSudo({ name }: Account): Promise<void> {
  if (isRoot()) return;
  const said = await sudoProblem(name);
  if (said === undefined) return;
  throw new AccountProblem(
    name,
    `The service can't run commands as ${name} (${said}). ` +
      `Add this line with "visudo -f /etc/sudoers.d/service": ${ownName()} ALL=(${name}) NOPASSWD: ALL`,
  );
}

/** Folders that both write belong to the group of the account. */
export async function requireGroup({ name, gid }: Account): Promise<void> {
  if (isRoot() || process.getgid?.() === gid || process.getgroups?.().includes(gid)) return;
  throw new AccountProblem(
    name,
    `The service is not in the group of ${name}. Run as root, then restart the service: ` +
      `usermod --append --groups ${await groupName(gid)} ${ownName()}`,
  );
}
