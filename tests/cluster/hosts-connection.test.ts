/** The life of a connection to another machine: how it is opened, shared, lost and found again, and whom it trusts. */
import { createHmac, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import {
  capture,
  HostAway,
  type ProcessHandle,
  type SshHost,
  type SshHosts,
  sshHosts,
} from '../../packages/server/src/hosts/index.ts';
import { readAddress } from '../../packages/server/src/hosts/ssh/address.ts';
import type { SshLimits } from '../../packages/server/src/hosts/ssh/limits.ts';
import { isAlive, until } from '../../packages/server/test/support/lab.ts';
import { folderOf } from './support/commands.ts';
import { freePort, makeKey, type Sshd, startSshd } from './support/sshd.ts';

let sshd: Sshd;
let knownHosts: string;
let opened: SshHosts[];
let said: string[];

beforeAll(async () => void (sshd = await startSshd()));
afterAll(() => sshd.stop());
beforeEach(() => {
  knownHosts = join(sshd.folder, `known_hosts_${randomBytes(4).toString('hex')}`);
  [opened, said] = [[], []];
});
afterEach(() => {
  for (const hosts of opened) hosts.close();
});

function open(limits: Partial<SshLimits> = {}) {
  const log = { info: (text: string) => void said.push(text), warning: (text: string) => void said.push(text) };
  const hosts = sshHosts({ knownHosts, log, limits });
  opened.push(hosts);
  const host = (identity: { host?: string; username?: string; keyPath?: string } = {}) =>
    hosts.host({ host: sshd.host, username: 'alice', keyPath: sshd.keyPath, ...identity });
  return { hosts, host };
}

/** A command that has begun. */
async function begin(host: SshHost, command: [string, ...string[]], options: { signal?: AbortSignal } = {}) {
  const begun = Promise.withResolvers<ProcessHandle>();
  const running = host.run(command, { ...options, onStart: begun.resolve });
  running.then(() => begun.reject(new Error('It ended at once')), begun.reject);
  return { running, ...(await begun.promise) };
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('it went well'),
    (error: unknown) => error as HostAway,
  );

describe('a host is named', () => {
  it.each([
    ['login', { name: 'login', port: 22 }],
    ['Login.Example.org:2222', { name: 'login.example.org', port: 2222 }],
    ['10.0.0.1:22', { name: '10.0.0.1', port: 22 }],
    ['fe80::1', { name: 'fe80::1', port: 22 }],
    ['[fe80::1]', { name: 'fe80::1', port: 22 }],
    ['[::1]:2222', { name: '::1', port: 2222 }],
  ])('%s', (text, address) => expect(readAddress(text)).toEqual(address));

  it.each(['', ' ', 'a b', 'host:', 'host:0', 'host:70000', 'host:ssh', '[::1', 'alice@host', 'host/path', '\n'])(
    'but not %j',
    (text) => expect(() => readAddress(text)).toThrow('is not the name of a host'),
  );
});

describe('a connection', () => {
  it('is opened once, when it is first needed, and shared by all who ask', async () => {
    const { host } = open();
    const before = sshd.logins();
    const first = host();
    expect(host()).toBe(first);
    await Promise.all(Array.from({ length: 10 }, () => first.run(['true'])));
    await host().run(['true']);
    expect(sshd.logins() - before).toBe(1);
    expect(host({ username: 'bob' })).not.toBe(first);
    expect((await capture(host({ username: 'bob' }), ['id', '-un'])).stdout.toString()).toBe('bob\n');
    expect(sshd.logins() - before).toBe(2);
  });

  it('carries thirty commands at a time, eight of them running', async () => {
    const { host } = open();
    const before = sshd.logins();
    let [running, most] = [0, 0];
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, number) => {
        const { stdout } = await capture(host(), ['sh', '-c', 'sleep 0.2; echo "$1"', 'sh', String(number)], {
          onStart: () => void (most = Math.max(most, ++running)),
        });
        running -= 1;
        return Number(stdout.toString());
      }),
    );
    expect(answers).toEqual(Array.from({ length: 30 }, (_, number) => number));
    expect(most).toBe(8);
    expect(sshd.logins() - before).toBe(1);
  });

  it('lets those who came first run first', async () => {
    const { host } = open({ sessions: 1 });
    const order: number[] = [];
    const one = (number: number) => host().run(['true'], { onStart: () => void order.push(number) });
    await Promise.all([1, 2, 3, 4, 5].map(one));
    expect(order).toEqual([1, 2, 3, 4, 5]);
  });

  it.each([1, 2])('does with fewer sessions where the host allows fewer: %i', async (maxSessions) => {
    const narrow = await startSshd({ maxSessions });
    try {
      const { host } = open();
      const far = host({ host: narrow.host, keyPath: narrow.keyPath });
      const all = Array.from({ length: 20 }, async (_, number) => {
        return Number((await capture(far, ['sh', '-c', 'sleep 0.05; echo "$1"', 'sh', String(number)])).stdout);
      });
      expect(await Promise.all(all)).toEqual(Array.from({ length: 20 }, (_, number) => number));
      expect(narrow.logins()).toBe(1);
    } finally {
      await narrow.stop();
    }
  });

  it('ends a command also when all sessions are taken', async () => {
    const { host } = open();
    const stop = new AbortController();
    const handles: ProcessHandle[] = [];
    const all = Array.from({ length: 8 }, () =>
      host().run(['sleep', '300'], { signal: stop.signal, onStart: (handle) => void handles.push(handle) }),
    );
    await until('all of them', () => handles.length === 8);
    stop.abort();
    for (const one of await Promise.all(all)) expect(one).toEqual({ code: null, signal: 'SIGTERM' });
    expect(handles.some(({ pid }) => isAlive(pid))).toBe(false);
  });

  it('does not let a command wait for ever', async () => {
    const { host } = open({ sessions: 1, waitMs: 300 });
    const stop = new AbortController();
    const long = await begin(host(), ['sleep', '300'], { signal: stop.signal });
    const error = await failure(host().run(['true']));
    expect(error).toBeInstanceOf(HostAway);
    expect(error.message).toBe(`alice at ${sshd.host} was too busy: no session got free within 0.3 s (1 at a time).`);
    stop.abort();
    await long.running;
  });

  it('is not waited for longer than a command may take', async () => {
    const { host } = open({ firstPauseMs: 60_000 });
    const far = host({ host: `127.0.0.1:${await freePort()}` });
    await failure(far.run(['true']));
    const error = await failure(far.run(['true'], { timeoutMs: 200 }));
    expect(error).toBeInstanceOf(HostAway);
    expect(error.message).toMatch(/was not reached in time\. No answer from .*connection was refused/);
    const stopped = far.run(['true'], { signal: AbortSignal.timeout(100) });
    expect(await stopped).toEqual({ code: null, signal: 'SIGTERM' });
  });

  it('that is closed fails what runs, and opens no more', async () => {
    const { hosts, host } = open();
    const { running } = await begin(host(), ['sleep', '2']);
    hosts.close();
    expect(await failure(running)).toBeInstanceOf(HostAway);
    expect((await failure(host().run(['true']))).message).toBe(
      `The connection to ${sshd.host} was closed by the service.`,
    );
    await until('the end of the connection', () => sshd.connections().length === 0);
  });
});

describe('a connection that breaks', () => {
  it('fails what runs at once, and the next command opens it again', async () => {
    const { host } = open();
    const { running, pid } = await begin(host(), ['sleep', '300']);
    const before = sshd.logins();
    sshd.breakConnections();
    const error = await failure(running);
    expect(error).toBeInstanceOf(HostAway);
    expect(error.message).toContain('The connection to [127.0.0.1]');
    process.kill(pid, 'SIGKILL');
    expect(await Promise.all([1, 2, 3].map(() => host().run(['true'])))).toEqual(
      Array(3).fill({ code: 0, signal: null }),
    );
    expect(sshd.logins() - before).toBe(1);
  });

  it('leaves a command that can be ended later', async () => {
    const { host } = open();
    const { running, ...handle } = await begin(host(), ['sleep', '300']);
    sshd.breakConnections();
    await failure(running);
    expect(isAlive(handle.pid)).toBe(true);
    expect(await host().endLeftOver(handle)).toBe(true);
    await until('its end', () => !isAlive(handle.pid));
  });

  it('in the middle of a file leaves no half file', async () => {
    const { host } = open();
    const [local, place] = [join(sshd.folder, 'large'), folderOf('alice')];
    writeFileSync(local, '');
    truncateSync(local, 500 * 1024 * 1024);
    const bringing = failure(host().bring(local, join(place, 'file')));
    await until('some of it', () => readdirSync(place).some((name) => statSync(join(place, name)).size > 0));
    sshd.breakConnections();
    expect(await bringing).toBeInstanceOf(HostAway);
    await until('the far side to give up', () => readdirSync(place).length === 0);
  });

  it('because the host is frozen is noticed', async () => {
    const { host } = open({ keepAliveMs: 300, keepAliveMisses: 3 });
    const { running, ...handle } = await begin(host(), ['sleep', '300']);
    sshd.freeze();
    try {
      const error = await failure(running);
      expect(error).toBeInstanceOf(HostAway);
      expect(error.message).toContain('no sign of life for 1 s');
    } finally {
      sshd.thaw();
    }
    expect(await host().endLeftOver(handle)).toBe(true);
  });

  it('is opened again after a pause that grows, once for all who wait', async () => {
    const { host } = open({ firstPauseMs: 100, longestPauseMs: 400 });
    await host().run(['true']);
    await sshd.halt();
    await until('the loss to be noticed', () => said.some((text) => text.includes('broke')));
    for (let round = 0; round < 4; round++) {
      const errors = await Promise.all(Array.from({ length: 10 }, () => failure(host().run(['true']))));
      for (const error of errors) expect(error).toBeInstanceOf(HostAway);
    }
    const pauses = said.flatMap((text) => /Next attempt .* in ([\d.]+) s/.exec(text)?.[1] ?? []);
    expect(pauses).toEqual(['0.1', '0.2', '0.4', '0.4']);
    await sshd.start();
    const before = sshd.logins();
    await Promise.all(Array.from({ length: 10 }, () => host().run(['true'])));
    expect(sshd.logins() - before).toBe(1);
  });
});

describe('what goes wrong is said in words', () => {
  let server: Server | undefined;
  afterEach(() => void server?.close());

  const cases: [
    string,
    () => Promise<{ host?: string; username?: string; keyPath?: string }> | object,
    string,
    boolean,
  ][] = [
    ['no such key', () => ({ keyPath: '/no/such/key' }), 'There is no key file /no/such/key.', true],
    ['a file that is no key', () => ({ keyPath: '/etc/passwd' }), '/etc/passwd is not a private key', true],
    ['a public key', () => ({ keyPath: `${sshd.keyPath}.pub` }), 'holds a public key', true],
    [
      'a key with a passphrase',
      () => ({ keyPath: makeKey(join(sshd.folder, 'locked'), '-N', 'secret') }),
      'is locked with a passphrase',
      true,
    ],
    [
      'an old key with a passphrase',
      () => ({ keyPath: makeKey(join(sshd.folder, 'locked'), '-t', 'rsa', '-m', 'PEM', '-N', 'secret') }),
      'is locked with a passphrase',
      true,
    ],
    [
      'a key that nobody knows there',
      () => ({ keyPath: makeKey(join(sshd.folder, 'stranger')) }),
      'does not let "alice" log in with the key',
      true,
    ],
    ['an account that may not log in', () => ({ username: 'nobody' }), 'does not let "nobody" log in', true],
    ['no such host', () => ({ host: 'no-such-host.invalid' }), '"no-such-host.invalid"', true],
    ['nonsense for a host', () => ({ host: 'a b' }), 'is not the name of a host', true],
    [
      'nobody there',
      async () => ({ host: `127.0.0.1:${await freePort()}` }),
      'the connection was refused. Is its SSH server running?',
      false,
    ],
    [
      'something that is not an SSH server',
      () =>
        new Promise((resolve) => {
          server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1', () =>
            resolve({ host: `127.0.0.1:${(server!.address() as { port: number }).port}` }),
          );
        }),
      'cannot be reached over SSH',
      false,
    ],
    [
      'a server that says nothing',
      () =>
        new Promise((resolve) => {
          server = createServer(() => undefined).listen(0, '127.0.0.1', () =>
            resolve({ host: `127.0.0.1:${(server!.address() as { port: number }).port}` }),
          );
        }),
      'it did not answer within 0.5 s',
      false,
    ],
  ];

  it.each(cases)('%s', async (what, identity, words, needsPerson) => {
    const { host } = open(what === 'a server that says nothing' ? { connectMs: 500 } : {});
    const error = await failure(host(await identity()).run(['true']));
    expect(error).toBeInstanceOf(HostAway);
    expect(error.message).toContain(words);
    // where no name can be looked up at all, that may be different in a minute
    if (!error.message.includes('at the moment')) expect(error.needsPerson).toBe(needsPerson);
    expect(error.message).not.toContain('secret');
  });
});

describe('the key of a host', () => {
  const name = () => `[127.0.0.1]:${sshd.port}`;
  const lines = () => readFileSync(knownHosts, 'utf8').trim().split('\n');
  const other = () =>
    readFileSync(`${makeKey(join(sshd.folder, 'other'))}.pub`, 'utf8')
      .split(' ')
      .slice(0, 2)
      .join(' ');
  const connects = async () => (await open().host().run(['true'])).code === 0;

  it('is learned at the first visit, in a file that is ours alone', async () => {
    expect(await connects()).toBe(true);
    expect(lines()).toEqual([`${name()} ${sshd.publicHostKey()}`]);
    expect(statSync(knownHosts).mode & 0o777).toBe(0o600);
    expect(await connects()).toBe(true);
    expect(lines()).toHaveLength(1);
  });

  it('is learned into a folder that is made for it', async () => {
    knownHosts = join(sshd.folder, 'secrets/ssh/known_hosts');
    expect(await connects()).toBe(true);
    expect(lines()).toHaveLength(1);
    expect(statSync(join(knownHosts, '..')).mode & 0o777).toBe(0o700);
  });

  it('is learned once by connections that come together, beside what is there', async () => {
    writeFileSync(knownHosts, '# ours\nelsewhere ssh-ed25519 AAAA');
    const { host } = open();
    await Promise.all([host().run(['true']), host({ username: 'bob' }).run(['true'])]);
    expect(lines()).toEqual(['# ours', 'elsewhere ssh-ed25519 AAAA', `${name()} ${sshd.publicHostKey()}`]);
  });

  it('is not learned from a host that is not logged in to', async () => {
    await failure(open().host({ username: 'nobody' }).run(['true']));
    expect(existsSync(knownHosts)).toBe(false);
  });

  it.each<[string, () => string]>([
    ['among several names', () => `login,${name()},other`],
    ['by a pattern', () => '[127.0.0.*]:*'],
    [
      'hashed',
      () => {
        const salt = randomBytes(20);
        return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name()).digest('base64')}`;
      },
    ],
  ])('is found %s, and another one refused', async (_, names) => {
    writeFileSync(knownHosts, `${names()} ${sshd.publicHostKey()} comment\n`);
    expect(await connects()).toBe(true);
    writeFileSync(knownHosts, `${names()} ${other()}\n`);
    await expect(connects()).rejects.toThrow('does not show the host key that we know');
    expect(lines()).toHaveLength(1);
  });

  it('that changed is refused, with what to check and which line to remove', async () => {
    const own = await startSshd();
    try {
      const { host } = open();
      const far = host({ host: own.host, keyPath: own.keyPath });
      writeFileSync(knownHosts, '# a comment\n');
      await far.run(['true']);
      await own.halt();
      own.changeHostKey();
      await own.start();
      const error = await failure(far.run(['true']));
      expect(error).toBeInstanceOf(HostAway);
      expect(error.needsPerson).toBe(true);
      expect(error.message).toContain(`remove line 2 of ${knownHosts}`);
      expect(error.message).toMatch(/It shows SHA256:[A-Za-z0-9+/]{43} \(ssh-ed25519\)/);
      expect(own.logins()).toBe(1);
      writeFileSync(knownHosts, '# a comment\n');
      expect((await far.run(['true'])).code).toBe(0);
    } finally {
      await own.stop();
    }
  });

  it('of another kind than the known one is not learned beside it', async () => {
    const rsa = readFileSync(`${makeKey(join(sshd.folder, 'other'), '-t', 'rsa')}.pub`, 'utf8')
      .split(' ')
      .slice(0, 2);
    writeFileSync(knownHosts, `${name()} ${rsa.join(' ')}\n`);
    await expect(connects()).rejects.toThrow('It has none of the kind that we know.');
    expect(lines()).toHaveLength(1);
  });

  it('may be one of RSA', async () => {
    const own = await startSshd({ hostKeyType: 'rsa' });
    try {
      const identity = { host: own.host, keyPath: own.keyPath };
      expect((await open().host(identity).run(['true'])).code).toBe(0);
      expect((await open().host(identity).run(['true'])).code).toBe(0);
      expect(lines()).toEqual([`[127.0.0.1]:${own.port} ${own.publicHostKey()}`]);
    } finally {
      await own.stop();
    }
  });

  it('that is revoked is refused', async () => {
    writeFileSync(knownHosts, `@revoked * ${sshd.publicHostKey()}\n`);
    await expect(connects()).rejects.toThrow('marks as revoked');
  });

  it('that is excluded by a pattern is not the one of this line', async () => {
    writeFileSync(knownHosts, `*,!${name()} ${other()}\n`);
    expect(await connects()).toBe(true);
    expect(lines()).toHaveLength(2);
  });

  it('that cannot be kept is not trusted', async () => {
    knownHosts = '/proc/known_hosts';
    await expect(connects()).rejects.toThrow(`cannot be kept in ${knownHosts}`);
  });
});
