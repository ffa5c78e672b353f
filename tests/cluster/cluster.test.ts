/** The cluster that other tests rely on: it does what a real one does, and what tests break in it is whole again afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, describe, expect, it } from 'vitest';

import { until } from '../../packages/server/test/support/lab.ts';
import {
  configure,
  drain,
  jobOver,
  jobRuns,
  killNode,
  nodes,
  squeue,
  startController,
  startNode,
  stopController,
  tidy,
} from './support/cluster.ts';
import { now, sshCommands, sshLogins, sudoCommands } from './support/counters.ts';
import {
  failing,
  freezingSshConnections,
  holdingAnswers,
  killSshConnections,
  losingAnswers,
  stale,
  startSshd,
  stopSshd,
} from './support/faults.ts';
import { asUser, BASE, becoming, environmentOf, folderOf, must, SSH, throughSudo } from './support/commands.ts';
import { startService } from './support/service.ts';

const IDLE = { n1: 'idle', n2: 'idle', n3: 'idle', n4: 'idle' };

/** A script that alice submits through the service's account, in a folder of hers. */
async function submit(lines: string[], options: string[] = [], folder = folderOf('alice')) {
  const script = ['#!/bin/bash', ...lines, ''].join('\n');
  const done = await throughSudo(
    'alice',
    ['sbatch', '--parsable', `--chdir=${folder}`, '--output=out', ...options],
    script,
  );
  return { ...done, folder, job: Number(done.stdout) };
}

const words = (user: 'alice' | 'bob') => [
  ...['ssh', '-i', SSH.keyOf(user), '-p', String(SSH.port), '-o', `UserKnownHostsFile=${SSH.knownHosts}`],
  ...['-o', 'BatchMode=yes', '-o', 'ServerAliveInterval=1', '-o', 'ServerAliveCountMax=1', `${user}@${SSH.host}`],
];
const remote = (user: 'alice' | 'bob', command: string) => asUser('svcuser', [...words(user), command]);

/** A job's processes are kept together by cgroups, where the machine has those that Slurm needs. */
const hasCgroups = () => contentOf(BASE, 'etc/cgroup.conf').includes('ConstrainRAMSpace=yes');

const contentOf = (...path: string[]) => (existsSync(join(...path)) ? readFileSync(join(...path), 'utf8') : '');

afterEach(tidy);

describe('Slurm', () => {
  it('has four idle nodes, and a partition with one of them', async () => {
    expect(await nodes()).toEqual(IDLE);
    expect((await must(['sinfo', '-h', '-p', 'small', '-o', '%N %T'])).trim()).toBe('n4 idle');
  });

  it('runs what the service submits for a user as that user, and each command is counted', async () => {
    const since = now();
    const { code, job, folder } = await submit(['id -un'], ['--comment=some-token', '--partition=small']);
    expect(code).toBe(0);
    expect(await jobOver(job)).toMatchObject([
      { job, index: null, id: job, user: 'alice', state: 'COMPLETED', node: 'n4', comment: 'some-token' },
    ]);
    expect(await throughSudo('alice', ['cat', join(folder, 'out')])).toMatchObject({ code: 0, stdout: 'alice\n' });
    expect(sudoCommands(since)).toEqual([
      { user: 'alice', command: expect.stringMatching(/^\/usr\/bin\/sbatch --parsable --chdir=/) },
      { user: 'alice', command: `/usr/bin/cat ${folder}/out` },
    ]);
  });

  it.each([
    ['another program as a user', ['-u', 'alice', 'ls', '/']],
    ['a program as root', ['cat', '/etc/shadow']],
    ['a program as an account that is no user', ['-u', 'slurm', 'cat', '/etc/hostname']],
  ])('sudo refuses the service %s', async (_, words) => {
    const done = await asUser('svcuser', ['sudo', '--non-interactive', ...words]);
    expect(done).toMatchObject({ code: 1, stdout: '', stderr: 'sudo: a password is required\n' });
  });

  it('ends a job over its memory', async () => {
    const { job } = await submit(
      ["python3 -c 'import time; x = bytearray(300 * 2**20); time.sleep(60)'"],
      ['--mem=50M'],
    );
    // what it is called depends on who notices
    const state = hasCgroups() ? 'OUT_OF_MEMORY' : 'FAILED';
    expect(await jobOver(job)).toMatchObject([{ state }]);
  });

  it('names the files of an array as it is told, with zeros in front', async () => {
    const { job, folder } = await submit(['true'], ['--array=0-2', '--output=pack-%6a.out']);
    const lines = await jobOver(job);
    expect(lines.map(({ index, state }) => [index, state]).sort()).toEqual([
      ['0', 'COMPLETED'],
      ['1', 'COMPLETED'],
      ['2', 'COMPLETED'],
    ]);
    expect(readdirSync(folder).sort()).toEqual(['pack-000000.out', 'pack-000001.out', 'pack-000002.out']);
  });

  it('scancel asks the script to end, and not the processes it started as long as the script goes on', async () => {
    const told = (name: string) =>
      `trap 'echo ${name} >>told; exit' TERM; echo ${name} >>ready; while :; do sleep 0.1; done`;
    const { job, folder } = await submit([`(${told('child')}) &`, told('script')]);
    const became = await submit([`exec bash -c ${JSON.stringify(told('exec'))}`]);
    await until('all to be ready', () => contentOf(folder, 'ready').split('\n').length === 3);
    await until('the other one, too', () => contentOf(became.folder, 'ready') !== '');
    await throughSudo('alice', ['scancel', String(job), String(became.job)]);
    expect(await jobOver(job)).toMatchObject([{ state: 'CANCELLED' }]);
    expect(await jobOver(became.job)).toMatchObject([{ state: 'CANCELLED' }]);
    // without cgroups those that are left over get a word, too
    expect(contentOf(folder, 'told')).toBe(hasCgroups() ? 'script\n' : 'script\nchild\n');
    expect(contentOf(became.folder, 'told')).toBe('exec\n');
  });

  it('a node that dies takes its jobs along; one that may run again waits for its turn', async () => {
    const lost = await submit(['sleep 600'], ['--nodelist=n2', '--no-requeue']);
    const again = await submit(['sleep 600'], ['--nodelist=n2', '--requeue']);
    await Promise.all([jobRuns(lost.job), jobRuns(again.job)]);
    await killNode('n2');
    expect(await jobOver(lost.job)).toMatchObject([{ state: 'NODE_FAIL', reason: 'NodeDown' }]);
    expect((await squeue()).find(({ job }) => job === again.job)).toMatchObject({ state: 'PENDING' });
    expect(await nodes()).toEqual({ ...IDLE, n2: 'down' });
    await startNode('n2');
    expect(await nodes()).toEqual(IDLE);
  });

  it('a drained node takes no job until it is back', async () => {
    await drain('n4');
    const { job } = await submit(['true'], ['--partition=small']);
    await until('the reason', async () =>
      (await squeue()).some((line) => line.job === job && line.state === 'PENDING' && line.reason !== 'None'),
    );
    await startNode('n4');
    expect(await jobOver(job)).toMatchObject([{ state: 'COMPLETED' }]);
  });

  it('jobs go on while the controller is away', async () => {
    const wait = (name: string) => `until [ -e ${name} ]; do sleep 0.1; done`;
    const { job, folder } = await submit([wait('first'), 'touch went-on', wait('second')]);
    await jobRuns(job);
    await stopController();
    writeFileSync(join(folder, 'first'), '');
    await until('the script', () => existsSync(join(folder, 'went-on')));
    await startController();
    writeFileSync(join(folder, 'second'), '');
    expect(await jobOver(job)).toMatchObject([{ state: 'COMPLETED' }]);
  });

  it('can be told other settings for a while', async () => {
    const age = async () => /MinJobAge\s+= (\d+)/.exec(await must(['scontrol', 'show', 'config']))?.[1];
    const undo = await configure({ MinJobAge: 5 });
    expect(await age()).toBe('5');
    await undo();
    expect(await age()).toBe('300');
  });
});

describe('SSH', () => {
  /** A command over a connection that stays open. */
  async function connected(): Promise<{ process: ChildProcess; ended: Promise<unknown> }> {
    const [program, ...args] = [...becoming('svcuser'), ...words('alice'), 'cat'];
    const child = spawn(program, args, { env: environmentOf('svcuser') });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin.write('here\n');
    const heard = new Promise((resolve) => child.stdout.once('data', () => resolve('heard')));
    expect(await Promise.race([heard, ended])).toBe('heard');
    return { process: child, ended };
  }

  it('lets the service in with the key of a user, and writes down what it runs', async () => {
    const since = now();
    expect(await remote('alice', 'id -un; sinfo -h -o %D')).toMatchObject({ code: 0, stdout: 'alice\n4\n' });
    expect(await remote('bob', 'exit 7')).toMatchObject({ code: 7 });
    expect(sshCommands(since)).toEqual([
      { user: 'alice', command: 'id -un; sinfo -h -o %D' },
      { user: 'bob', command: 'exit 7' },
    ]);
    expect(sshLogins(since)).toEqual(['alice', 'bob']);
    const wrong = words('bob').map((word) => (word === SSH.keyOf('bob') ? SSH.keyOf('alice') : word));
    expect(await asUser('svcuser', [...wrong, 'true'])).toMatchObject({ code: 255 });
  });

  it('breaks its connections, and takes new ones', async () => {
    const { ended } = await connected();
    await killSshConnections();
    expect(await ended).toBe(255);
    expect(await remote('alice', 'true')).toMatchObject({ code: 0 });
  });

  it('freezes its connections, which a client notices by itself', async () => {
    const { ended } = await connected();
    const undo = await freezingSshConnections();
    expect(await ended).toBe(255);
    await undo();
  });

  it('goes away, with its connections, and comes back', async () => {
    const { ended } = await connected();
    await stopSshd();
    expect(await ended).toBe(255);
    expect(await remote('alice', 'true')).toMatchObject({ code: 255, stderr: expect.stringMatching(/refused/) });
    await startSshd();
    expect(await remote('alice', 'true')).toMatchObject({ code: 0 });
  });
});

describe('faults', () => {
  it('a program fails for a while', async () => {
    const message = 'slurm_load_jobs error: Socket timed out on send/recv operation';
    const undo = await failing('squeue', message);
    expect(await asUser('svcuser', ['squeue', '-h'])).toEqual({ code: 1, stdout: '', stderr: `${message}\n` });
    await undo();
    expect(await asUser('svcuser', ['squeue', '-h'])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('the answer of sbatch is lost, though the job is in the queue', async () => {
    const undo = await losingAnswers('sbatch', 'sbatch: error: Batch job submission failed: Socket timed out');
    const { code, stdout } = await submit(['true'], ['--comment=lost-answer']);
    await undo();
    expect([code, stdout]).toEqual([1, '']);
    expect((await squeue()).filter(({ comment }) => comment === 'lost-answer')).toHaveLength(1);
  });

  it('the answer of sbatch comes late, when the job is in the queue', async () => {
    const held = await holdingAnswers('sbatch');
    const submitted = submit(['true'], ['--comment=late-answer']);
    await until('the submission', () => held.waiting() === 1);
    const [line] = (await squeue()).filter(({ comment }) => comment === 'late-answer');
    await held.release();
    expect(await submitted).toMatchObject({ code: 0, job: line!.job, stderr: '' });
    expect(await submit(['true'])).toMatchObject({ code: 0 });
  });

  it('files appear late over SSH', async () => {
    const folder = folderOf('alice');
    writeFileSync(join(folder, 'early'), '');
    const list = () => remote('alice', `ls ${folder}`);
    const undo = await stale(folder, 'ssh');
    writeFileSync(join(folder, 'late'), '');
    expect((await list()).stdout).toBe('early\n');
    await undo();
    expect((await list()).stdout).toBe('early\nlate\n');
  });
});

describe('the service', () => {
  it('runs by its own account, from a checkout that nobody there can change, and may see files late', async () => {
    const service = await startService({ as: 'svcuser', env: { SERVICE_ADMIN_PWD: 'some-password' } });
    try {
      expect((await fetch(`${service.url}/api/alive/`)).status).toBe(200);
      expect(statSync(`/proc/${service.pid}`).uid).toBe(statSync(service.data).uid);
      const folder = folderOf('alice');
      const seen = () => readdirSync(`/proc/${service.pid}/root${folder}`);
      const undo = await stale(folder, service.pid);
      writeFileSync(join(folder, 'late'), '');
      expect(seen()).toEqual([]);
      await undo();
      expect(seen()).toEqual(['late']);
    } finally {
      expect(await service.stop()).toBe(0);
    }
    expect(await asUser('svcuser', ['touch', '/run/service-test-checkout/x'])).toMatchObject({ code: 1 });
  });
});
