/** Other accounts of the machine find nothing in the data folder but what is for them. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';

import { remove, type Running, startService, temporaryFolder } from './support/processes.ts';

const READY = /answers at (http:\/\/\S+)/;
const SHARED = ['jobs', 'tasks', 'projects', 'demo'];
const folder = temporaryFolder('folder');
chmodSync(folder, 0o755);
afterAll(() => remove(folder));

const started: Running[] = [];
afterEach(async () => {
  for (const service of started.splice(0)) {
    service.process.kill('SIGTERM');
    await service.ended;
  }
});

async function start(data: string, environment: Record<string, string> = {}): Promise<void> {
  const service = startService(['--port', '0', '--data-dir', data, '--no-web'], { environment });
  started.push(service);
  await service.said(READY);
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const closed = (data: string) => readdirSync(data).filter((name) => !SHARED.includes(name));

/** Whether an account without any rights can read a file, or list a folder. */
function strangerCan(...command: string[]): boolean {
  const done = spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', ...command]);
  return done.status === 0 && done.stdout.length > 0;
}
const asRoot = process.getuid?.() === 0;

describe('the data folder', () => {
  it('is for the account of the service alone, and so is all that is in it', async () => {
    const data = join(folder, 'fresh');
    await start(data);
    expect(modeOf(data)).toBe('700');
    expect(closed(data)).toEqual(
      expect.arrayContaining(['postgres', 'postgres.log', 'running-jobs', 'secrets', 'uploads', 'uv']),
    );
    for (const name of closed(data))
      expect([name, modeOf(join(data, name))]).toEqual([name, expect.stringMatching(/^[67]00$/)]);
    expect(asRoot && strangerCan('ls', data)).toBe(false);
  });

  it('is corrected where it was open, and what is linked to or shared stays as it is', async () => {
    const data = join(folder, 'open');
    const elsewhere = join(folder, 'elsewhere');
    for (const name of ['secrets', 'uploads', 'running-jobs', 'jobs', 'tasks', 'old-backup'])
      mkdirSync(join(data, name), { recursive: true });
    mkdirSync(elsewhere);
    for (const name of readdirSync(data)) chmodSync(join(data, name), 0o755);
    writeFileSync(join(data, 'secrets', 'signing-key'), 'an old key\n', { mode: 0o644 });
    writeFileSync(join(data, 'postgres.log'), 'old\n', { mode: 0o644 });
    writeFileSync(join(elsewhere, 'theirs'), 'theirs\n', { mode: 0o644 });
    symlinkSync(elsewhere, join(data, 'linked'));
    chmodSync(data, 0o755);
    if (asRoot) expect(strangerCan('cat', join(data, 'secrets/signing-key'))).toBe(true);
    await start(data);
    expect([
      modeOf(data),
      modeOf(join(data, 'secrets')),
      modeOf(join(data, 'postgres.log')),
      modeOf(join(data, 'old-backup')),
    ]).toEqual(['700', '700', '600', '700']);
    expect([modeOf(join(data, 'jobs')), modeOf(join(data, 'tasks')), modeOf(elsewhere)]).toEqual(['755', '755', '755']);
    for (const file of ['secrets/signing-key', 'postgres.log'])
      expect([file, asRoot && strangerCan('cat', join(data, file))]).toEqual([file, false]);
  });

  it('is a way to the folders of people, and to nothing else, where they run the tasks', async () => {
    const data = join(folder, 'sudo');
    mkdirSync(join(data, 'jobs'), { recursive: true });
    mkdirSync(join(data, 'running-jobs/known-name'), { recursive: true });
    writeFileSync(join(data, 'running-jobs/known-name/args.json'), '{}');
    writeFileSync(join(data, 'jobs/log.txt'), 'for people\n');
    await start(data, { SERVICE_RUNNER_BACKEND: 'slurm_sudo' });
    expect(modeOf(data)).toBe('711');
    for (const name of closed(data))
      expect([name, modeOf(join(data, name))]).toEqual([name, expect.stringMatching(/^[67]00$/)]);
    if (asRoot) expect(strangerCan('cat', join(data, 'jobs/log.txt'))).toBe(true);
    expect(existsSync(join(data, 'secrets/signing-key'))).toBe(true);
    const private_ = [
      'secrets/signing-key',
      'secrets/database-password',
      'running-jobs/known-name/args.json',
      'postgres.log',
      'postgres/PG_VERSION',
    ];
    expect(private_.filter((file) => asRoot && strangerCan('cat', join(data, file)))).toEqual([]);
    expect(asRoot && strangerCan('ls', data)).toBe(false);
  });

  it('that belongs to everybody keeps its mode', async () => {
    const data = join(folder, 'like-tmp');
    mkdirSync(data);
    chmodSync(data, 0o1777);
    await start(data);
    expect(statSync(data).mode & 0o7777).toBe(0o1777);
    expect([modeOf(join(data, 'secrets')), asRoot && strangerCan('cat', join(data, 'secrets/signing-key'))]).toEqual([
      '700',
      false,
    ]);
  });
});
