/** Task packages on a cluster: beside the service for people who come through sudo, on the other machine by SSH. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { UV_VERSION } from '../../packages/server/src/tasks/procedures/uv-pin.ts';
import { dataFolder } from '../../packages/server/test/support/lab.ts';
import { LONG, oneIn } from '../../packages/server/test/support/long.ts';
import { buildWheel, goodFiles, uploadForm } from '../support/wheels.ts';
import { killSshConnections, startSshd, stopSshd, type Undo } from './support/faults.ts';
import { asUser, must, SSH } from './support/commands.ts';
import { type Bench, type Collector, type Kind, openBench } from './support/task-groups.ts';

let bench: Bench;
let packages = 0;
beforeAll(async () => {
  bench = await openBench();
});

const wheels = dataFolder();

interface WheelOptions {
  files?: (name: string) => Record<string, string>;
  requires?: string[];
}

/** A package that nobody else has, so that several are collected at the same time. */
function newWheel({ files = goodFiles, requires = [] }: WheelOptions = {}) {
  const name = `on_cluster_${++packages}`;
  const form = uploadForm(buildWheel(wheels, { name, version: '1.0.0', files: files(name), requires }));
  const pathOf = ({ base, id }: Collector) => join(base, String(id), name.replaceAll('_', '-'), '1.0.0');
  return { name, form, pathOf };
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const states = (activity: { steps: { name: string; status: string }[] }) =>
  activity.steps.map(({ name, status }) => `${name}: ${status}`);
const filesBelow = (path: string) => (existsSync(path) ? readdirSync(path, { recursive: true }) : []);
const ownerOf = async (path: string) => (await must(['stat', '-c', '%U', path])).trim();
/** Runs a command as it is stored, a text with words, as somebody else than whoever installed it. */
const outputOf = async (command: string) => asUser('bob', ['sh', '-c', command]);

/** What whoever installs makes, others cannot read. Gives back how it was. */
const closed: Record<Kind, () => Promise<Undo>> = {
  slurm_sudo: async () => {
    const before = process.umask(0o077);
    return async () => void process.umask(before);
  },
  slurm_ssh: async () => {
    const file = (await asUser('alice', ['sh', '-c', 'echo ~/.bashrc'])).stdout.trim();
    const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
    writeFileSync(file, `umask 077\n${before ?? ''}`);
    return async () => (before === undefined ? rmSync(file) : writeFileSync(file, before));
  },
};

/** Packages of a cluster through sudo are collected in accounts.test.ts, too. */
const KINDS: { kind: Kind; account: string; first: string[] }[] = [
  { kind: 'slurm_sudo', account: 'root', first: [] },
  { kind: 'slurm_ssh', account: 'alice', first: ['connect'] },
];

describe.concurrent.each(oneIn(2, KINDS, 1))(
  'on a $kind resource',
  { timeout: 300_000 },
  ({ kind, account, first }) => {
    let person: Collector;
    let reopen: Undo;
    beforeAll(async () => {
      person = await bench.person(kind);
      reopen = await closed[kind]();
    });
    afterAll(() => reopen());

    it('a wheel is collected, deactivated, reactivated, reset and deleted', async () => {
      const { name, form, pathOf } = newWheel();
      const { activity, group } = await person.collected(form);
      const path = pathOf(person);
      expect(group).toMatchObject({
        path,
        venv_path: join(path, 'venv'),
        archive_path: join(path, `${name}-1.0.0-py3-none-any.whl`),
        active: true,
      });
      const done = (...names: string[]) => [...first, ...names].map((name) => `${name}: OK`);
      expect(states(activity).filter((state) => !state.endsWith('skipped'))).toEqual(
        done('folder', 'environment', 'package', 'freeze', 'tasks', 'bytecode', 'permissions'),
      );
      expect(readFileSync(join(path, 'fractal_task_group_id.txt'), 'utf8')).toBe(String(group.id));
      expect([await ownerOf(path), await ownerOf(group.archive_path)]).toEqual([account, account]);
      // though whoever made them has another umask
      for (const folder of [person.base, dirname(dirname(path)), dirname(path), path, group.venv_path]) {
        expect([folder, modeOf(folder)]).toEqual([folder, '755']);
      }
      expect([modeOf(group.archive_path), modeOf(join(path, 'fractal_task_group_id.txt'))]).toEqual(['644', '644']);
      const [{ command_parallel: command, id: task }] = group.task_list;
      expect(await outputOf(command)).toMatchObject({ code: 0, stdout: 'hello\n' });

      const off = await person.act(group.id, 'deactivate');
      expect([off.status, states(off)]).toEqual(['OK', done('check', 'remove environment')]);
      expect(readdirSync(path).sort()).toEqual(['fractal_task_group_id.txt', group.archive_path.split('/').at(-1)]);
      expect((await person.group(group.id)).active).toBe(false);

      const on = await person.act(group.id, 'reactivate');
      expect([on.status, states(on)]).toEqual([
        'OK',
        done('folder', 'environment', 'packages', 'bytecode', 'permissions'),
      ]);
      expect(await outputOf(command)).toMatchObject({ code: 0, stdout: 'hello\n' });

      await person.act(group.id, 'deactivate');
      expect((await person.reset(group.id)).status).toBe('OK');
      expect(await person.group(group.id)).toMatchObject({
        active: true,
        task_list: [{ id: task, command_parallel: command }],
      });
      expect(await outputOf(command)).toMatchObject({ code: 0, stdout: 'hello\n' });

      const gone = await person.act(group.id, 'delete');
      expect([gone.status, gone.taskgroupv2_id, filesBelow(dirname(path))]).toEqual(['OK', null, []]);
    });

    it('a collection that fails leaves its log and nothing else', async () => {
      const { form, pathOf } = newWheel({ files: (name) => ({ [`${name}/__init__.py`]: '' }) });
      const failed = await person.outcome(await person.collect(form));
      expect([failed.status, failed.taskgroupv2_id]).toEqual(['failed', null]);
      expect(failed.log).toMatch(/Failed: The package on-cluster-\d+ has no __FRACTAL_MANIFEST__\.json[^\n]*\n$/);
      expect(filesBelow(dirname(pathOf(person)))).toEqual([]);
    });

    it('an environment that is gone, or is there already, is told as it is', async () => {
      const { group } = await person.collected(newWheel().form);
      await must(['mv', group.venv_path, `${group.venv_path}-aside`]);
      const off = await person.act(group.id, 'deactivate');
      expect([off.status, off.log]).toEqual(['failed', expect.stringContaining(`${group.venv_path} is not there`)]);
      expect((await person.group(group.id)).active).toBe(false);
      await must(['mv', `${group.venv_path}-aside`, group.venv_path]);
      const on = await person.act(group.id, 'reactivate');
      expect([on.status, on.log]).toEqual(['failed', expect.stringContaining('something at')]);
      expect([(await person.group(group.id)).active, existsSync(group.venv_path)]).toEqual([false, true]);
    });
  },
);

describe('what is in the way on the other machine', () => {
  let alice: Collector;
  beforeAll(async () => {
    alice = await bench.person('slurm_ssh');
  });

  it('a folder of the same name fails the collection, and stays', async () => {
    const { form, pathOf } = newWheel();
    const path = pathOf(alice);
    mkdirSync(path, { recursive: true, mode: 0o755 });
    await must(['chown', '-R', 'alice', alice.base]);
    const failed = await alice.outcome(await alice.collect(form));
    expect([failed.status, failed.taskgroupv2_id]).toEqual(['failed', null]);
    expect(failed.log).toContain(`The folder ${path} exists already`);
    expect(existsSync(path)).toBe(true);
  });

  it('a folder that is closed to the account fails it with the reason', async () => {
    const { form } = newWheel();
    await must(['install', '-d', '-m', '700', join(alice.base, String(alice.id))]);
    await must(['chown', 'root', join(alice.base, String(alice.id))]);
    const failed = await alice.outcome(await alice.collect(form));
    expect([failed.status, failed.taskgroupv2_id]).toEqual(['failed', null]);
    expect(failed.log).toMatch(/Permission denied/);
  });

  it('a key that the machine does not take fails it at once, and says what to check', async () => {
    const stranger = await bench.person('slurm_ssh', { keyPath: SSH.keyOf('bob') });
    const failed = await stranger.outcome(await stranger.collect(newWheel().form));
    expect([failed.status, failed.taskgroupv2_id]).toEqual(['failed', null]);
    expect(states(failed)[0]).toBe('connect: failed');
    expect(failed.log).toMatch(/authorized_keys/);
    expect(failed.log).not.toContain('starts over');
  });
});

describe('when the connection breaks', () => {
  let alice: Collector;
  beforeAll(async () => {
    alice = await bench.person('slurm_ssh');
  });

  it('in the middle of a collection, it starts over and ends well', async () => {
    const answer = await alice.collect(newWheel().form);
    await alice.said(answer, 'Step environment');
    await killSshConnections();
    const over = await alice.outcome(answer);
    expect([over.status, over.log]).toEqual(['OK', expect.stringContaining('this starts over')]);
    const group = await alice.group(answer.body.taskgroupv2_id);
    expect(await outputOf(group.task_list[0].command_parallel)).toMatchObject({ code: 0, stdout: 'hello\n' });
    expect(readdirSync(dirname(group.path))).toEqual(['1.0.0']);
  });

  // in faults.test.ts for a job
  it.runIf(LONG)('and nobody can log in for a while, it waits for the machine', async () => {
    const answer = await alice.collect(newWheel().form);
    await alice.said(answer, 'Step environment');
    await stopSshd();
    try {
      await alice.said(answer, 'Interrupted: ');
    } finally {
      await startSshd();
    }
    expect((await alice.outcome(answer)).status).toBe('OK');
  });

  // in tasks/far-resources.test.ts of the server with a machine that is made up
  it.runIf(LONG)('and it stays away, the activity fails with words and the task group tells the truth', async () => {
    const { group } = await alice.collected(newWheel().form);
    await stopSshd();
    try {
      const off = await alice.act(group.id, 'deactivate');
      expect([off.status, off.log]).toEqual(['failed', expect.stringMatching(/Failed: No answer from [^\n]+\n$/)]);
      expect(await alice.group(group.id)).toMatchObject({ active: true });
      const failed = await alice.outcome(await alice.collect(newWheel().form));
      expect([failed.status, failed.taskgroupv2_id]).toEqual(['failed', null]);
    } finally {
      await startSshd();
    }
    expect((await alice.act(group.id, 'deactivate')).status).toBe('OK');
  });
});

describe('with a package index', () => {
  // in package-index.test.ts on the machine of the service
  it.runIf(LONG)(
    'uv is brought to the cluster and installs there',
    async () => {
      const alice = await (await openBench({ packageIndex: null })).person('slurm_ssh');
      const files = (name: string) => ({
        ...goodFiles(name),
        [`${name}/hello.py`]: 'import six\nprint(six.__name__)\n',
      });
      const { activity, group } = await alice.collected(newWheel({ files, requires: ['six'] }).form);
      expect(activity.log).toContain('Bringing uv');
      expect(await ownerOf(join(alice.base, '.service/uv', UV_VERSION, 'bin/uv'))).toBe('alice');
      expect(await outputOf(group.task_list[0].command_parallel)).toMatchObject({ code: 0, stdout: 'six\n' });
      expect((await alice.act(group.id, 'deactivate')).status).toBe('OK');
      const again = await alice.act(group.id, 'reactivate');
      expect([again.status, again.log]).toEqual(['OK', expect.not.stringContaining('Bringing uv')]);
    },
    240_000,
  );
});
