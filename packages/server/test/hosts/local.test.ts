import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { isProcessAlive } from '../../src/db/index.ts';
import { localHost, type ProcessHandle } from '../../src/hosts/index.ts';
import { until } from '../support/until.ts';

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'service-hosts-'))));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function outputOf(command: [string, ...string[]], options: Parameters<typeof localHost.run>[1] = {}) {
  const heard = { stdout: '', stderr: '' };
  const done = await localHost.run(command, { ...options, onOutput: (text, from) => void (heard[from] += text) });
  return { ...done, ...heard };
}

/** Starts itself once more and waits; prints the number of the second one. */
const FAMILY = 'sleep 300 & echo $!; wait';

describe('a command', () => {
  it('gives what it prints, its two streams apart, and how it ended', async () => {
    expect(await outputOf(['sh', '-c', 'echo out; echo warning >&2; exit 3'])).toEqual({
      code: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'warning\n',
    });
  });

  it('tells of the signal that ended it', async () => {
    expect(await outputOf(['sh', '-c', 'kill -KILL $$'])).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  it('gets its words as they are, whatever they mean to a shell', async () => {
    const words = ['$(id)', '`id`', '; id', '"', "'", '\n', '*', ''];
    const { stdout } = await outputOf(['python3', '-c', 'import json, sys; print(json.dumps(sys.argv[1:]))', ...words]);
    expect(JSON.parse(stdout)).toEqual(words);
  });

  it('that is not there is an error', async () => {
    await expect(localHost.run(['/no/such/program'])).rejects.toThrow('ENOENT');
    await expect(localHost.run(['true'], { cwd: '/no/such/folder' })).rejects.toThrow('ENOENT');
  });

  it('is heard while it runs', async () => {
    const pieces: string[] = [];
    const running = localHost.run(['sh', '-c', 'echo first; sleep 0.5; echo second'], {
      onOutput: (text) => void pieces.push(text),
    });
    await until(() => pieces.length > 0);
    expect(pieces).toEqual(['first\n']);
    await running;
    expect(pieces.join('')).toBe('first\nsecond\n');
  });

  it('may print a character in two pieces', async () => {
    const print =
      'import sys, time\nfor byte in "é🙂".encode():\n  sys.stdout.buffer.write(bytes([byte])); sys.stdout.flush(); time.sleep(0.03)';
    expect((await outputOf(['python3', '-c', print])).stdout).toBe('é🙂');
  });

  it('has nothing to read, and a folder to run in', async () => {
    expect((await outputOf(['sh', '-c', 'cat; pwd'])).stdout).toBe('/\n');
    expect((await outputOf(['pwd'], { cwd: folder })).stdout).toBe(`${folder}\n`);
  });
});

describe('the environment of a command', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it('holds no secrets of the service', async () => {
    const secrets = [
      'SERVICE_X',
      'SERVICE_EMAIL_PASSWORD',
      'SERVICE_ADMIN_PWD',
      'JWT_SECRET_KEY',
      'POSTGRES_PASSWORD',
      'PGPASSWORD',
      'OAUTH_CLIENT_SECRET',
      'FRACTAL_X',
      'SOME_TOKEN',
    ];
    for (const name of secrets) vi.stubEnv(name, 'hidden-value');
    vi.stubEnv('PIP_INDEX_URL', 'https://mirror.example.org/simple');
    const { stdout } = await outputOf(['env'], {
      installs: true,
      env: { ADDED: 'yes', TOKIO_WORKER_THREADS: '2' },
    });
    expect(stdout).not.toContain('hidden-value');
    for (const line of ['PIP_INDEX_URL=https://mirror', 'ADDED=yes', 'TOKIO_WORKER_THREADS=2', 'PATH=']) {
      expect(stdout).toContain(line);
    }
    expect((await outputOf(['env'])).stdout).not.toContain('PIP_INDEX_URL');
  });
});

describe('a command that is no longer wanted', () => {
  it('ends with all it started', async () => {
    const stop = new AbortController();
    let grandchild = 0;
    let handle: ProcessHandle | undefined;
    const running = localHost.run(['sh', '-c', FAMILY], {
      signal: stop.signal,
      onStart: (started) => void (handle = started),
      onOutput: (text) => void (grandchild = Number(text)),
    });
    await until(() => grandchild > 0);
    expect([handle!.pid, grandchild].map(isProcessAlive)).toEqual([true, true]);
    stop.abort();
    expect(await running).toMatchObject({ code: null, signal: 'SIGTERM' });
    await until(() => ![handle!.pid, grandchild].some(isProcessAlive));
  });

  it('is not let run when it was unwanted from the start', async () => {
    expect(await localHost.run(['sleep', '300'], { signal: AbortSignal.abort() })).toMatchObject({ signal: 'SIGTERM' });
  });

  it('ends when its number cannot be remembered, because nobody could end it later', async () => {
    let pid = 0;
    const running = localHost.run(['sleep', '300'], {
      onStart: async (handle) => {
        ({ pid } = handle);
        throw new Error('no database');
      },
    });
    await expect(running).rejects.toThrow('no database');
    await until(() => !isProcessAlive(pid));
  });
});

describe('a process of an earlier life', () => {
  /** Started apart, as by a service that is no more. */
  async function leftOver(script = FAMILY): Promise<{ handle: ProcessHandle; grandchild: number }> {
    const child = spawn('sh', ['-c', script], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
    const grandchild = await new Promise<number>((resolve) =>
      child.stdout.once('data', (text: Buffer) => resolve(Number(text.toString()))),
    );
    const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return { handle: { pid: child.pid!, started: stat[19]! }, grandchild };
  }

  it('ends with all it started', async () => {
    const { handle, grandchild } = await leftOver();
    expect(await localHost.endLeftOver(handle)).toBe(true);
    await until(() => ![handle.pid, grandchild].some(isProcessAlive));
    expect(await localHost.endLeftOver(handle)).toBe(false);
  });

  it('has a start time, as commands tell of themselves', async () => {
    let handle: ProcessHandle | undefined;
    const running = localHost.run(['sleep', '300'], { onStart: (started) => void (handle = started) });
    await until(() => handle !== undefined);
    expect(await localHost.endLeftOver(handle!)).toBe(true);
    expect(await running).toMatchObject({ signal: 'SIGTERM' });
  });

  it.each(['1', ''])('is not the one that has its number now and began at another time than %j', async (started) => {
    const { handle, grandchild } = await leftOver();
    expect(await localHost.endLeftOver({ ...handle, started })).toBe(false);
    expect([handle.pid, grandchild].map(isProcessAlive)).toEqual([true, true]);
    process.kill(-handle.pid, 'SIGKILL');
  });
});

describe('files', () => {
  it('are told from folders and from nothing', async () => {
    const file = join(folder, 'kind');
    await localHost.writeText(file, 'x');
    await symlink(join(folder, 'nowhere'), join(folder, 'broken-link'));
    const kinds = [file, folder, join(folder, 'none'), join(file, 'below-a-file'), join(folder, 'broken-link')];
    expect(await Promise.all(kinds.map(localHost.kindOf))).toEqual(['file', 'folder', undefined, undefined, undefined]);
  });

  it('are written, with their mode, and read again', async () => {
    const file = join(folder, 'program');
    await localHost.writeText(file, '#!/bin/sh\necho "é"\n', 0o755);
    expect((await stat(file)).mode & 0o777).toBe(0o755);
    expect(await localHost.readText(file)).toContain('é');
    expect((await outputOf([file])).stdout).toBe('é\n');
    await expect(localHost.readText(join(folder, 'none'))).rejects.toThrow('There is no file');
  });

  it('are brought, moved and removed, with all below', async () => {
    const [deep, other] = [join(folder, 'a/b/c'), join(folder, 'moved')];
    await localHost.makeFolder(deep);
    await localHost.makeFolder(deep);
    await writeFile(join(folder, 'local'), Buffer.from([0, 255]));
    await localHost.bring(join(folder, 'local'), join(deep, 'there'));
    await localHost.rename(join(folder, 'a'), other);
    expect(await readFile(join(other, 'b/c/there'))).toEqual(Buffer.from([0, 255]));
    await localHost.remove(other);
    await localHost.remove(other);
    expect(await localHost.kindOf(other)).toBeUndefined();
  });
});
