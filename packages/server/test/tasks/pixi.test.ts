/** pixi cannot be had where the tests run, so a program stands in for it; see support/pixi-stand-in. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { activityHandler } from '../../src/tasks/carry-out.ts';
import { simplifiedProject } from '../../src/tasks/procedures/pixi.ts';
import { addActivity, leaseOf } from '../support/activities.ts';
import { oneIn } from '../support/long.ts';
import { type Files, LOCK, PACKAGE, packProject, PROJECT, putPixi } from '../support/pixi-project.ts';
import { addPerson, type Person } from '../support/plates.ts';
import { type Answer, startService, type TestService } from '../support/server.ts';
import { addResourceAndProfile } from '../support/tasks.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-pixi-'));
const dataDir = join(folder, 'data');
// a blank, because commands are texts that are split into words
const base = join(folder, 'all tasks');
const pixiHome = putPixi(folder, '0.47.0');

let service: TestService;
let owner: Person;
let withoutPixi: Person;
let versions = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: dataDir, SERVICE_ENABLE_TASK_GROUP_RESET: 'true' } });
  withoutPixi = await addPerson(service, (await addResourceAndProfile(service)).profile_id);
  const { resource_id, profile_id } = await addResourceAndProfile(service);
  // a stored configuration may lack what has a default
  const tasks_pixi_config = JSON.stringify({ default_version: '0.47.0', versions: { '0.47.0': `${pixiHome}/` } });
  await service.database.db
    .updateTable('resources')
    .set({ tasks_local_dir: base, tasks_pixi_config })
    .where('id', '=', resource_id)
    .execute();
  owner = await addPerson(service, profile_id);
});

async function archiveOf(changes: Files = {}, options: { filename?: string; top?: string } = {}): Promise<File> {
  const filename = options.filename ?? `mock_pixi_tasks-1.2.${++versions}.tar.gz`;
  const path = packProject(mkdtempSync(join(folder, 'archive-')), filename, { ...options, changes });
  return new File([await readFile(path)], filename);
}

function collect(file: File, fields: Record<string, string> = {}, person = owner): Promise<Answer> {
  const body = new FormData();
  body.append('file', file);
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return person.client.raw('/api/v2/task/collect/pixi/', { method: 'POST', body });
}

/** The activity when it is over. */
async function outcome(answer: Answer) {
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await sleep(25)) {
    const { body } = await owner.client.get(`/api/v2/task-group/activity/${answer.body.id}/`);
    if (body.status === 'OK' || body.status === 'failed') return body;
  }
  throw new Error('The activity is not over in time');
}

async function collected(file: File, fields: Record<string, string> = {}) {
  const answer = await collect(file, fields);
  const activity = await outcome(answer);
  expect([activity.status, activity.log]).toEqual(['OK', expect.any(String)]);
  return { activity, group: await groupOf(answer.body.taskgroupv2_id) };
}

const groupOf = async (id: number) => (await owner.client.get(`/api/v2/task-group/${id}/`)).body;
const act = (id: number, action: string) => owner.client.post(`/api/v2/task-group/${id}/${action}/`);
const reset = (id: number, body: object = {}) => service.admin.post(`/admin/v2/task-group/${id}/reset/pixi/`, body);
const storedGroup = (id: number) =>
  service.database.db.selectFrom('task_groups').selectAll().where('id', '=', id).executeTakeFirst();
const filesIn = (path: string) => readdirSync(path).sort();
const isThere = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined;
const states = (activity: { steps: { name: string; status: string }[] }) =>
  activity.steps.map(({ name, status }) => `${name}: ${status}`);

/** Uploads are cleared just after the activity is over. */
async function noUploadsLeft(): Promise<void> {
  const uploads = join(dataDir, 'uploads');
  for (const deadline = Date.now() + 20_000; isThere(uploads) && filesIn(uploads).length > 0; await sleep(20)) {
    if (Date.now() > deadline) throw new Error(`Left in ${uploads}: ${filesIn(uploads).join(', ')}`);
  }
}

/** Runs a command as it is stored, a text with words. */
const outputOf = (command: string, ...args: string[]) =>
  execFileSync('sh', ['-c', `${command} "$@"`, '-', ...args], { encoding: 'utf8' });

const contextOf = async (activityId: number) => ({
  leftOver: null,
  remember: async () => undefined,
  lease: await leaseOf(service, activityId),
  signal: new AbortController().signal,
});

describe('an archive', () => {
  it('becomes tasks with commands that run, with the lock file that it brings', async () => {
    const file = await archiveOf();
    const { activity, group } = await collected(file);
    const path = join(base, String(owner.id), 'mock-pixi-tasks', file.name.replace(/^.*-|\.tar\.gz$/g, ''));
    expect(group).toMatchObject({
      origin: 'pixi',
      pkg_name: 'mock-pixi-tasks',
      version: basename(path),
      pixi_version: '0.47.0',
      python_version: null,
      path,
      venv_path: null,
      archive_path: join(path, file.name),
      active: true,
    });
    const source = join(path, 'source_dir');
    expect(filesIn(path)).toEqual([file.name, 'source_dir', 'fractal_task_group_id.txt'].sort());
    expect(readFileSync(join(path, 'fractal_task_group_id.txt'), 'utf8')).toBe(String(group.id));
    expect(statSync(join(source, 'project_python.sh')).mode & 0o777).toBe(0o755);
    expect(statSync(join(source, 'pyproject.toml')).mode & 0o777).toBe(0o755);
    const simple = readFileSync(join(source, 'pyproject.toml'), 'utf8');
    expect(simple).toContain('platforms = [ "linux-64" ]');
    expect(simple).not.toMatch(/osx|hello/);
    expect((await storedGroup(group.id))!.env_info).toBe(LOCK);

    const [make, look] = group.task_list;
    expect([make.type, look.type, make.version]).toEqual(['compound', 'parallel', group.version]);
    expect(make.command_non_parallel).toBe(`'${source}/project_python.sh' '${source}/${PACKAGE}/make.py'`);
    expect(look.command_parallel).toBe(make.command_parallel);
    expect(outputOf(make.command_parallel, 'two words', '$(id)')).toBe(
      `mock 1 ${source}/.pixi/envs/default two words $(id)\n`,
    );

    expect(states(activity)).toEqual(
      ['folder', 'extract', 'project file', 'install', 'interpreter', 'bytecode', 'tasks'].map((name) => `${name}: OK`),
    );
    expect(activity.log).toContain('--concurrent-solves 4 --concurrent-downloads 4 --frozen --manifest-path');
    expect(activity.log).toContain('Installed with 2 threads, frozen: yes');
    await noUploadsLeft();
  });

  it.each([
    ['solved anew on request, also when it brings a lock file', LOCK],
    ['solved anew on request, without a lock file', null],
  ])('is %s', async (_, lock) => {
    const { activity, group } = await collected(await archiveOf({ 'pixi.lock': lock }), { use_pixi_lockfile: 'false' });
    expect((await storedGroup(group.id))!.env_info).toBe('version: 6 # solved by the stand-in\n');
    expect(activity.log).not.toContain('--frozen');
    expect(group.task_list).toHaveLength(2);
  });

  it('gives warnings of pixi to the log and not to the programs', async () => {
    const { activity, group } = await collected(await archiveOf());
    expect(activity.log).toContain(' WARN The feature (test');
    expect(readFileSync(join(group.path, 'source_dir/activate_project.sh'), 'utf8')).toMatch(/^export PATH=/);
  });
});

describe('the life of a task group', () => {
  it('is deactivated, reactivated, reset and deleted', async () => {
    const file = await archiveOf();
    const { group } = await collected(file, { use_pixi_lockfile: 'false' });
    const { id, path } = group;
    const source = join(path, 'source_dir');
    const command = group.task_list[0].command_parallel;
    const solved = (await storedGroup(id))!.env_info!;

    expect((await reset(id)).status).toBe(422);
    const off = await outcome(await act(id, 'deactivate'));
    expect([off.status, states(off)]).toEqual(['OK', ['check: OK', 'remove environment: OK']]);
    expect(filesIn(path)).toEqual([file.name, 'fractal_task_group_id.txt'].sort());
    expect([(await groupOf(id)).active, (await act(id, 'deactivate')).status]).toEqual([false, 422]);

    const on = await outcome(await act(id, 'reactivate'));
    expect([on.status, on.log.includes('--frozen')]).toEqual(['OK', true]);
    // the archive brings another lock file; the one that was solved counts
    expect(readFileSync(join(source, 'pixi.lock'), 'utf8')).toBe(solved);
    expect(outputOf(command)).toContain('mock 1');
    expect(await groupOf(id)).toMatchObject({ active: true, task_list: group.task_list });

    await outcome(await act(id, 'deactivate'));
    for (const [use_pixi_lockfile, lock] of [
      [true, LOCK],
      [false, solved],
    ] as const) {
      expect((await outcome(await reset(id, { use_pixi_lockfile }))).status).toBe('OK');
      expect((await storedGroup(id))!).toMatchObject({ env_info: lock, active: true });
      expect(outputOf(command)).toContain('mock 1');
      await outcome(await act(id, 'deactivate'));
    }
    // the same tasks, with the same numbers
    expect((await groupOf(id)).task_list).toEqual(group.task_list);

    const gone = await outcome(await act(id, 'delete'));
    expect([gone.status, gone.taskgroupv2_id]).toEqual(['OK', null]);
    expect([isThere(path), isThere(dirname(path)), await storedGroup(id)]).toEqual([false, true, undefined]);
    expect(filesIn(dirname(path)).filter((name) => name.startsWith('.removed'))).toEqual([]);
    expect((await owner.client.get(`/api/v2/task/${group.task_list[0].id}/`)).status).toBe(404);
  });

  it('is not left without a way back: without the archive it stays active', async () => {
    const { group } = await collected(await archiveOf());
    rmSync(group.archive_path);
    const off = await outcome(await act(group.id, 'deactivate'));
    expect([off.status, off.log]).toEqual(['failed', expect.stringContaining('archive is gone')]);
    expect((await groupOf(group.id)).active).toBe(true);
    expect(isThere(join(group.path, 'source_dir'))).toBe(true);
  });

  it('tells the truth when its environment is gone, or is there already', async () => {
    const { group } = await collected(await archiveOf());
    const source = join(group.path, 'source_dir');
    rmSync(source, { recursive: true });
    expect(await outcome(await act(group.id, 'deactivate'))).toMatchObject({ status: 'failed' });
    expect((await groupOf(group.id)).active).toBe(false);
    mkdirSync(source);
    const on = await outcome(await act(group.id, 'reactivate'));
    expect([on.status, on.log]).toEqual(['failed', expect.stringContaining(`something at ${source} already`)]);
    expect([(await groupOf(group.id)).active, isThere(source)]).toEqual([false, true]);
  });

  it.each([
    ['reactivation', (id: number) => act(id, 'reactivate')],
    ['reset', (id: number) => reset(id)],
  ])('stays inactive after a %s that fails, and comes back by a later one', async (_, again) => {
    const { group } = await collected(await archiveOf());
    await outcome(await act(group.id, 'deactivate'));
    const whole = readFileSync(group.archive_path);
    await writeFile(group.archive_path, whole.subarray(0, 200));
    const failed = await outcome(await again(group.id));
    expect([failed.status, failed.log]).toEqual(['failed', expect.stringMatching(/Failed: tar ended with 2: /)]);
    expect(filesIn(group.path)).toEqual([basename(group.archive_path), 'fractal_task_group_id.txt'].sort());
    expect((await groupOf(group.id)).active).toBe(false);
    await writeFile(group.archive_path, whole);
    expect((await outcome(await again(group.id))).status).toBe('OK');
    expect((await groupOf(group.id)).active).toBe(true);
  });

  it('is not reset with the tool of another kind', async () => {
    const { group } = await collected(await archiveOf());
    await outcome(await act(group.id, 'deactivate'));
    const answer = await service.admin.post(`/admin/v2/task-group/${group.id}/reset/pip/`, {});
    expect([answer.status, answer.body.detail]).toEqual([422, expect.stringContaining('other reset')]);
  });
});

describe('a collection that is refused', () => {
  const refused = async (answer: Answer, detail: string) => {
    expect([answer.status, answer.body?.detail]).toEqual([422, expect.stringContaining(detail)]);
    await noUploadsLeft();
  };

  it.each([
    'mock-pixi-tasks-1.2.3.tar.gz',
    'mock.tar.gz',
    'mock-1.0.zip',
    'x-../...tar.gz',
    'x-..tar.gz',
    'x-...tar.gz',
    '.x-1.tar.gz',
    'x-1..2.tar.gz',
    'x-$(id).tar.gz',
    `${'x'.repeat(260)}-1.tar.gz`,
  ])('for the name %.40s', async (filename) => {
    const bystander = join(base, 'bystander');
    mkdirSync(bystander, { recursive: true });
    const content = await archiveOf();
    await refused(await collect(new File([content], filename)), 'package-version.tar.gz');
    expect(isThere(bystander)).toBe(true);
  });

  it.each(['', 'PK\u0003\u0004', 'just a text'])('for the content %j', async (content) => {
    await refused(await collect(new File([content], 'mock-1.0.tar.gz')), 'not a .tar.gz archive');
  });

  it.each(['0.1.0', 'constructor', '__proto__'])('for pixi %s, which is not there', async (pixi_version) => {
    await refused(await collect(await archiveOf(), { pixi_version }), 'Choose one of: 0.47.0');
  });

  it('where there is no pixi', async () => {
    await refused(await collect(await archiveOf(), {}, withoutPixi), 'not available on this resource');
  });

  it('a second time, and where there is a folder already', async () => {
    const file = await archiveOf();
    const { group } = await collected(file);
    expect((await collect(file)).status).toBe(422);
    await noUploadsLeft();
    expect(outputOf(group.task_list[0].command_parallel)).toContain('mock');
    const path = join(base, String(owner.id), 'other', '1');
    mkdirSync(path, { recursive: true });
    await refused(await collect(await archiveOf({}, { filename: 'other-1.tar.gz' })), 'exists already');
    expect([isThere(path), (await groupsCalled('other')).length]).toEqual([true, 0]);
  });
});

const groupsCalled = (pkg_name: string) =>
  service.database.db.selectFrom('task_groups').select('id').where('pkg_name', '=', pkg_name).execute();

describe('a collection that fails', () => {
  const withManifest = (manifest: object | string): Files => ({
    [`${PACKAGE}/__FRACTAL_MANIFEST__.json`]: typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
  });

  it.each(
    oneIn<[string, Files, { top?: string }, string, RegExp]>(2, [
      ['its folder', {}, { top: 'elsewhere' }, 'extract', /tar ended with 2: /],
      [
        'a project file',
        { 'pyproject.toml': null },
        {},
        'project file',
        /pyproject\.toml of the archive cannot be read: There is no file/,
      ],
      ['valid TOML', { 'pyproject.toml': '[project\nname=' }, {}, 'project file', /cannot be read: Invalid TOML/],
      [
        'the environment',
        { 'pyproject.toml': PROJECT.replace('default =', 'other =') },
        {},
        'project file',
        /no pixi environment named default/,
      ],
      [
        'a lock file',
        { 'pixi.lock': null },
        {},
        'install',
        /pixi ended with 1: Error: .* the lock-file .* does not exist/,
      ],
      ['a part for pixi', { 'pyproject.toml': '[project]\nname = "x"\n' }, {}, 'install', /no \[tool\.pixi\]/],
      [
        'the package',
        { [`${PACKAGE}/__init__.py`]: null, 'src/other/__init__.py': '' },
        {},
        'interpreter',
        /TypeError|ModuleNotFoundError/,
      ],
      [
        'a manifest',
        { [`${PACKAGE}/__FRACTAL_MANIFEST__.json`]: null },
        {},
        'tasks',
        /has no __FRACTAL_MANIFEST__\.json/,
      ],
      ['a valid manifest', withManifest('{'), {}, 'tasks', /manifest is not valid/],
      [
        'a manifest of this kind',
        withManifest({ manifest_version: '1', task_list: [] }),
        {},
        'tasks',
        /manifest_version: /,
      ],
      [
        'a program',
        { [`${PACKAGE}/make.py`]: null },
        {},
        'tasks',
        /The task "Make" needs .*make\.py, which is not there/,
      ],
    ]),
  )('for want of %s leaves a log and nothing else', async (_, changes, options, step, reason) => {
    const file = await archiveOf(changes, options);
    const answer = await collect(file);
    const activity = await outcome(answer);
    expect(activity).toMatchObject({ status: 'failed', taskgroupv2_id: null, timestamp_ended: expect.any(String) });
    expect(activity.log).toMatch(reason);
    expect(activity.log).toMatch(/ - Failed: [^]+\n$/);
    const failed = activity.steps.filter(({ status }: { status: string }) => status === 'failed');
    expect(failed).toMatchObject([{ name: step, detail: expect.stringMatching(reason) }]);
    const path = join(base, String(owner.id), 'mock-pixi-tasks', answer.body.version);
    expect([isThere(path), await storedGroup(answer.body.taskgroupv2_id)]).toEqual([false, undefined]);
    await noUploadsLeft();
    // it can be tried again under the same name
    if (step === 'tasks') await collected(await archiveOf({}, { filename: file.name }));
  });

  it('because pixi is not where the resource says', async () => {
    const [program, aside] = [join(pixiHome, 'bin/pixi'), join(pixiHome, 'bin/aside')];
    execFileSync('mv', [program, aside]);
    try {
      const activity = await outcome(await collect(await archiveOf()));
      expect([activity.status, activity.log]).toEqual(['failed', expect.stringContaining(`${program} ENOENT`)]);
    } finally {
      execFileSync('mv', [aside, program]);
    }
    await noUploadsLeft();
  });

  it('is tried again when the database does not take its end, and never stays ongoing', async () => {
    const { db, pool } = service.database;
    const { resource_id } = await db.selectFrom('task_groups').select('resource_id').executeTakeFirstOrThrow();
    const handler = activityHandler({ db, dataDir, packageIndex: null });
    const group = { user_id: owner.id, resource_id, origin: 'pixi' as const, pkg_name: 'lost', version: '1' };
    const { id: taskgroupv2_id } = await db
      .insertInto('task_groups')
      .values({ ...group, path: join(base, 'lost'), archive_path: join(base, 'lost/archive') })
      .returning('id')
      .executeTakeFirstOrThrow();
    // not put into the queue, so that nobody else does it
    const id = await addActivity(service, {
      user_id: owner.id,
      taskgroupv2_id,
      status: 'pending',
      action: 'deactivate',
    });
    const context = await contextOf(id);
    await pool.query(`
      create function no_end() returns trigger language plpgsql as $$ begin raise exception 'disk full'; end $$;
      create trigger no_end before update on task_group_activities for each row when (new.status = 'failed')
      execute function no_end()`);
    try {
      await expect(handler(id, { ...context, attempt: 1, last: false })).rejects.toThrow('disk full');
    } finally {
      await pool.query('drop trigger no_end on task_group_activities; drop function no_end()');
    }
    const statusOf = async () => (await owner.client.get(`/api/v2/task-group/activity/${id}/`)).body.status;
    expect(await statusOf()).toBe('ongoing');
    await handler(id, { ...context, attempt: 2, last: false });
    // the environment is not there, which is what was asked for
    expect(await statusOf()).toBe('OK');
  });

  it('leaves no upload behind when the service was killed just after the end', async () => {
    const { db } = service.database;
    const upload = join(dataDir, 'uploads/left/mock-1.tar.gz');
    mkdirSync(dirname(upload), { recursive: true });
    await writeFile(upload, '');
    const id = await addActivity(service, { user_id: owner.id, status: 'OK' });
    await db
      .updateTable('task_group_activities')
      .set({ request: JSON.stringify({ upload }) })
      .where('id', '=', id)
      .execute();
    const context = { ...(await contextOf(id)), attempt: 2, last: false };
    await activityHandler({ db, dataDir, packageIndex: null })(id, context);
    expect(isThere(dirname(upload))).toBe(false);
  });
});

describe('the project file, made simple', () => {
  it.each<[string, string, string]>([
    [
      'stays as it is without a part for pixi',
      '# a comment\n[project]\nname = "x"\n',
      '# a comment\n[project]\nname = "x"\n',
    ],
    [
      'has one platform',
      '[tool.pixi.workspace]\nplatforms = ["osx-64", "win-64"]',
      '[tool.pixi.workspace]\nplatforms = [ "linux-64" ]',
    ],
    [
      'gets a platform',
      '[tool.pixi.workspace]\nchannels = ["c"]',
      '[tool.pixi.workspace]\nchannels = [ "c" ]\nplatforms = [ "linux-64" ]',
    ],
    [
      'has one platform, in the old table too',
      '[tool.pixi.project]\nname = "x"',
      '[tool.pixi.project]\nname = "x"\nplatforms = [ "linux-64" ]',
    ],
    [
      'has one environment',
      '[tool.pixi.environments]\ntest = ["t"]\ndefault = { features = ["a"], solve-group = "g" }',
      '[tool.pixi.environments.default]\nfeatures = [ "a" ]\nsolve-group = "g"',
    ],
    [
      'has no tasks',
      '[tool.pixi.tasks]\na = "b"\n[tool.pixi.dependencies]\nx = "*"',
      '[tool.pixi.dependencies]\nx = "*"',
    ],
    [
      'keeps all else',
      '[tool.pixi.feature.a.pypi-dependencies]\nx = { path = ".", editable = true }\n[tool.other]\nwhen = 2024-01-02T03:04:05Z\nn = 1.0',
      '[tool.pixi.feature.a.pypi-dependencies.x]\npath = "."\neditable = true\n\n[tool.other]\nwhen = 2024-01-02T03:04:05.000Z\nn = 1',
    ],
  ])('%s', (_, text, expected) => {
    expect(simplifiedProject(text, 'default', 'linux-64').trim()).toBe(expected.trim());
  });

  it('has the environment and the platform that the resource names', () => {
    const text = '[tool.pixi.workspace]\n[tool.pixi.environments]\na = ["x"]\nb = ["y"]';
    expect(simplifiedProject(text, 'b', 'osx-arm64')).toMatch(/"osx-arm64"[^]*\nb = \[ "y" \]/);
    expect(() => simplifiedProject(text, 'c', 'osx-arm64')).toThrow('no pixi environment named c');
  });

  it('cannot be made of what is no TOML', () => {
    expect(() => simplifiedProject('a = ', 'default', 'linux-64')).toThrow('Invalid TOML');
  });
});
