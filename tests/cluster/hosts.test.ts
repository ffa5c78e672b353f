/** What commands and files do, alike on this machine and on another one, and what comes on top for sudo and SSH. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  capture,
  type Host,
  HostTimeout,
  localHost,
  type ProcessHandle,
  type SshHost,
  type SshHosts,
  sshHosts,
  sudoCommands,
  SudoRefused,
} from '../../packages/server/src/hosts/index.ts';
import { sudoSaid } from '../../packages/server/src/hosts/sudo.ts';
import { isAlive, until } from '../../packages/server/test/support/lab.ts';
import { memoryHeld } from '../../packages/server/test/support/memory.ts';
import { asUser, CHECKOUT, folderOf, must } from './support/commands.ts';
import { type Sshd, startSshd } from './support/sshd.ts';
import type { Asked } from './support/sudo-run.ts';

let sshd: Sshd;
let hosts: SshHosts;
let far: SshHost;
/** Of alice, so that both hosts may write there. */
let folder: string;

beforeAll(async () => {
  sshd = await startSshd();
  hosts = sshHosts({
    knownHosts: join(sshd.folder, 'known_hosts'),
    log: { info: () => {}, warning: () => {} },
  });
  far = hosts.host({ host: sshd.host, username: 'alice', keyPath: sshd.keyPath });
  folder = folderOf('alice');
});
afterAll(async () => {
  hosts.close();
  await sshd.stop();
});

/** Starts itself once more and waits; prints the number of the second one. */
const FAMILY = 'sleep 300 & echo $!; wait';
const SHOW_WORDS = 'import json, sys; print(json.dumps(sys.argv[1:]))';
const HOSTILE = [
  '',
  ' ',
  '-',
  '--',
  '-rf',
  '~',
  '~root',
  '*',
  '?',
  '[a]',
  '{a,b}',
  '$HOME',
  '${HOME}',
  '$(id)',
  '`id`',
  '$((1+1))',
  '; id',
  '&& id',
  '|| id',
  '| id',
  '& id',
  '> file',
  '< file',
  '#',
  'a # b',
  '!',
  '!!',
  '!id',
  "'",
  "''",
  "'\\''",
  '"',
  '\\',
  '\\\\',
  '\\n',
  '\n',
  'a\nb',
  '\n; id\n',
  '\r\n',
  '\t',
  'A=b',
  '%s%n',
  'é🙂',
  '\u001b[31m',
  '\u0007',
  'it\'s a $("day") \\ out; there',
  'x'.repeat(20_000),
];

async function* bytes(total: number, chunk = 64 * 1024): AsyncGenerator<Buffer> {
  for (let sent = 0; sent < total; sent += chunk) yield Buffer.alloc(Math.min(chunk, total - sent), sent / chunk);
}

/** The bytes that somebody still holds, without those that wait to be collected. */
function held(): number {
  const { heapUsed, external } = memoryHeld();
  return heapUsed + external;
}

describe.each<[string, () => Host]>([
  ['this machine', () => localHost],
  ['another machine', () => far],
])('on %s', (_, host) => {
  const text = async (...command: [string, ...string[]]) => (await capture(host(), command)).stdout.toString();

  describe('a command', () => {
    it('gives what it prints, its two streams apart, and how it ended', async () => {
      expect(await capture(host(), ['sh', '-c', 'echo out; echo warning >&2; exit 3'])).toEqual({
        code: 3,
        signal: null,
        stdout: Buffer.from('out\n'),
        stderr: 'warning\n',
      });
    });

    it('tells of the signal that ended it', async () => {
      expect(await host().run(['sh', '-c', 'kill -KILL $$'])).toEqual({ code: null, signal: 'SIGKILL' });
    });

    it('gets its words as they are, whatever they mean to a shell', async () => {
      expect(JSON.parse(await text('python3', '-c', SHOW_WORDS, ...HOSTILE))).toEqual(HOSTILE);
    });

    it('gets no word that cannot be given', async () => {
      await expect(host().run(['echo', 'a\0b'])).rejects.toThrow(/null byte|NUL/);
    });

    it('runs in the folder and with the variables it is given', async () => {
      const odd = join(folder, "it's a `folder`; with $words\n");
      mkdirSync(odd, { recursive: true });
      const env = { ODD: HOSTILE.slice(0, -1).join('|'), PLAIN: '1' };
      const { stdout } = await capture(
        host(),
        ['python3', '-c', 'import json, os; print(json.dumps([os.getcwd(), os.environ["ODD"], os.environ["PLAIN"]]))'],
        { cwd: odd, env },
      );
      expect(JSON.parse(stdout.toString())).toEqual([odd, env.ODD, '1']);
      expect(await text('pwd')).toBe('/\n');
    });

    it('that is not there is an error, and so is a folder', async () => {
      await expect(host().run(['/no/such/program'])).rejects.toThrow(/no\/such\/program/);
      await expect(host().run(['true'], { cwd: '/no/such/folder' })).rejects.toThrow(/ENOENT|no\/such\/folder/);
    });

    it('may print a character in two pieces', async () => {
      const print =
        'import sys, time\nfor byte in "é🙂".encode():\n  sys.stdout.buffer.write(bytes([byte])); sys.stdout.flush(); time.sleep(0.03)';
      let heard = '';
      await host().run(['python3', '-c', print], { onOutput: (piece) => void (heard += piece) });
      expect(heard).toBe('é🙂');
    });

    it('tells its number and when it began', async () => {
      let handle: ProcessHandle | undefined;
      // it is still there when it is looked at, however busy the machine is
      const { stdout } = await capture(host(), ['sh', '-c', 'cat /proc/$$/stat; sleep 1'], {
        onStart: (started) => void (handle = started),
      });
      const stat = stdout.toString().split(' ');
      expect(handle).toEqual({ pid: Number(stat[0]), started: stat[21] });
    });

    it('ends when its number cannot be remembered', async () => {
      let pid = 0;
      const running = host().run(['sleep', '300'], {
        onStart: async (handle) => {
          ({ pid } = handle);
          throw new Error('no database');
        },
      });
      await expect(running).rejects.toThrow('no database');
      await until('its end', () => !isAlive(pid));
    });
  });

  describe('the input of a command', () => {
    it('is nothing when none is given', async () => expect(await text('cat')).toBe(''));

    it.each<[string, () => string | Uint8Array | AsyncIterable<Uint8Array>]>([
      ['a text', () => 'é\n'],
      ['bytes', () => Buffer.from('é\n')],
      [
        'a stream',
        async function* () {
          yield Buffer.from([0xc3]);
          yield Buffer.from([0xa9, 0x0a]);
        },
      ],
    ])('is %s', async (_kind, input) => {
      expect((await capture(host(), ['cat'], { input: input() })).stdout.toString()).toBe('é\n');
    });

    it('may be more than the command wants to read', async () => {
      let closed = false;
      async function* endless() {
        try {
          for (;;) yield Buffer.alloc(64 * 1024, 'y\n');
        } finally {
          closed = true;
        }
      }
      expect(await capture(host(), ['head', '-n', '1'], { input: endless() })).toMatchObject({
        code: 0,
        stdout: Buffer.from('y\n'),
      });
      await until('the end of the stream', () => closed);
    });

    it('that breaks off ends the command, which must not take half for the whole', async () => {
      const marker = join(folder, 'took-half');
      async function* broken() {
        yield Buffer.from('half');
        throw new Error('the disk is gone');
      }
      const command = ['sh', '-c', 'cat >/dev/null; echo whole >"$1"', 'sh', marker] as const;
      let pid = 0;
      const running = host().run(command, { input: broken(), onStart: (handle) => void ({ pid } = handle) });
      await expect(running).rejects.toThrow('the disk is gone');
      await until('its end', () => !isAlive(pid));
      expect(existsSync(marker)).toBe(false);
    });

    it('and the output stream through, however much it is', async () => {
      const total = 200 * 1024 * 1024;
      let [sent, received, mostUnderWay, heldAtEnd] = [0, 0, 0, 0];
      async function* counted() {
        for await (const piece of bytes(total)) {
          sent += piece.length;
          mostUnderWay = Math.max(mostUnderWay, sent - received);
          yield piece;
        }
      }
      const before = held();
      await host().run(['cat'], {
        input: counted(),
        onBytes: (chunk) => {
          received += chunk.length;
          if (received === total) heldAtEnd = held();
        },
      });
      expect(received).toBe(total);
      // neither what waits to be sent nor what was received piles up
      expect(mostUnderWay / 1024 / 1024).toBeLessThan(16);
      expect((heldAtEnd - before) / 1024 / 1024).toBeLessThan(100);
    });
  });

  describe('a command that is no longer wanted', () => {
    it('ends with all it started', async () => {
      const stop = new AbortController();
      let grandchild = 0;
      let handle: ProcessHandle | undefined;
      const running = host().run(['sh', '-c', FAMILY], {
        signal: stop.signal,
        onStart: (started) => void (handle = started),
        onOutput: (piece) => void (grandchild = Number(piece)),
      });
      await until('both', () => handle !== undefined && grandchild > 0);
      expect([handle!.pid, grandchild].map(isAlive)).toEqual([true, true]);
      stop.abort();
      expect(await running).toEqual({ code: null, signal: 'SIGTERM' });
      await until('their end', () => ![handle!.pid, grandchild].some(isAlive));
    });

    it('is made to end when it will not', async () => {
      const stop = new AbortController();
      let pid = 0;
      const running = host().run(['sh', '-c', 'trap "" TERM; echo ready; while :; do sleep 0.1; done'], {
        signal: stop.signal,
        onStart: (handle) => void ({ pid } = handle),
        onOutput: () => stop.abort(),
      });
      expect(await running).toEqual({ code: null, signal: 'SIGKILL' });
      expect(isAlive(pid)).toBe(false);
    });

    it('is not let run when it was unwanted from the start', async () => {
      const marker = join(folder, 'ran');
      const signal = AbortSignal.abort();
      const command = ['sh', '-c', 'sleep 0.5; touch "$1"', 'sh', marker] as const;
      expect(await host().run(command, { signal })).toEqual({ code: null, signal: 'SIGTERM' });
      expect(existsSync(marker)).toBe(false);
    });

    it('ends when it takes longer than it may', async () => {
      let pid = 0;
      const running = host().run(['sh', '-c', FAMILY], {
        timeoutMs: 700,
        onOutput: (piece) => void (pid = Number(piece)),
      });
      await expect(running).rejects.toBeInstanceOf(HostTimeout);
      await expect(running).rejects.toThrow('sh took longer than 0.7 s');
      await until('its end', () => pid > 0 && !isAlive(pid));
    });
  });

  describe('a process of an earlier life', () => {
    async function leftOver() {
      let handle: ProcessHandle | undefined;
      let grandchild = 0;
      const running = host().run(['sh', '-c', FAMILY], {
        onStart: (started) => void (handle = started),
        onOutput: (piece) => void (grandchild = Number(piece)),
      });
      await until('both', () => handle !== undefined && grandchild > 0);
      return { handle: handle!, grandchild, running };
    }

    it('ends with all it started', async () => {
      const { handle, grandchild, running } = await leftOver();
      expect(await host().isAlive(handle)).toBe(true);
      expect(await host().endLeftOver(handle)).toBe(true);
      expect(await running).toEqual({ code: null, signal: 'SIGTERM' });
      await until('their end', () => ![handle.pid, grandchild].some(isAlive));
      expect(await host().endLeftOver(handle)).toBe(false);
      expect(await host().isAlive(handle)).toBe(false);
    });

    it('gets signals', async () => {
      const { handle, grandchild, running } = await leftOver();
      expect(await host().signal(handle, 'SIGKILL')).toBe(true);
      process.kill(grandchild, 'SIGKILL');
      expect(await running).toEqual({ code: null, signal: 'SIGKILL' });
      expect(await host().signal(handle, 'SIGTERM')).toBe(false);
    });

    it.each(['1', ''])('is not the one that has its number now and began at another time than %j', async (started) => {
      const { handle, running } = await leftOver();
      const other = { ...handle, started };
      expect(await host().isAlive(other)).toBe(false);
      expect(await host().signal(other, 'SIGKILL')).toBe(false);
      expect(await host().endLeftOver(other)).toBe(false);
      expect(isAlive(handle.pid)).toBe(true);
      await host().endLeftOver(handle);
      await running;
    });
  });

  describe('files', () => {
    it('are told from folders and from nothing', async () => {
      const place = folderOf('alice');
      const file = join(place, '-a file\n');
      await host().writeText(file, 'x');
      symlinkSync(join(place, 'nowhere'), join(place, 'broken-link'));
      const paths = [file, place, join(place, 'none'), join(file, 'below-a-file'), join(place, 'broken-link')];
      const kinds = await Promise.all(paths.map((path) => host().kindOf(path)));
      expect(kinds).toEqual(['file', 'folder', undefined, undefined, undefined]);
    });

    it('are written, with their mode, and read again', async () => {
      const file = join(folderOf('alice'), 'program');
      await host().writeText(file, 'first');
      await host().writeText(file, '#!/bin/sh\necho "é"\n', 0o755);
      expect(statSync(file).mode & 0o777).toBe(0o755);
      expect(await host().readText(file)).toBe('#!/bin/sh\necho "é"\n');
      await host().writeText(file, '');
      expect(await host().readText(file)).toBe('');
      await expect(host().readText(join(folder, 'none'))).rejects.toThrow(/none/);
      await expect(host().writeText(join(folder, 'none/file'), 'x')).rejects.toThrow(/none/);
    });

    it('are brought, moved and removed, with all below', async () => {
      const place = folderOf('alice');
      const [deep, other, content] = [join(place, 'a/b/c'), join(place, '-moved'), Buffer.from([0, 255, 10, 13])];
      writeFileSync(join(sshd.folder, 'local'), content);
      await host().makeFolder(deep);
      await host().makeFolder(deep);
      await host().bring(join(sshd.folder, 'local'), join(deep, 'there'));
      await host().rename(join(place, 'a'), other);
      expect(await readFile(join(other, 'b/c/there'))).toEqual(content);
      await host().remove(other);
      await host().remove(other);
      expect(readdirSync(place)).toEqual([]);
    });
  });
});

describe('on another machine', () => {
  it('what login scripts print is not taken for the output of a command', async () => {
    const home = (await must(['sh', '-c', 'eval echo ~alice'])).trim();
    const noise = 'echo "Welcome!"; echo "module loaded" >&2; printf "no line end"\n';
    writeFileSync(join(home, '.bashrc'), noise);
    try {
      expect(await capture(far, ['echo', '42'])).toEqual({
        code: 0,
        signal: null,
        stdout: Buffer.from('42\n'),
        stderr: '',
      });
      // the cluster's bash reads it for commands over SSH, or this test would say nothing
      expect((await asUser('alice', ['bash', '-c', '. ~/.bashrc'])).stdout).toContain('Welcome!');
    } finally {
      await must(['rm', join(home, '.bashrc')]);
    }
  });

  it('a command with more words than a line may have is refused before anything runs', async () => {
    await expect(far.run(['echo', 'x'.repeat(140_000)])).rejects.toThrow('has more words than fit on one line');
  });

  it.each(['1A', 'A-B', 'A B', '', 'A;id', 'A\n'])('%j is not taken for the name of a variable', async (name) => {
    await expect(far.run(['true'], { env: { [name]: 'x' } })).rejects.toThrow('is not the name of a variable');
  });

  it.each(['', '-x'])('%j is not taken for a program', async (program) => {
    await expect(far.run([program])).rejects.toThrow('is not the name of a program');
  });

  it('nothing is launched: that is what the scheduler is for', async () => {
    await expect(far.launch(['true'], { cwd: '/', output: '/dev/null' })).rejects.toThrow('scheduler');
  });

  it('a file that cannot be written whole leaves the one that was there', async () => {
    const file = join(folderOf('alice'), 'file');
    await far.writeText(file, 'before');
    await must(['chmod', '555', join(file, '..')]);
    await expect(far.writeText(file, 'after')).rejects.toThrow(`${file} cannot be written as alice at ${sshd.host}`);
    expect(readFileSync(file, 'utf8')).toBe('before');
  });

  describe('a folder is sent', () => {
    const NAMES = ['-rf', '--help', ' ', 'a b', 'new\nline', "it's", '$(id)', 'é🙂', '*', '\\', 'x'.repeat(250)];

    it('with all that is in it, whatever it is called', async () => {
      const local = join(sshd.folder, 'odd');
      for (const name of NAMES) {
        mkdirSync(join(local, `d${name}`), { recursive: true });
        writeFileSync(join(local, name), name);
        writeFileSync(join(local, `d${name}`, name), Buffer.from([0, 255]));
      }
      const place = join(folder, '-sent $(id)', "it's\nhere");
      await far.sendFolder(local, place);
      expect(readdirSync(place).sort()).toEqual(readdirSync(local).sort());
      for (const name of NAMES) {
        expect(readFileSync(join(place, name), 'utf8')).toBe(name);
        expect(readFileSync(join(place, `d${name}`, name))).toEqual(Buffer.from([0, 255]));
      }
      expect(readdirSync(join(place, '..'))).toEqual(["it's\nhere"]);
    });

    it('of a thousand files as one stream and one move', async () => {
      const local = join(sshd.folder, 'many');
      mkdirSync(local);
      for (let number = 0; number < 1000; number++) writeFileSync(join(local, `${number}.json`), `{"n":${number}}`);
      const sessions = () => readFileSync(join(sshd.folder, 'log'), 'utf8').split('Starting session:').length - 1;
      const before = sessions();
      await far.sendFolder(local, join(folder, 'many'));
      expect(sessions() - before).toBe(2);
      expect(readdirSync(join(folder, 'many'))).toHaveLength(1000);
    });

    it('and never half of it', async () => {
      const local = join(sshd.folder, 'half');
      mkdirSync(local);
      const place = folderOf('alice');
      await expect(far.sendFolder(join(local, 'none'), join(place, 'sent'))).rejects.toThrow('cannot be packed');
      expect(readdirSync(place)).toEqual([]);
    });

    it('not over one that is there', async () => {
      const place = join(folderOf('alice'), 'sent');
      await far.makeFolder(place);
      await expect(far.sendFolder(join(sshd.folder, 'odd'), place)).rejects.toThrow('exists already');
      expect(readdirSync(place)).toEqual([]);
      expect(readdirSync(join(place, '..'))).toEqual(['sent']);
    });
  });
});

describe('through sudo', () => {
  async function throughSudo(username: string, command: Asked['command'], options: Asked['options'] = {}) {
    const asked = JSON.stringify({ username, command, options } satisfies Asked);
    const program = join(CHECKOUT, 'tests/cluster/support/sudo-run.ts');
    const { stdout, stderr } = await asUser('svcuser', [process.execPath, program, asked]);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as {
      code?: number;
      stdout?: string;
      stderr?: string;
      problem?: string;
      message?: string;
    };
  }

  it('a command runs as the person, from a folder that everybody can enter', async () => {
    expect(await throughSudo('alice', ['cat', '/proc/self/environ'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('USER=alice') as string,
    });
    const made = join(folderOf('alice', 0o700), 'made');
    expect(await throughSudo('alice', ['mkdir', '-p', made])).toMatchObject({ code: 0, stderr: '' });
    expect(statSync(made).uid).toBe(Number(await must(['id', '-u', 'alice'])));
  });

  it('a command gets its words and its input as they are', async () => {
    const odd = join(folderOf('alice'), '-$(id) it\'s; "odd"\n');
    expect(await throughSudo('alice', ['mkdir', odd])).toMatchObject({ code: 0 });
    expect(existsSync(odd)).toBe(true);
    expect(await throughSudo('alice', ['cat'], { input: 'é\n' })).toMatchObject({ code: 0, stdout: 'é\n' });
  });

  it('the failure of a command is its own', async () => {
    expect(await throughSudo('alice', ['cat', '/no/such/file'])).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: expect.stringContaining('No such file') as string,
    });
  });

  it.each<[string, string, Asked['command'], string]>([
    ['a program that the rules do not name', 'alice', ['id'], 'The sudo rules of the service do not allow id as alice'],
    ['a person that the rules do not name', 'nobody', ['cat', '/dev/null'], 'do not allow cat as nobody'],
    ['root', 'root', ['cat', '/etc/shadow'], 'do not allow cat as root'],
    ['an account that is not there', 'carol', ['cat', '/dev/null'], 'There is no account "carol"'],
  ])('%s is refused in words', async (_, username, command, words) => {
    expect(await throughSudo(username, command)).toEqual({
      problem: 'sudo-refused',
      message: expect.stringContaining(words) as string,
    });
  });

  it.each([
    '',
    '#0',
    '#1000',
    '-x',
    '--help',
    '-u',
    'a b',
    'alice\n',
    '\nalice',
    'alice;id',
    '$(id)',
    '%group',
    '../alice',
    'é',
    'a\0b',
    '1000',
  ])('%j never reaches sudo', (username) => {
    expect(() => sudoCommands(username)).toThrow(SudoRefused);
    expect(() => sudoCommands(username)).toThrow('is not the name of an account');
  });

  it.each([
    ['', undefined],
    ['cat: /no/such/file: No such file or directory\n', undefined],
    ['sudo: unable to resolve host n1: Name or service not known\ncat: x: No such file or directory\n', undefined],
    ['sudo: unable to resolve host n1: Name or service not known\n', undefined],
    ['cat: x: Is a directory\nsudo: not from sudo\n', undefined],
    ['sudo: a password is required\n', 'sudo: a password is required'],
    ['sudo: unable to resolve host n1: x\nsudo: a password is required\n', 'sudo: a password is required'],
    [
      "Sorry, user svc is not allowed to execute '/bin/cat a\nb' as bob on n1.\n",
      "Sorry, user svc is not allowed to execute '/bin/cat a b' as bob on n1.",
    ],
    ['svc is not in the sudoers file.\n', 'svc is not in the sudoers file.'],
  ])('of %j, the words of sudo itself are %j', (stderr, words) => expect(sudoSaid(stderr)).toBe(words));

  it('a command that takes too long is given up, also where it cannot be ended', async () => {
    const pipe = join(folderOf('alice'), 'pipe');
    await must(['mkfifo', pipe]);
    expect(await throughSudo('alice', ['cat', pipe], { timeoutMs: 500, input: '' })).toMatchObject({
      problem: 'host-timeout',
    });
  });

  it('a command that prints without end is given up, also where it cannot be ended', async () => {
    expect(await throughSudo('alice', ['cat', '/dev/zero'], { timeoutMs: 20_000, input: '' })).toMatchObject({
      problem: 'Error',
      message: 'cat printed more than 32 MiB and was ended.',
    });
  });

  it('no folder and no variables can be given', async () => {
    expect(await throughSudo('alice', ['cat'], { cwd: '/tmp' })).toMatchObject({ problem: 'Error' });
  });
});
