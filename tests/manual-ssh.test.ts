/** The keys of the page about Slurm, made and tried as it says: with accounts and an sshd of their own. Needs root, as those do. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, expect, it, onTestFinished } from 'vitest';

import { freePort } from '../packages/server/src/db/free-port.ts';
import { until } from '../packages/server/test/support/lab.ts';
import { addAccount, removeAccount } from './support/accounts.ts';
import { runBlock } from './support/manual-commands.ts';
import { blockOf } from './support/manual-texts.ts';
import { newFolder } from './support/mounted.ts';
import { startCommand } from './support/processes.ts';

const [service, alice] = [addAccount(), addAccount()];
// no password, but not closed either
execFileSync('usermod', ['--password', '*', alice.name]);
afterAll(() => [service, alice].forEach(removeAccount));

/** Becomes another account, with the stand-ins of this one. */
const SUDO = `
  if [ "$1" != -u ]; then exec "$@"; fi
  account=$2; shift 2
  exec setpriv --reuid="$account" --regid="$account" --init-groups env HOME="/home/$account" "$@"`;

it('a key for a person is made, put on the cluster, and logs in from there on', async () => {
  const folder = newFolder('manual-ssh');
  chmodSync(folder, 0o755);
  const home = join(folder, 'service');
  const data = join(home, 'data');
  mkdirSync(data, { recursive: true });
  chmodSync(data, 0o700);
  chownSync(data, service.uid, service.gid);

  const port = await freePort();
  const [hostKey, ownKey, config, slurm] = ['host_key', 'own_key', 'sshd', 'slurm.conf'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  for (const key of [hostKey, ownKey]) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  mkdirSync('/run/sshd', { recursive: true });
  // without one, not even a version is told
  writeFileSync(
    slurm,
    'ClusterName=manual\nSlurmctldHost=localhost\nNodeName=localhost\nPartitionName=all Nodes=ALL\n',
  );
  const lines = [
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${hostKey}`,
    'PidFile none',
    // the person has a key of their own already
    `AuthorizedKeysFile .ssh/authorized_keys ${ownKey}.pub`,
    'StrictModes no',
    'PasswordAuthentication no',
    'UsePAM no',
    `SetEnv SLURM_CONF=${slurm}`,
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const sshd = startCommand('/usr/sbin/sshd', ['-D', '-e', '-f', config]);
  onTestFinished(async () => {
    sshd.process.kill('SIGTERM');
    await sshd.ended;
  });
  await sshd.said(/Server listening/);

  // login.example.org is this sshd
  const place = [
    '-o HostName=127.0.0.1',
    `-o Port=${port}`,
    '-o HostKeyAlias=login.example.org',
    '-F none',
    '-o BatchMode=yes',
  ].join(' ');
  const ssh = `exec /usr/bin/ssh ${place}`;
  const asPerson = `${ssh} -i ${ownKey} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "$@"`;
  const standIns = {
    sudo: SUDO,
    'ssh-keyscan': `/usr/bin/ssh-keyscan -p ${port} -t ed25519 127.0.0.1 2>/dev/null | sed 's/^[^ ]*/login.example.org/'`,
  };
  const accounts = { '-u service': `-u ${service.name}`, 'alice@': `${alice.name}@`, '/srv/service': home };
  const made = runBlock(blockOf('docs/operate/slurm.md', 'ssh-keygen'), {
    folder,
    replace: { ...accounts, '-o service': `-o ${service.name}` },
    standIns: { ...standIns, ssh: asPerson },
  });
  expect([made.code, made.err]).toEqual([0, '']);
  const key = join(home, 'keys/alice');
  expect([statSync(key).uid, statSync(key).mode & 0o777]).toEqual([service.uid, 0o600]);
  expect(statSync(join(data, 'known_hosts')).uid).toBe(service.uid);
  const [kind, text] = readFileSync(`${hostKey}.pub`, 'utf8').split(' ');
  expect(readFileSync(join(data, 'known_hosts'), 'utf8')).toBe(`login.example.org ${kind} ${text}\n`);
  const authorized = `/home/${alice.name}/.ssh/authorized_keys`;
  expect(readFileSync(authorized, 'utf8')).toBe(readFileSync(`${key}.pub`, 'utf8'));

  const check = () =>
    runBlock(blockOf('docs/operate/slurm.md', 'sbatch --version'), {
      folder,
      replace: accounts,
      standIns: { ...standIns, ssh: `${ssh} "$@"` },
    });
  expect(check()).toMatchObject({ code: 0, out: expect.stringMatching(/^slurm[^ ]* \d+\./) as string });

  // as the page restricts it: from another address alone, it is refused
  const [, restriction] = /`(from="[^"]+",restrict) ssh-ed25519 …`/.exec(
    readFileSync('docs/operate/slurm.md', 'utf8'),
  )!;
  const allow = (address: string) =>
    writeFileSync(authorized, `${restriction!.replace('192.0.2.10', address)} ${readFileSync(`${key}.pub`, 'utf8')}`);
  allow('192.0.2.10');
  expect(check()).toMatchObject({ code: 255, err: expect.stringContaining('Permission denied') as string });
  allow('127.0.0.1');
  await until('the key to be let in', () => check().code === 0);
});
