/** Task packages, really installed: from the package index, and from uploaded wheels without any index. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LONG, oneIn } from '../packages/server/test/support/long.ts';
import { addPerson, addProfile, type Person } from '../packages/server/test/support/plates.ts';
import { type Client, startService, type TestService } from '../packages/server/test/support/server.ts';
import { remove, temporaryFolder } from './support/processes.ts';
import { buildWheel, goodFiles, manifest, TASK, uploadForm } from './support/wheels.ts';

const folder = temporaryFolder('collection');
afterAll(() => remove(folder));

const PYTHON = execFileSync(
  'python3',
  ['-c', 'import sys; print(sys.executable); print("%d.%d" % sys.version_info[:2])'],
  {
    encoding: 'utf8',
  },
)
  .trim()
  .split('\n') as [string, string];

interface CollectingService {
  service: TestService;
  person: Person;
  client: Client;
  tasksDir: string;
  dataDir: string;
}

/** A service with somebody who can collect. */
async function startCollecting(name: string, settings: Record<string, string>): Promise<CollectingService> {
  const dataDir = join(folder, name, 'data');
  const tasksDir = join(folder, name, 'tasks');
  const service = await startService({
    settings: { SERVICE_DATA_DIR: dataDir, SERVICE_ENABLE_TASK_GROUP_RESET: 'true', ...settings },
  });
  const profile = await addProfile(service);
  await service.database.db
    .updateTable('resources')
    .set({
      tasks_local_dir: tasksDir,
      tasks_python_config: JSON.stringify({
        default_version: PYTHON[1],
        versions: { [PYTHON[1]]: PYTHON[0] },
        pip_cache_dir: null,
      }),
    })
    .execute();
  const person = await addPerson(service, profile);
  return { service, person, client: person.client, tasksDir, dataDir };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
type Body = any;

async function finished(client: Client, activity: { id: number }): Promise<Body> {
  let body: Body;
  await expect
    .poll(async () => (body = (await client.get(`/api/v2/task-group/activity/${activity.id}/`)).body).status, {
      timeout: 110_000,
      interval: 200,
    })
    .toMatch(/^(OK|failed)$/);
  return body;
}

const upload = (client: Client, path: string, fields: Record<string, string> = {}) =>
  client.raw('/api/v2/task/collect/pip/', { method: 'POST', body: uploadForm(path, fields) });
const collect = (client: Client, fields: Record<string, string>) =>
  client.raw('/api/v2/task/collect/pip/', { method: 'POST', body: new URLSearchParams(fields) });
async function act(client: Client, group: number, action: string): Promise<Body> {
  const { status, body } = await client.post(`/api/v2/task-group/${group}/${action}/`, {});
  expect([status, body]).toEqual([202, expect.anything()]);
  return finished(client, body);
}

const leftOvers = ({ tasksDir, dataDir }: CollectingService) => {
  const below = (path: string): string[] =>
    existsSync(path)
      ? readdirSync(path, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => entry.name)
      : [];
  return [...below(tasksDir), ...below(join(dataDir, 'uploads'))];
};

/** Of the packages that somebody has collected. */
const foldersOf = ({ tasksDir, person }: CollectingService): string[] => {
  const own = join(tasksDir, String(person.id));
  return existsSync(own) ? readdirSync(own) : [];
};

/** Here uv installs, in a fraction of pip's time: what does not depend on the installer is tried here. */
describe('with the package index', () => {
  let collecting: CollectingService;
  beforeAll(async () => {
    collecting = await startCollecting('index', {});
  });

  // real-run.test.ts collects it too, and runs it
  it.runIf(LONG)(
    'the newest fractal-tasks-core is collected, taken apart, put together again and deleted',
    async () => {
      const { client } = collecting;
      const asked = await collect(client, { package: 'Fractal_Tasks.Core', python_version: PYTHON[1] });
      expect(asked.status).toBe(202);
      expect(asked.body).toMatchObject({
        status: 'pending',
        action: 'collect',
        pkg_name: 'fractal-tasks-core',
        log: null,
      });
      const group = asked.body.taskgroupv2_id as number;
      const done = await finished(client, asked.body);
      expect([done.status, done.log]).toEqual(['OK', expect.stringContaining('Found')]);
      expect(done.steps.map((step: { status: string }) => step.status)).toEqual([
        'OK',
        'OK',
        'skipped',
        'OK',
        'skipped',
        'OK',
        'OK',
        'OK',
      ]);
      const read = (await client.get(`/api/v2/task-group/${group}/`)).body;
      expect(read).toMatchObject({ origin: 'pypi', active: true, python_version: PYTHON[1] });
      expect(read.task_list.length).toBeGreaterThan(5);
      const [python, script] = read.task_list
        .find((task: { command_parallel: string | null }) => task.command_parallel)!
        .command_parallel.split(' ');
      expect([python, existsSync(script)]).toEqual([join(read.venv_path, 'bin/python'), true]);
      // no run compiles the program itself
      const compiled = basename(script).replace(/\.py$/, `.cpython-${PYTHON[1].replace('.', '')}.pyc`);
      expect(readdirSync(join(dirname(script), '__pycache__'))).toContain(compiled);
      const packages = execFileSync(python, ['-m', 'pip', 'list'], { encoding: 'utf8' });
      for (const name of ['pip', 'setuptools', 'fractal-tasks-core'])
        expect(packages).toMatch(new RegExp(`^${name} `, 'm'));
      expect(readFileSync(join(read.path, 'fractal_task_group_id.txt'), 'utf8')).toBe(String(group));
      const { env_info } = await collecting.service.database.db
        .selectFrom('task_groups')
        .select('env_info')
        .executeTakeFirstOrThrow();
      expect(env_info).toMatch(/^setuptools==/m);
      expect(env_info).toContain(`fractal-tasks-core==${read.version}`);

      expect((await act(client, group, 'deactivate')).status).toBe('OK');
      expect([existsSync(read.venv_path), (await client.get(`/api/v2/task-group/${group}/`)).body.active]).toEqual([
        false,
        false,
      ]);
      expect((await client.post(`/api/v2/task-group/${group}/deactivate/`)).status).toBe(422);
      expect((await act(client, group, 'reactivate')).status).toBe('OK');
      expect([existsSync(script), (await client.get(`/api/v2/task-group/${group}/`)).body.active]).toEqual([
        true,
        true,
      ]);
      expect((await act(client, group, 'delete')).status).toBe('OK');
      expect((await client.get(`/api/v2/task-group/${group}/`)).status).toBe(404);
      await expect.poll(() => leftOvers(collecting)).toEqual([]);
    },
    240_000,
  );

  it('a package, or a version of it, that does not exist is refused at once', async () => {
    const unknown = await collect(collecting.client, { package: 'a-package-that-nobody-has-published-yet' });
    expect([unknown.status, unknown.body.detail]).toEqual([422, expect.stringContaining('does not know')]);
    const version = await collect(collecting.client, { package: 'fractal-tasks-core', package_version: '0.0.0.77' });
    expect([version.status, version.body.detail]).toEqual([422, expect.stringContaining('The newest is')]);
  });

  it.each(
    oneIn<[string, { requires?: string[]; python?: string }, RegExp]>(
      2,
      [
        [
          'needs_new_python',
          { python: '>=3.99' },
          /^needs-new-python 1\.0\.0 requires Python >=3\.99, and this environment has 3\.\d+/,
        ],
        [
          'needs_both',
          { requires: ['numpy<1.20', 'pandas>=2.2'] },
          /^No solution: pandas\S* needs numpy\S+; needs-both 1\.0\.0 needs numpy<1\.20 and pandas>=2\.2\./,
        ],
        [
          'needs_nobody',
          { requires: ['a-package-that-nobody-has-published-yet'] },
          /^No solution: a-package-that-nobody-has-published-yet was not found/,
        ],
      ],
      1,
    ),
  )('a wheel that %s says so, and leaves no folder', async (name, needs, words) => {
    const wheel = buildWheel(folder, { name, files: goodFiles(name), ...needs });
    const done = await finished(collecting.client, (await upload(collecting.client, wheel)).body);
    const failed = done.steps.find((step: { status: string }) => step.status === 'failed');
    expect([done.status, failed.name]).toEqual(['failed', 'package']);
    expect(failed.detail).toMatch(words);
    expect(done.log.trimEnd().split('\n').at(-1)).toContain(`ERROR - Failed: ${failed.detail}`);
    await expect.poll(() => foldersOf(collecting)).not.toContain(name.replaceAll('_', '-'));
  });

  it('a wheel whose dependency cannot be had ends as failed, and leaves nothing', async () => {
    const wheel = buildWheel(folder, {
      name: 'needs_nothing_real',
      files: goodFiles('needs_nothing_real'),
      requires: ['a-package-that-nobody-has-published-yet'],
    });
    const asked = await upload(collecting.client, wheel);
    expect(asked.status).toBe(202);
    const done = await finished(collecting.client, asked.body);
    expect([done.status, done.taskgroupv2_id]).toEqual(['failed', null]);
    expect(done.log).toContain('a-package-that-nobody-has-published-yet');
    expect(done.steps.find((step: { name: string }) => step.name === 'package')).toMatchObject({
      status: 'failed',
      detail: expect.any(String),
    });
    await expect.poll(() => leftOvers(collecting)).toEqual([]);
  });

  /** What is wrong in a manifest is in packages/server/test/tasks/manifest.test.ts, without a collection. */
  const inManifests: [string, Record<string, string>, RegExp][] = [
    ['with a manifest that is no JSON', { 'pkg/__FRACTAL_MANIFEST__.json': '{' }, /not valid JSON/],
    [
      'with a manifest of another version',
      { 'pkg/__FRACTAL_MANIFEST__.json': '{"manifest_version": "1", "task_list": []}' },
      /manifest_version/,
    ],
    [
      'with a task that has no name',
      { 'pkg/__FRACTAL_MANIFEST__.json': manifest([TASK, { ...TASK, name: ' ' }]) },
      /task_list\.1\.name/,
    ],
  ];
  it.each<[string, Record<string, string>, RegExp]>([
    ...(LONG ? inManifests : inManifests.slice(0, 1)),
    ['without manifest', { 'pkg/__init__.py': '' }, /no __FRACTAL_MANIFEST__\.json/],
    [
      'with an executable that is not there',
      { 'pkg/__init__.py': '', 'pkg/__FRACTAL_MANIFEST__.json': manifest() },
      /hello\.py, which is not there/,
    ],
    ['with two manifests', { ...goodFiles('pkg'), 'other/__FRACTAL_MANIFEST__.json': manifest() }, /more than one/],
  ])('a package %s ends as failed with a readable log, and leaves nothing', async (name, files, text) => {
    const wheel = buildWheel(folder, { name: 'pkg', version: `1.${name.length}`, files });
    const done = await finished(collecting.client, (await upload(collecting.client, wheel)).body);
    expect([done.status, done.taskgroupv2_id]).toEqual(['failed', null]);
    expect(done.log).toMatch(text);
    await expect.poll(() => leftOvers(collecting)).toEqual([]);
  });

  it('a manifest folder that is not called like the package is found', async () => {
    const wheel = buildWheel(folder, { name: 'distribution_name', files: goodFiles('import_name') });
    const asked = await upload(collecting.client, wheel);
    expect((await finished(collecting.client, asked.body)).status).toBe('OK');
    const read = (await collecting.client.get(`/api/v2/task-group/${asked.body.taskgroupv2_id}/`)).body;
    expect(read.task_list[0].command_parallel).toMatch(/import_name\/hello\.py$/);
    expect((await act(collecting.client, read.id, 'delete')).status).toBe('OK');
  });

  it('a folder that another task group has is refused, and both are named', async () => {
    const moved = await startCollecting('moved', {});
    const { client, service, person, tasksDir } = moved;
    const wheel = buildWheel(folder, { name: 'stays', files: goodFiles('stays') });
    const mine = () =>
      client.raw('/api/v2/task/collect/pip/?private=true', { method: 'POST', body: uploadForm(wheel) });
    const first = await mine();
    expect((await finished(client, first.body)).status).toBe('OK');
    // the same person works on a second resource that has the same folder for tasks
    const profile_id = await addProfile(service);
    await service.database.db.updateTable('resources').set({ tasks_local_dir: tasksDir }).execute();
    await service.admin.patch(`/auth/users/${person.id}/`, { profile_id });
    const { status, body } = await mine();
    const { path } = (await service.admin.get(`/admin/v2/task-group/${first.body.taskgroupv2_id}/`)).body;
    expect(status).toBe(422);
    expect(body.detail).toMatch(
      /^stays 1\.0\.0 of \S+ on the resource "Resource [\d.]+" \(task group \d+\) is installed in /,
    );
    expect(body.detail).toContain(`task group ${first.body.taskgroupv2_id}`);
    expect(body.detail).toContain(`${path}, where stays 1.0.0 would be installed.`);
  });

  it('of two equal collections at once one is accepted', async () => {
    const wheel = buildWheel(folder, { name: 'twice', files: goodFiles('twice') });
    const answers = await Promise.all(Array.from({ length: 6 }, () => upload(collecting.client, wheel)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([202, 422, 422, 422, 422, 422]);
    const accepted = answers.find((answer) => answer.status === 202)!.body;
    for (const { body } of answers.filter(({ status }) => status === 422)) {
      expect(body.detail).toContain('twice 1.0.0');
      expect(body.detail).toContain(`task group ${accepted.taskgroupv2_id}`);
    }
    expect((await finished(collecting.client, accepted)).status).toBe('OK');
    const actions = ['deactivate', 'deactivate', 'delete'];
    const all = await Promise.all(
      actions.map((action) => collecting.client.post(`/api/v2/task-group/${accepted.taskgroupv2_id}/${action}/`)),
    );
    const started = all.flatMap(({ status, body }, at) => (status === 202 ? { action: actions[at], body } : []));
    expect(started).toHaveLength(1);
    expect((await finished(collecting.client, started[0]!.body)).status).toBe('OK');
    // any of them may have been the first
    if (started[0]!.action !== 'delete') await act(collecting.client, accepted.taskgroupv2_id, 'delete');
  });
});

describe('a package with a dependency from a repository', () => {
  it.runIf(LONG)(
    'keeps what was built, so that its environment is made again without the repository',
    async () => {
      const collecting = await startCollecting('repository', {});
      const repository = join(folder, 'repository', 'source');
      mkdirSync(join(repository, 'from_repository'), { recursive: true });
      writeFileSync(join(repository, 'from_repository/__init__.py'), 'VALUE = 42\n');
      writeFileSync(join(repository, 'pyproject.toml'), '[project]\nname = "from_repository"\nversion = "0.1"\n');
      const git = (...args: string[]) =>
        execFileSync('git', ['-C', repository, '-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
          stdio: 'ignore',
        });
      git('init', '--quiet');
      git('add', '.');
      git('commit', '--quiet', '--message', 'first');
      const requires = [`from_repository @ git+file://${repository}`];
      const wheel = buildWheel(folder, { name: 'uses_repository', files: goodFiles('uses_repository'), requires });
      const asked = await upload(collecting.client, wheel);
      const group = asked.body.taskgroupv2_id as number;
      const made = await finished(collecting.client, asked.body);
      expect([made.status, made.log]).toEqual(['OK', expect.any(String)]);
      const { env_info, path, venv_path } = await collecting.service.database.db
        .selectFrom('task_groups')
        .select(['env_info', 'path', 'venv_path'])
        .executeTakeFirstOrThrow();
      expect(env_info).toMatch(new RegExp(`^from[_-]repository @ file://${path}/wheels/`, 'm'));
      expect((await act(collecting.client, group, 'deactivate')).status).toBe('OK');
      remove(repository);
      expect((await act(collecting.client, group, 'reactivate')).status).toBe('OK');
      const value = execFileSync(
        join(venv_path!, 'bin/python'),
        ['-c', 'import from_repository; print(from_repository.VALUE)'],
        { encoding: 'utf8' },
      );
      expect(value.trim()).toBe('42');

      // without the built package it could not be made again
      await collecting.service.database.db
        .updateTable('task_groups')
        .set({ env_info: 'x @ git+https://github.com/o/x' })
        .execute();
      const refused = await act(collecting.client, group, 'deactivate');
      expect([refused.status, refused.log]).toEqual(['failed', expect.stringContaining('github.com')]);
      expect((await collecting.client.get(`/api/v2/task-group/${group}/`)).body.active).toBe(true);
      expect(existsSync(venv_path!)).toBe(true);
    },
    240_000,
  );
});

describe('without any index', () => {
  let collecting: CollectingService;
  beforeAll(async () => {
    collecting = await startCollecting('offline', { SERVICE_PACKAGE_INDEX: 'none' });
  });

  it('a wheel is uploaded, installed, taken apart, put together again, reset and deleted', async () => {
    const { client, service } = collecting;
    const wheel = buildWheel(folder, {
      name: 'FrAcTaL_TaSkS_NoN_CaNoNiCaL',
      version: '0.0.1',
      files: goodFiles('fractal_tasks_non_canonical'),
    });
    const asked = await upload(client, wheel);
    expect(asked.body).toMatchObject({ pkg_name: 'fractal-tasks-non-canonical', version: '0.0.1' });
    const group = asked.body.taskgroupv2_id as number;
    const done = await finished(client, asked.body);
    expect([done.status, done.log]).toEqual(['OK', expect.stringContaining('--no-index')]);
    expect(done.log).not.toMatch(/https?:\/\//);
    const read = (await client.get(`/api/v2/task-group/${group}/`)).body;
    expect(read).toMatchObject({ origin: 'wheel-file', archive_path: join(read.path, wheel.split('/').at(-1)!) });
    expect(read.task_list[0]).toMatchObject({ name: 'Say hello', version: '0.0.1', type: 'parallel' });
    expect(
      execFileSync(
        read.task_list[0].command_parallel.split(' ')[0],
        [read.task_list[0].command_parallel.split(' ')[1]],
        { encoding: 'utf8' },
      ),
    ).toBe('hello\n');
    expect((await upload(client, wheel)).status).toBe(422);

    // pip takes its time, and a reset does the same and more; import-db-afterwards.test.ts has pip do it too
    if (LONG) {
      await act(client, group, 'deactivate');
      expect((await act(client, group, 'reactivate')).status).toBe('OK');
    }
    const reset = `/admin/v2/task-group/${group}/reset/pip/`;
    expect((await service.admin.post(reset, {})).body.detail).toContain('active');
    expect((await act(client, group, 'deactivate')).status).toBe('OK');
    expect(existsSync(read.archive_path)).toBe(true);
    await service.database.db.updateTable('tasks').set({ command_parallel: 'stale command' }).execute();
    await service.database.db
      .updateTable('task_groups')
      .set({ pinned_package_versions_pre: '{}', pip_extras: null })
      .execute();
    const again = await service.admin.post(reset, {
      pip_extras: '',
      pinned_package_versions_post: '{"fractal-tasks-non-canonical": "0.0.1"}',
    });
    expect(again.status).toBe(202);
    expect((await finished(client, again.body)).status).toBe('OK');
    const after = (await client.get(`/api/v2/task-group/${group}/`)).body;
    expect(after).toMatchObject({
      active: true,
      pinned_package_versions_post: { 'fractal-tasks-non-canonical': '0.0.1' },
    });
    expect(after.task_list).toEqual(read.task_list);
    expect((await act(client, group, 'delete')).status).toBe('OK');
    await expect.poll(() => leftOvers(collecting)).toEqual([]);
  }, 240_000);

  it('a package by name needs a version, and ends as failed when it cannot be had', async () => {
    expect((await collect(collecting.client, { package: 'numpy' })).body.detail).toContain('switched off');
    const done = await finished(
      collecting.client,
      (await collect(collecting.client, { package: 'no-such-thing', package_version: '1.0' })).body,
    );
    expect([done.status, done.log]).toEqual(['failed', expect.stringContaining('no-such-thing')]);
    await expect.poll(() => leftOvers(collecting)).toEqual([]);
  });

  it('a folder that is there already is left alone', async () => {
    const path = join(collecting.tasksDir, String(collecting.person.id), 'occupied', '1.0.0');
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'precious.txt'), 'x');
    const asked = await upload(
      collecting.client,
      buildWheel(folder, { name: 'occupied', files: goodFiles('occupied') }),
    );
    expect([asked.status, asked.body.detail]).toEqual([422, expect.stringContaining(path)]);
    expect(readdirSync(path)).toEqual(['precious.txt']);
    remove(path);
  });

  it.each<[string, Record<string, string>]>([
    [
      'an extra that runs a command',
      { package: 'x', package_version: '1', package_extras: 'a"\necho INJECTED\necho "' },
    ],
    ['a name with a path in it', { package: '../x', package_version: '1' }],
    ['a name that is an option', { package: '--help', package_version: '1' }],
    ['a version with a path in it', { package: 'x', package_version: '../../..' }],
    [
      'a pin that is an option',
      { package: 'x', package_version: '1', pinned_package_versions_pre: '{"--index-url": "x"}' },
    ],
    ['a pin with a space', { package: 'x', package_version: '1', pinned_package_versions_post: '{"a": "1 --pre"}' }],
    ['a blank name', { package: '  ' }],
    ['nothing', {}],
  ])('refuses %s', async (_, fields) => {
    const { status } = await collect(collecting.client, fields);
    expect(status).toBe(422);
  });

  it.each([
    'x.whl',
    'x-1.0.whl',
    'x-1.0-py3-none-any.zip',
    'a;b-1.0-py3-none-any.whl',
    '..-1.0-py3-none-any.whl',
    'x-..-py3-none-any.whl',
  ])('refuses a wheel called %s', async (filename) => {
    const form = new FormData();
    form.set('file', new Blob([readFileSync(buildWheel(folder, { name: 'named', files: {} }))]), filename);
    const answer = await collecting.client.raw('/api/v2/task/collect/pip/', { method: 'POST', body: form });
    expect([answer.status, typeof answer.body.detail]).toEqual([422, 'string']);
  });

  it('refuses a file that is no wheel, and one that is too large', async () => {
    const form = new FormData();
    form.set('file', new Blob(['not a zip']), 'x-1.0-py3-none-any.whl');
    expect((await collecting.client.raw('/api/v2/task/collect/pip/', { method: 'POST', body: form })).status).toBe(422);
    const small = await startService({
      settings: { SERVICE_MAX_UPLOAD_SIZE: '1k', SERVICE_DATA_DIR: join(folder, 'small') },
    });
    const person = await addPerson(small, await addProfile(small));
    const large = new FormData();
    large.set('file', new Blob([Buffer.alloc(5000)]), 'x-1.0-py3-none-any.whl');
    expect((await person.client.raw('/api/v2/task/collect/pip/', { method: 'POST', body: large })).status).toBe(413);
  });

  it('asks who it is before it reads the form', async () => {
    expect((await collect(collecting.service.anyone, { package: 'x;y' })).status).toBe(401);
  });
});
