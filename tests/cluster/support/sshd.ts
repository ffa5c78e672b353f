/**
 * An sshd for one test file, with which it may do what it likes: break its connections, freeze it, give it another key.
 *
 *     const sshd = await startSshd({ maxSessions: 2 });
 *     const host = hosts.host({ host: sshd.host, username: 'alice', keyPath: sshd.keyPath });
 *     await sshd.stop();
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { until } from '../../../packages/server/test/support/lab.ts';

export interface Sshd {
  /** As a resource names it. */
  host: string;
  port: number;
  folder: string;
  /** A key that may log in as alice and as bob. */
  keyPath: string;
  publicHostKey(): string;
  /** Logins since it was set up. */
  logins(): number;
  /** The processes that serve connections, not the one that listens. */
  connections(): number[];
  breakConnections(): void;
  freeze(): void;
  thaw(): void;
  /** Neither listens nor serves, until `start`. */
  halt(): Promise<void>;
  start(): Promise<void>;
  changeHostKey(): void;
  stop(): Promise<void>;
}

export function makeKey(path: string, ...options: string[]): string {
  rmSync(path, { force: true });
  rmSync(`${path}.pub`, { force: true });
  const usual = options.includes('-N') ? [] : ['-N', ''];
  const kind = options.includes('-t') ? [] : ['-t', 'ed25519'];
  execFileSync('/usr/bin/ssh-keygen', ['-q', ...kind, ...usual, ...options, '-f', path]);
  return path;
}

export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => resolve(true)).once('error', () => resolve(false));
    socket.once('data', () => socket.destroy());
  });

interface Process {
  pid: number;
  parent: number;
  program: string;
}

const processes = (): Process[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, pid, program, rest] = /^(\d+) \((.*)\) (.*)$/s.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))!;
        const [state, parent] = rest!.split(' ');
        return state === 'Z' ? [] : [{ pid: Number(pid), parent: Number(parent), program: program! }];
      } catch {
        return [];
      }
    });

/** A connection is served by a chain of processes called sshd; below it are the commands of people. */
function servers(listener: number): number[] {
  const all = processes().filter(({ program }) => program === 'sshd');
  const found = [listener];
  for (const pid of found) found.push(...all.filter(({ parent }) => parent === pid).map((one) => one.pid));
  return found.slice(1);
}

export async function startSshd({ maxSessions = 10, hostKeyType = 'ed25519' } = {}): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), 'service-sshd-'));
  const [hostKey, keyPath, log] = ['host_key', 'key', 'log'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const port = await freePort();
  // a longer one of RSA takes many seconds to find
  const makeHostKey = () => makeKey(hostKey, '-t', hostKeyType, ...(hostKeyType === 'rsa' ? ['-b', '2048'] : []));
  makeHostKey();
  makeKey(keyPath);
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  writeFileSync(
    join(folder, 'config'),
    [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${hostKey}`,
      'PidFile none',
      `AuthorizedKeysFile ${keyPath}.pub`,
      // the folder lies below one that everybody may write to
      'StrictModes no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'UsePAM no',
      'AllowUsers alice bob',
      `MaxSessions ${maxSessions}`,
      'MaxStartups 100:30:200',
      'LogLevel VERBOSE',
      '',
    ].join('\n'),
  );
  execFileSync('chmod', ['755', folder]);

  let listener: ChildProcess | undefined;
  const signal = (pids: number[], name: NodeJS.Signals) => {
    for (const pid of pids) {
      try {
        process.kill(pid, name);
      } catch {
        // it is over
      }
    }
  };
  const connections = () => (listener?.pid === undefined ? [] : servers(listener.pid));

  const sshd: Sshd = {
    host: `127.0.0.1:${port}`,
    port,
    folder,
    keyPath,
    publicHostKey: () => readFileSync(`${hostKey}.pub`, 'utf8').split(' ').slice(0, 2).join(' '),
    logins: () => (existsSync(log) ? readFileSync(log, 'utf8').split('Accepted publickey').length - 1 : 0),
    connections,
    breakConnections: () => signal(connections(), 'SIGKILL'),
    freeze: () => signal([...connections(), listener!.pid!], 'SIGSTOP'),
    thaw: () => signal([listener!.pid!, ...connections()], 'SIGCONT'),
    async halt() {
      const ended = listener!;
      const all = [...connections(), ended.pid!];
      signal(all, 'SIGKILL');
      if (ended.exitCode === null && ended.signalCode === null)
        await new Promise((resolve) => ended.once('exit', resolve));
    },
    async start() {
      listener = spawn('/usr/sbin/sshd', ['-D', '-f', join(folder, 'config'), '-E', log], { stdio: 'ignore' });
      await until('sshd to answer', () => answers(port));
    },
    changeHostKey: () => void makeHostKey(),
    async stop() {
      await sshd.halt();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await sshd.start();
  return sshd;
}
