/** What the account of the tasks puts into folders that it shares with the service leads the service nowhere. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { accountHost, findAccount, localHost } from '../packages/server/src/hosts/index.ts';
import { writeBatch } from '../packages/server/src/runners/batch.ts';
import { createLocalRunner } from '../packages/server/src/runners/index.ts';
import { smallBatch } from '../packages/server/test/runners/batch.ts';
import { until } from '../packages/server/test/support/until.ts';
import { type AccountSite, addAccount, can, openAccountSite, removeAccount } from './support/accounts.ts';
import { remove, temporaryFolder } from './support/processes.ts';

describe('a batch that is run as an account', () => {
  const account = addAccount();
  const root = temporaryFolder('account-batch');
  chmodSync(root, 0o711);
  afterAll(() => {
    removeAccount(account);
    remove(root);
  });

  const made = async (name: string) => {
    const folder = join(root, name);
    mkdirSync(folder, { mode: 0o755 });
    const host = accountHost(await findAccount(account.name));
    return { host, batch: smallBatch(folder) };
  };

  it('is written once: what the account removes or links there is left alone', async () => {
    const { host, batch } = await made('written');
    await writeBatch(batch, host);
    const victim = join(root, 'victim');
    writeFileSync(victim, 'of the service', { mode: 0o600 });
    for (const name of ['units.jsonl', 'journal.jsonl']) {
      expect(can(account, 'ln', '-sf', victim, join(batch.folder, name))).toBe(true);
    }
    expect(can(account, 'rm', '-f', join(batch.folder, 'batch.json'))).toBe(true);
    await writeBatch(batch, host);
    const { mode, uid, gid } = statSync(victim);
    expect([readFileSync(victim, 'utf8'), mode & 0o777, uid, gid]).toEqual(['of the service', 0o600, 0, 0]);
    expect(existsSync(join(batch.folder, 'batch.json'))).toBe(false);
  });

  it('is ended, whatever the account has removed there', async () => {
    const { host, batch } = await made('ended');
    const pidFile = join(batch.folder, 'pid');
    const command = ['/bin/sh', '-c', `echo $$ >${pidFile}; exec sleep 600`];
    mkdirSync(batch.taskFolder);
    chmodSync(batch.taskFolder, 0o777);
    const runner = createLocalRunner({ host: localHost, slots: 1 }).with('python3', host);
    const leaving = new AbortController();
    const following = { onRecords: () => undefined, stop: new AbortController().signal, leave: leaving.signal };
    const running = runner.run({ ...batch, command }, following);
    const pid = await until('the unit', () => existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8')));
    expect(statSync(`/proc/${pid}`).uid).toBe(account.uid);
    leaving.abort();
    expect(await running).toBe('left');
    expect(can(account, 'rm', '-f', join(batch.folder, 'batch.json'))).toBe(true);
    await runner.end(join(batch.folder, '..'));
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
});

describe('a folder that the account makes for the service, through sudo', () => {
  const place: AccountSite = openAccountSite('sudo');
  afterAll(() => place.close());

  const parent = join(place.site.data, 'jobs');

  /** As the service: what it says. */
  function makeOwn(path: string): string {
    const hosts = JSON.stringify(join(place.checkout, 'packages/server/src/hosts/index.ts'));
    const program = `
      const { accountHost, findAccount } = await import(${hosts});
      const host = accountHost(await findAccount(${JSON.stringify(place.account.name)}));
      await host.makeOwn(${JSON.stringify(path)}, 0o2770);
      console.log('made');`;
    const words = [`--reuid=${place.service.name}`, `--regid=${place.service.name}`, '--init-groups'];
    const node = [join(place.checkout, 'node_modules/.bin/node'), '--input-type=module', '-e', program];
    const { stdout, stderr } = spawnSync('setpriv', [...words, '--inh-caps=-all', ...node], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: `/home/${place.service.name}` },
      cwd: '/',
    });
    return stdout.trim() || stderr;
  }

  it('is none that the account has put in its place', async () => {
    mkdirSync(parent);
    spawnSync('chown', [`${place.service.name}:`, parent]);
    expect(makeOwn(join(parent, 'honest'))).toBe('made');
    const { uid, gid } = place.account;
    expect(lstatSync(join(parent, 'honest'))).toMatchObject({ uid, gid, mode: 0o042770 });

    // who is first cannot be said: the account tries until it has been
    const outcomes: string[] = [];
    for (let turn = 0; turn < 20 && !outcomes.some((said) => said !== 'made'); turn++) {
      const path = join(parent, `job-${turn}`);
      const attack = `while ! ln -s /etc '${path}.new/made' 2>/dev/null; do :; done`;
      const attacker = spawn('setpriv', [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', 'sh', '-c', attack]);
      const ended = new Promise((resolve) => attacker.once('exit', resolve));
      outcomes.push(makeOwn(path));
      attacker.kill('SIGKILL');
      await ended;
      expect(existsSync(path) && lstatSync(path).isSymbolicLink()).toBe(false);
    }
    expect(outcomes.at(-1)).toContain('it has put something else in the place of the folder');
  });
});
