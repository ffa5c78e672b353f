/** The operator's tool, run as a command on a database server. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';

import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';

import { migrations } from '../packages/server/src/db/migrations/index.ts';
import { remove, servicectl, temporaryFolder } from './support/processes.ts';

const folder = temporaryFolder('servicectl');
afterAll(() => remove(folder));

const connection = inject('connection');
let environment: Record<string, string>;
let administration: pg.Client;
const databases: string[] = [];

beforeAll(async () => {
  administration = new pg.Client(connection);
  await administration.connect();
});
afterAll(async () => {
  for (const name of databases) await administration.query(`drop database ${name} with (force)`);
  await administration.end();
});
beforeEach(async () => {
  const name = `cli_${randomBytes(6).toString('hex')}`;
  await administration.query(`create database ${name}`);
  databases.push(name);
  environment = {
    POSTGRES_DB: name,
    POSTGRES_HOST: connection.host,
    POSTGRES_PORT: String(connection.port),
    POSTGRES_USER: connection.user!,
    POSTGRES_PASSWORD: connection.password!,
    JWT_SECRET_KEY: 'key',
    SERVICE_DEFAULT_GROUP_NAME: 'All',
  };
});

const run = (args: string[], extra: { input?: string; environment?: Record<string, string> } = {}) =>
  servicectl(args, { folder, ...extra, environment: { ...environment, ...extra.environment } });

async function query<T extends object>(sql: string): Promise<T[]> {
  const client = new pg.Client({ ...connection, database: environment['POSTGRES_DB']! });
  await client.connect();
  const { rows } = await client.query<T>(sql);
  await client.end();
  return rows;
}

let template: string | undefined;

/** The database as `set-db` leaves it: made by it once, and then copied. */
async function withTables(): Promise<void> {
  const name = environment['POSTGRES_DB']!;
  if (template === undefined) {
    expect(run(['set-db']).code).toBe(0);
    template = `${name}_template`;
    databases.push(template);
    await administration.query(`create database ${template} template ${name}`);
  } else {
    await administration.query(`drop database ${name}`);
    await administration.query(`create database ${name} template ${template}`);
  }
}

const file = (name: string, content: unknown) => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

describe('servicectl', () => {
  it('explains itself, and refuses what it does not know with exit code 2', () => {
    const help = run(['--help']);
    expect(help.code).toBe(0);
    for (const command of [
      'start',
      'openapi',
      'set-db',
      'init-db-data',
      'update-db-data',
      'recent',
      'sync-core-tasks',
      'email-settings',
    ]) {
      expect(help.out).toContain(command);
    }
    expect(run(['init-db-data', '--help'])).toMatchObject({ code: 0 });
    for (const args of [[], ['nonsense'], ['set-db', '--nonsense'], ['start', '--port', 'x'], ['sync-core-tasks']]) {
      const { code, err } = run(args);
      expect([args, code]).toEqual([args, 2]);
      expect(err).not.toBe('');
    }
  });

  it('stops at wrong settings with one line', () => {
    const { code, err } = run(['set-db'], { environment: { DB_ECHO: 'yes' } });
    expect([code, err]).toEqual([1, 'DB_ECHO must be true or false.\n']);
  });

  it('set-db makes the tables, and is content when they are there', () => {
    const first = run(['set-db']);
    const applied = Object.keys(migrations).map((name) => `Applied ${name}\n`);
    expect([first.code, first.err]).toEqual([0, applied.join('')]);
    expect(first.out.trim().split('\n')).toHaveLength(2);
    expect(run(['set-db'])).toMatchObject({ code: 0, err: '' });
  });

  it('start refuses a database without tables and names the remedy', () => {
    expect(run(['start', '--port', '0'])).toMatchObject({ code: 1, err: expect.stringContaining('servicectl set-db') });
  });

  it('update-db-data asks five times and has nothing to do', () => {
    const yes = 'yes\n'.repeat(5);
    expect(run(['update-db-data'], { input: yes })).toMatchObject({
      code: 0,
      out: expect.stringContaining('needs no change'),
    });
    expect(run(['update-db-data'], { input: 'yes\nno\n' }).code).toBe(1);
    expect(run(['update-db-data'], { input: '' }).code).toBe(1);
  });

  it('recent says that nothing runs', () => {
    run(['set-db']);
    const { code, out } = run(['recent', '--minutes', '5']);
    expect(code).toBe(0);
    expect(out).toMatch(/^## Summary\n.*5 minutes/);
  });

  it('openapi writes the description without a database', () => {
    const path = join(folder, 'api.json');
    const settings = {
      POSTGRES_PORT: '1',
      OAUTH_CLIENT_NAME: 'x',
      OAUTH_CLIENT_ID: 'x',
      OAUTH_CLIENT_SECRET: 'x',
      OAUTH_OIDC_CONFIG_ENDPOINT: 'http://127.0.0.1:1/',
    };
    expect(run(['openapi', '-f', path], { environment: settings }).code).toBe(0);
    const document = JSON.parse(readFileSync(path, 'utf8')) as { openapi: string; paths: Record<string, unknown> };
    expect(document.openapi).toBe('3.1.0');
    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining(['/auth/token/login/', '/auth/x/callback/']));
    run(['openapi', '-f', path], { environment: { SERVICE_DISABLE_BASIC_AUTH: 'true' } });
    expect(readFileSync(path, 'utf8')).not.toContain('/auth/token/login/');
  });

  it('email-settings shows the mail settings without the password', () => {
    expect(run(['email-settings'])).toMatchObject({ code: 0, out: expect.stringContaining('Mail is off') });
    const mail = {
      SERVICE_EMAIL_SENDER: 'a@example.org',
      SERVICE_EMAIL_SMTP_SERVER: '127.0.0.1',
      SERVICE_EMAIL_SMTP_PORT: '1',
      SERVICE_EMAIL_INSTANCE_NAME: 'Lab',
      SERVICE_EMAIL_RECIPIENTS: 'b@example.org,c@example.org',
      SERVICE_EMAIL_PASSWORD: 'hidden',
    };
    const shown = run(['email-settings'], { environment: mail });
    expect(shown.out).toContain('recipients: b@example.org, c@example.org');
    expect(shown.out).not.toContain('hidden');
    expect(run(['email-settings', '--send-test'], { environment: mail }).code).toBe(1);
    expect(run(['email-settings'], { environment: { ...mail, SERVICE_EMAIL_SENDER: '' } }).code).toBe(1);
  });
});

describe('init-db-data', () => {
  const ADMIN = ['--admin-email', 'admin@example.org', '--admin-pwd', '1234', '--admin-project-dir', '/projects'];
  const PLACE = ['--resource', 'default', '--profile', 'default'];

  it('creates group, administrator, resource and profile, and gives everybody the profile', async () => {
    await withTables();
    expect(run(['init-db-data', ...ADMIN, ...PLACE])).toMatchObject({ code: 0 });
    expect(
      await query(
        'select email, is_superuser, is_verified, is_active, project_dirs, profile_id is not null as profile from users',
      ),
    ).toEqual([
      {
        email: 'admin@example.org',
        is_superuser: true,
        is_verified: true,
        is_active: true,
        project_dirs: ['/projects'],
        profile: true,
      },
    ]);
    expect(await query('select g.name from user_groups g join group_members m on m.group_id = g.id')).toEqual([
      { name: 'All' },
    ]);
    const [resource] = await query<Record<string, unknown>>('select * from resources');
    expect(resource).toMatchObject({
      name: 'Local resource',
      type: 'local',
      jobs_local_dir: join(folder, 'data-jobs'),
      tasks_local_dir: join(folder, 'data-tasks'),
      jobs_poll_interval: 0,
      jobs_runner_config: { parallel_tasks_per_job: null },
      tasks_pixi_config: {},
    });
    expect(await query('select name, resource_type from profiles')).toEqual([
      { name: 'Local profile', resource_type: 'local' },
    ]);

    expect(run(['init-db-data', ...ADMIN])).toMatchObject({
      code: 0,
      out: expect.stringContaining('superuser already'),
    });
    expect(run(['init-db-data', ...PLACE]).code).toBe(1);
  });

  it('takes resource and profile from files, and stores nothing when one is wrong', async () => {
    await withTables();
    const resource = {
      type: 'slurm_sudo',
      name: 'Cluster',
      jobs_local_dir: '/j',
      tasks_local_dir: '/t',
      jobs_slurm_python_worker: '/w',
      jobs_runner_config: {
        default_slurm_config: { partition: 'main' },
        batching_config: {
          target_num_jobs: 1,
          max_num_jobs: 1,
          target_cpus_per_job: 1,
          max_cpus_per_job: 1,
          target_mem_per_job: '1G',
          max_mem_per_job: '2G',
        },
      },
      tasks_python_config: { default_version: '3.11', versions: { '3.11': '/usr/bin/python3.11' } },
      tasks_pixi_config: {},
    };
    const good = file('resource.json', resource);
    const profile = file('profile.json', { resource_type: 'slurm_sudo', name: 'P', username: 'u', resource_id: 77 });
    const wrong = file('wrong.json', { ...resource, jobs_local_dir: 'relative' });
    expect(run(['init-db-data', '--resource', wrong, '--profile', profile])).toMatchObject({
      code: 1,
      err: expect.stringContaining('jobs_local_dir'),
    });
    expect(run(['init-db-data', '--resource', good, '--profile', 'default']).code).toBe(1);
    expect(
      run(['init-db-data', '--resource', good, '--profile', file('p.json', { resource_type: 'slurm_sudo', name: 'P' })])
        .code,
    ).toBe(1);
    expect(run(['init-db-data', '--resource', file('broken.json', '{'), '--profile', profile]).err).toContain(
      'not valid JSON',
    );
    expect(run(['init-db-data', '--resource', '/no/such/file', '--profile', profile]).code).toBe(1);
    expect(await query('select * from resources')).toEqual([]);
    expect(run(['init-db-data', '--resource', good, '--profile', profile]).code).toBe(0);
    expect(await query('select username from profiles')).toEqual([{ username: 'u' }]);
  });

  it.each([
    [['--admin-email', 'a@example.org'], 'together'],
    [['--resource', 'default'], 'together'],
    [['--admin-email', 'a', '--admin-pwd', '1234', '--admin-project-dir', '/a'], 'e-mail'],
    [['--admin-email', 'a@example.org', '--admin-pwd', '123', '--admin-project-dir', '/a'], 'at least 4'],
    [['--admin-email', 'a@example.org', '--admin-pwd', '1234', '--admin-project-dir', 'a'], 'project folder'],
  ])('refuses %j, and keeps the group', async (args, text) => {
    await withTables();
    const { code, err } = run(['init-db-data', ...args]);
    expect(code).toBe(1);
    expect(err).toContain(text);
    expect(await query('select name from user_groups')).toEqual([{ name: 'All' }]);
    expect(await query('select id from users')).toEqual([]);
  });

  it('reads the password from standard input or the environment', async () => {
    await withTables();
    const args = ['init-db-data', '--admin-email', 'a@example.org', '--admin-project-dir', '/a'];
    expect(run([...args, '--admin-pwd', '-'], { input: '123\n' }).code).toBe(1);
    expect(run([...args, '--admin-pwd', '-'], { input: '1234\n' }).code).toBe(0);
    await query('delete from users');
    expect(run(args, { environment: { SERVICE_ADMIN_PWD: '1234' } }).code).toBe(0);
  });
});

describe('submissions', () => {
  it('are switched off and on for every resource; each change is in the audit log, with the account of the system', async () => {
    await withTables();
    run(['init-db-data', '--resource', 'default', '--profile', 'default']);
    await query('truncate audit_log');
    expect(run(['submissions-disable'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('refused on 1 resource now'),
    });
    expect(await query('select prevent_new_submissions as off from resources')).toEqual([{ off: true }]);
    expect(run(['submissions-disable']).code).toBe(0);
    expect(run(['submissions-enable']).code).toBe(0);
    expect(await query('select prevent_new_submissions as off from resources')).toEqual([{ off: false }]);
    const change = (from: boolean, to: boolean) => ({
      user_email: null,
      via: 'servicectl',
      account: userInfo().username,
      action: 'resource.update',
      details: { prevent_new_submissions: { from, to } },
    });
    expect(
      await query(`
        select user_email, via, split_part(address, '@', 1) as account, action, details from audit_log order by id`),
    ).toEqual([change(false, true), change(true, false)]);
  });
});

describe('recent', () => {
  it('lists jobs and activities that go on or ended lately, and says whether a restart is safe', async () => {
    await withTables();
    await query(`
      insert into users (id, email, hashed_password, project_dirs) values (1, 'a@example.org', '', '{/p}');
      insert into jobs (user_email, status, start_timestamp, end_timestamp, first_task_index, last_task_index,
        dataset_dump, workflow_dump, project_dump, fractal_server_version)
      select 'b@example.org', s.status, s.started, s.ended, 0, 0, '{}', '{}', '{}', '0' from (values
        ('failed', now() - interval '1 hour', now() - interval '3 minutes'),
        ('done', now() - interval '1 day', now() - interval '3 minutes'),
        ('done', now() - interval '1 hour', now() - interval '3 minutes'),
        ('done', now() - interval '1 hour', now() - interval '30 minutes')) s (status, started, ended);
      insert into task_group_activities (user_id, pkg_name, version, status, action, fractal_server_version,
        timestamp_started, timestamp_ended)
      select 1, 'pkg', '1.0', s.status, 'collect', '0', '2026-01-02T03:04:05.6Z', s.ended from (values
        ('failed', now()), ('OK', now()), ('OK', now() - interval '2 hours')) s (status, ended)`);
    const idle = run(['recent']);
    expect(idle.code).toBe(0);
    expect(idle.out).toMatch(
      /^## Summary\nNothing runs; 5 jobs or task-group activities ended in the last 20 minutes\. A restart is safe\.\n\n## Recent jobs\n/,
    );
    const ids = (out: string) => [...out.matchAll(/^ID=(\d+) by/gm)].map(([, id]) => Number(id));
    expect(ids(idle.out)).toEqual([3, 2, 1, 2, 1]);
    expect(idle.out).toContain(
      '## Recent task-group activities\nID=2 by a@example.org collect pkg 1.0 OK start=2026-01-02 03:04:05 end=20',
    );
    expect(ids(run(['recent', '--minutes', '99999999999999999999']).out)).toHaveLength(7);
    expect(run(['recent', '--minutes', '1']).out).toContain(
      'Nothing runs; 2 jobs or task-group activities ended in the last minute.',
    );
    await query(`
      update jobs set status = 'submitted', end_timestamp = null where id = 4;
      update task_group_activities set status = 'pending', timestamp_ended = null where id = 3;
      update task_group_activities set status = 'ongoing', timestamp_ended = null where id = 1`);
    const busy = run(['recent', '--minutes', '0']);
    expect(busy.out).toMatch(
      /^## Summary\n3 jobs or task-group activities are running\. Wait for them before a restart\.\n\n## Recent jobs\n/,
    );
    expect(ids(busy.out)).toEqual([4, 1, 3]);
    expect(busy.out).toMatch(/ID=4 by b@example\.org submitted start=[\d-]+ [\d:]+ end=-\n/);
    await query(`update task_group_activities set status = 'OK', timestamp_ended = now()`);
    expect(run(['recent']).out).toContain('1 job or task-group activity is running. Wait for it before a restart.');
  });
});

describe('sync-core-tasks', () => {
  it('reads its files and says what does not exist', async () => {
    await withTables();
    run(['init-db-data', '--resource', 'default', '--profile', 'default']);
    const [{ id: resource_id }] = (await query<{ id: number }>('select id from resources')) as [{ id: number }];
    const [{ id: user_group_id }] = (await query<{ id: number }>('select id from user_groups')) as [{ id: number }];
    const pairs = (content: unknown) => ['sync-core-tasks', '--resources-and-groups', file('pairs.json', content)];
    const base = file('base.json', [
      ['pkg', '1.0', 'Task'],
      ['pkg', '1.0', 'Task'],
    ]);
    expect(run([...pairs([{ resource_id, user_group_id }]), '--base', base]).code).toBe(0);
    expect(run(pairs([{ resource_id: 987, user_group_id }]))).toMatchObject({
      code: 1,
      err: expect.stringContaining('resource 987'),
    });
    expect(run(pairs([{ resource_id, user_group_id: 987 }])).code).toBe(1);
    expect(run(pairs({})).code).toBe(1);
    expect(run([...pairs([]), '--add', file('add.json', [['pkg', '1.0']])]).code).toBe(1);
  });

  it('makes exactly the wanted tasks core tasks, everything or nothing', async () => {
    await withTables();
    run(['init-db-data', '--resource', 'default', '--profile', 'default']);
    await query(`
      insert into users (id, email, hashed_password, project_dirs) values (1, 'a@example.org', '', '{/p}');
      insert into user_groups (id, name) values (100, 'other');
      insert into task_groups (id, user_id, user_group_id, resource_id, origin, pkg_name, version)
      select g.id, 1, g.group_id, r.id, 'pypi', g.pkg_name, g.version from resources r, (values
        (1, (select id from user_groups where name = 'All'), 'pkg', '1.0'), (2, 100, 'pkg', '2.0'),
        (3, null, 'other', '1.0')) g (id, group_id, pkg_name, version);
      insert into tasks (id, taskgroupv2_id, name, type, version, is_core) values
        (1, 1, 'A', 'parallel', '1', true), (2, 1, 'B', 'parallel', '1', false), (3, 2, 'A', 'parallel', '1', true),
        (4, 3, 'A', 'parallel', '1', true)`);
    const [place] = await query<{ resource_id: number; user_group_id: number }>(
      "select r.id as resource_id, g.id as user_group_id from resources r, user_groups g where g.name = 'All'",
    );
    const core = async () =>
      (await query<{ id: number }>('select id from tasks where is_core order by id')).map(({ id }) => id);
    const pairs = file('places.json', [place, place]);
    const sync = (...args: string[]) => run(['sync-core-tasks', '--resources-and-groups', pairs, ...args]);

    const broken = file('unknown.json', [{ ...place, user_group_id: 987 }]);
    expect(run(['sync-core-tasks', '--resources-and-groups', broken])).toMatchObject({
      code: 1,
      out: 'Core tasks before: 3\nCore tasks now: 3 (0 wanted)\n',
    });
    const base = file('base2.json', [
      ['pkg', '1.0', 'A'],
      ['pkg', '2.0', 'A'],
      ['none', '1.0', 'A'],
    ]);
    const add = file('add2.json', [
      ['pkg', '1.0', 'B'],
      ['pkg', '1.0', 'B'],
    ]);
    expect(sync('--base', base, '--add', add)).toMatchObject({
      code: 0,
      out: 'Core tasks before: 3\nCore tasks now: 2 (4 wanted)\n',
    });
    expect(await core()).toEqual([1, 2]);
    expect(sync('--base', base, '--add', add, '--remove', file('remove2.json', [['pkg', '1.0', 'A']])).code).toBe(0);
    expect(await core()).toEqual([2]);

    await query(`
      insert into users (id, email, hashed_password, project_dirs) values (2, 'b@example.org', '', '{/p}');
      insert into task_groups (id, user_id, user_group_id, resource_id, origin, pkg_name, version)
      select 4, 2, 100, id, 'pypi', 'pkg', '1.0' from resources;
      insert into tasks (id, taskgroupv2_id, name, type, version) values (5, 4, 'A', 'parallel', '1')`);
    const both = file('both.json', [place, { ...place, user_group_id: 100 }]);
    const twice = run(['sync-core-tasks', '--resources-and-groups', both, '--base', base]);
    expect(twice).toMatchObject({ code: 1, err: expect.stringContaining('A of pkg 1.0') });
    expect(await core()).toEqual([2]);
    expect(sync().code).toBe(0);
    expect(await core()).toEqual([]);
  });
});
