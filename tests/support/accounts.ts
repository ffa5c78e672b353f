/**
 * Throw-away accounts of this machine, and a deployment whose tasks one of them runs: as root starts the service, or as an
 * ordinary account does with a sudo rule.
 *
 *     const deployment = await openDeploymentAs('sudo', { database: 'given' });
 *     await deployment.close();
 *
 * It needs root, and a machine or container that is there for tests.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { SCRIPTED } from '../../packages/server/test/support/lab.ts';
import { type Deployment, type DeploymentOptions, openDeployment, type Site } from './deployment.ts';
import { exchanged, runBlock, SUDO } from './manual-commands.ts';
import { blockOf } from './manual-texts.ts';
import { program, remove, ROOT, startCommand, startService, temporaryFolder } from './processes.ts';

export interface TestAccount {
  name: string;
  uid: number;
  gid: number;
}

export type How = 'root' | 'sudo';

const idOf = (flag: '-u' | '-g', name: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));

export function addAccount(): TestAccount {
  const name = `svct${randomBytes(4).toString('hex')}`;
  execFileSync('useradd', ['--create-home', '--comment', 'service test', '--shell', '/bin/sh', name], {
    stdio: 'pipe',
  });
  return { name, uid: idOf('-u', name), gid: idOf('-g', name) };
}

/** The processes of an account. */
const processesOfAccount = ({ uid }: TestAccount): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return statSync(`/proc/${pid}`).uid === uid;
      } catch {
        return false;
      }
    })
    .map(Number);

/** With all that it still runs. */
export function removeAccount(account: TestAccount): void {
  for (const pid of processesOfAccount(account)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended meanwhile
    }
  }
  spawnSync('userdel', ['--force', '--remove', account.name]);
}

/** As the account: whether the command ends well. */
export const can = ({ uid, gid }: TestAccount, ...command: string[]): boolean =>
  spawnSync('setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...command]).status === 0;

/** This checkout, where every account can read it and none can change it. */
function mountCheckout(): { checkout: string; unmount(): void } {
  const checkout = mkdtempSync('/run/service-checkout-');
  execFileSync('mount', ['--bind', '-o', 'ro', ROOT, checkout]);
  return {
    checkout,
    unmount() {
      execFileSync('umount', ['--lazy', checkout]);
      // never what is in it: it may still be this checkout
      rmdirSync(checkout);
    },
  };
}

/** The service as an ordinary account. */
const startAs =
  ({ name }: TestAccount, checkout: string): Site['start'] =>
  (args, environment) =>
    startCommand(
      'setpriv',
      [
        ...[`--reuid=${name}`, `--regid=${name}`, '--init-groups', '--inh-caps=-all'],
        ...[join(checkout, 'node_modules/.bin/node'), program('start', environment), ...args],
      ],
      {
        folder: checkout,
        environment: {
          ...{ HOME: `/home/${name}`, USER: name, LOGNAME: name, PATH: '/usr/local/bin:/usr/bin:/bin' },
          SERVICE_WEB_CLIENT: 'false',
          ...environment,
        },
      },
    );

export interface AccountSite {
  site: Site;
  settings: Record<string, string>;
  /** Who runs the tasks. */
  account: TestAccount;
  /** Who runs the service. */
  service: TestAccount;
  /** Where the service runs from; readable for its account. */
  checkout: string;
  close(): void;
}

/** Everything is set up as docs/operate/security.md says. */
export function openAccountSite(how: How): AccountSite {
  const account = addAccount();
  const isSudo = how === 'sudo';
  const service = isSudo ? addAccount() : { name: 'root', uid: 0, gid: 0 };
  const folder = temporaryFolder('account');
  const [data, root] = [join(folder, 'data'), join(folder, 'lab')];
  // elsewhere: processes that name the folder of the deployment are those of jobs
  const mounted = isSudo ? mountCheckout() : undefined;
  const rule = `/etc/sudoers.d/${service.name}`;
  mkdirSync(root);
  // the lab is made by who runs the tests: images are the account's, jobs the service's
  chmodSync(folder, 0o755);
  chmodSync(root, 0o777);
  const script = join(folder, 'scripted_task.py');
  copyFileSync(SCRIPTED, script);
  chmodSync(script, 0o644);
  if (isSudo) {
    mkdirSync(data);
    chownSync(data, service.uid, service.gid);
    const replace = { tasks: account.name, service: service.name };
    const group = runBlock(blockOf('docs/operate/security.md', 'usermod'), {
      folder,
      replace,
      standIns: { sudo: SUDO },
    });
    if (group.code !== 0) throw new Error(group.err);
    writeFileSync(rule, exchanged(blockOf('docs/operate/security.md', 'NOPASSWD'), replace), { mode: 0o440 });
  }
  return {
    account,
    service,
    checkout: mounted?.checkout ?? ROOT,
    settings: { SERVICE_TASKS_ACCOUNT: account.name },
    site: {
      folder,
      data,
      root,
      start: mounted ? startAs(service, mounted.checkout) : (args, environment) => startService(args, { environment }),
      runningJobs: join(data, 'running-jobs'),
      lab: {
        script,
        resource: {
          tasks_python_config: JSON.stringify({ default_version: '3.11', versions: { '3.11': '/usr/bin/python3' } }),
        },
        prepare: ({ jobs, zarr }) => {
          chownSync(jobs, service.uid, service.gid);
          chownSync(zarr, account.uid, account.gid);
        },
      },
    },
    close() {
      rmSync(rule, { force: true });
      removeAccount(account);
      if (isSudo) removeAccount(service);
      mounted?.unmount();
      remove(folder);
    },
  };
}

/** Who runs the tasks: the service itself, or another account of a service that is started by root or by an ordinary account. */
export type Runner = 'the service' | How;

export async function openDeploymentAs(runner: Runner, options: Omit<DeploymentOptions, 'site'>): Promise<Deployment> {
  if (runner === 'the service') return openDeployment(options);
  const place = openAccountSite(runner);
  const settings = { ...place.settings, ...options.settings };
  const deployment = await openDeployment({ ...options, settings, site: place.site });
  return {
    ...deployment,
    async close() {
      await deployment.close();
      place.close();
    },
  };
}
