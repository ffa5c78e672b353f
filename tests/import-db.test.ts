/** `servicectl import-db`, run as people run it: what it says, what it refuses, and what it leaves alone. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';
import { describe, expect, it } from 'vitest';

import { type Existing, openSample } from '../packages/server/test/support/existing-database.ts';
import { LONG, oneIn } from '../packages/server/test/support/long.ts';
import { addUnits, dumpOf, importScene, signIn, urlOf } from './support/importing.ts';
import { cleanEnvironment, program, ROOT, servicectl, startService } from './support/processes.ts';

const scene = importScene();
const { connection, folder } = scene;

/** A role that can read a database, and nothing else. */
async function readingRole(from: Existing) {
  const name = `reader_${randomBytes(4).toString('hex')}`;
  await scene.administer(`create role ${name} login password 'reading'`);
  await from.query(`grant select on all tables in schema public to ${name}`);
  await from.query(`grant select on all sequences in schema public to ${name}`);
  await from.leave();
  return {
    name,
    password: 'reading',
    async drop() {
      await from.query(`drop owned by ${name}`);
      await scene.administer(`drop role ${name}`);
    },
  };
}

describe('an import', () => {
  it('is tried first, then done once, by a role that can only read, and leaves the source as it was', async () => {
    const role = await readingRole(scene.from);
    const before = dumpOf(connection, scene.from.name);
    const reader = (...args: string[]) => scene.run(args, { PGPASSWORD: role.password }, scene.url(role.name));
    try {
      const report = join(folder, 'report.json');
      const trial = await reader('--dry-run', '--report', report);
      expect(trial).toMatchObject({ code: 0, err: '', out: expect.stringContaining('nothing was stored') as unknown });
      expect(await scene.rowsInTarget()).toBe(0);
      expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ dry_run: true, rules: [] });

      const done = await reader('--report', report);
      expect(done).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringContaining('Imported and verified.') as unknown,
      });
      expect(done.out).toMatch(/^users +3 +3 +0 +0 {2}ok$/m);
      expect(done.out).toMatch(/^ *folders of jobs +0 +1 +0$/m);
      expect(done.out).toContain('SERVICE_RUNNER_BACKEND=local');
      const written = JSON.parse(readFileSync(report, 'utf8')) as Record<string, unknown>;
      const [stored] = await scene.administer<{ report: object }>('select report from imports', scene.target);
      expect(written).toEqual(stored!.report);
      expect(written).toMatchObject({
        source: { database: scene.from.name, revision: '3ddaf7271fc3', release: '2.24.3 to 2.25.0' },
        dry_run: false,
        files: { job_folders: { there: 0, missing: 1, unreadable: 0 } },
      });
      expect(existsSync(`${report}.part`)).toBe(false);

      const again = await reader();
      expect(again).toMatchObject({ code: 0, err: '', out: expect.stringContaining('imported already') as unknown });
      const verified = await reader('--verify');
      expect(verified).toMatchObject({ code: 0, err: '' });
      expect(verified.out).toMatch(/^users +3 +3 {2}ok$/m);
      expect(dumpOf(connection, scene.from.name)).toBe(before);

      await scene.administer(`update projects set name = 'changed'`, scene.target);
      const changed = await reader('--verify');
      expect(changed).toMatchObject({ code: 1, err: expect.stringContaining('projects') as unknown });
    } finally {
      await role.drop();
    }
  });

  // what is small goes into the embedded one in all runs, below
  it.each(LONG ? ['given', 'embedded'] : ['given'])(
    'of years of work goes into the %s database: tried, done, done once',
    async (kind) => {
      const old = await openSample(connection);
      const role = await readingRole(old);
      try {
        const before = dumpOf(connection, old.name);
        const own = kind === 'given' ? scene.environment : { SERVICE_DATA_DIR: join(folder, 'sample') };
        const run = (...args: string[]) =>
          servicectl(['import-db', '--from', urlOf(connection, old.name, role.name), ...args], {
            ...{ folder, environment: { ...own, PGPASSWORD: role.password } },
          });
        expect(run('--dry-run')).toMatchObject({ code: 0, err: '' });
        if (kind === 'given') expect(await scene.rowsInTarget()).toBe(0);
        const done = run();
        expect(done).toMatchObject({ code: 0, err: '' });
        expect(done.out).toMatch(/^users +56 +56 +0 +0 {2}ok$/m);
        expect(done.out).toMatch(/^history_units +905 +905 +\d+ +0 {2}ok$/m);
        expect(run()).toMatchObject({ code: 0, out: expect.stringContaining('imported already') as unknown });
        expect(run('--verify')).toMatchObject({ code: 0, err: '' });
        expect(dumpOf(connection, old.name) === before).toBe(true);
      } finally {
        await role.drop();
        await old.drop();
      }
    },
  );

  it.runIf(LONG)(
    'goes into the embedded database, takes the key along, and the service starts with what was imported',
    async () => {
      const data = join(folder, 'embedded');
      const old = join(folder, 'old.env');
      const { host, port, user, password } = connection;
      const lines = {
        POSTGRES_DB: scene.from.name,
        POSTGRES_HOST: host,
        POSTGRES_PORT: port,
        POSTGRES_USER: user,
        POSTGRES_PASSWORD: password,
        JWT_SECRET_KEY: 'key of the old settings',
      };
      writeFileSync(
        old,
        Object.entries(lines)
          .map(([name, value]) => `${name}=${value}\n`)
          .join(''),
      );
      await scene.from.leave();
      const own = { SERVICE_DATA_DIR: data };
      const embedded = (...args: string[]) =>
        servicectl(['import-db', '--from-env', old, ...args], { folder, environment: own });
      expect(embedded('--dry-run')).toMatchObject({ code: 0, err: '' });
      const key = join(data, 'secrets/signing-key');
      expect(existsSync(key)).toBe(false);
      const done = embedded();
      expect(done).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringContaining('people stay signed in') as unknown,
      });
      expect(readFileSync(key, 'utf8').trim()).toBe(lines.JWT_SECRET_KEY);
      // the command may have been killed right after the import was stored
      rmSync(key);
      expect(embedded()).toMatchObject({ code: 0, out: expect.stringContaining('imported already') as unknown });
      expect(readFileSync(key, 'utf8').trim()).toBe(lines.JWT_SECRET_KEY);

      const service = startService(['--port', '0'], { environment: own });
      try {
        const [, url] = await service.said(/answers at (http:\/\/\S+)/);
        const admin = await signIn(url!, 'admin@example.org');
        expect((await admin.get('/auth/users/')).body).toHaveLength(3);
        expect((await admin.get('/admin/v2/resource/')).body).toHaveLength(1);
        expect((await admin.get('/auth/group/')).body).toHaveLength(1);
      } finally {
        service.process.kill('SIGTERM');
        await service.ended;
      }
    },
  );
});

describe('a refusal', () => {
  interface Refused {
    name: string;
    arrange?(): Promise<unknown>;
    args?: string[];
    settings?(): Record<string, string>;
    url?(): string;
    says: string;
  }

  const CASES: Refused[] = [
    {
      name: 'a database of something else',
      arrange: () => scene.from.query('drop table alembic_version'),
      says: 'not a database of the existing system',
    },
    {
      name: 'a database with two revisions',
      arrange: () => scene.from.query(`insert into alembic_version values ('another')`),
      says: 'has 2 rows',
    },
    {
      name: 'an older revision',
      arrange: () => scene.from.query(`update alembic_version set version_num = '66f492f489c3'`),
      says: 'of release 2.23.3',
    },
    {
      name: 'a revision that nobody knows',
      arrange: () => scene.from.query(`update alembic_version set version_num = 'ffffffffffff'`),
      says: 'unknown revision ffffffffffff; this service knows 2.23.4 to 2.26.0',
    },
    {
      name: 'a missing column',
      arrange: () => scene.from.query('alter table taskv2 drop column is_core'),
      says: 'lacks the column taskv2.is_core',
    },
    {
      name: 'a missing table',
      arrange: () => scene.from.query('drop table accountingrecord'),
      says: 'lacks the table accountingrecord',
    },
    {
      name: 'the source as target',
      settings: () => ({ POSTGRES_DB: scene.from.name }),
      says: 'Make an empty database for the service',
    },
    {
      name: 'another existing deployment as target',
      arrange: () => scene.administer('create table alembic_version (version_num text)', scene.target),
      says: 'a database of the existing system. Name another one',
    },
    {
      name: 'a target with something in it',
      arrange: () => {
        const settings = { folder, environment: scene.environment };
        servicectl(['set-db'], settings);
        servicectl(
          ['init-db-data', '--admin-email', 'a@example.org', '--admin-pwd', '1234', '--admin-project-dir', '/p'],
          settings,
        );
        return Promise.resolve();
      },
      says: 'not empty: there are rows in users',
    },
    {
      name: 'a task of an unknown type',
      arrange: () => scene.from.add('taskv2', { id: 77, type: 'odd' }),
      says: 'tasks of an unknown type: 77',
    },
    {
      name: 'an activity with an unknown action',
      arrange: () => scene.from.add('taskgroupactivityv2', { id: 77, action: 'odd' }),
      says: 'activities with an unknown action: 77',
    },
    {
      name: 'a name that no index can hold',
      arrange: () => scene.from.add('jobv2', { id: 77, user_email: randomBytes(1500).toString('hex') }),
      says: 'jobs whose user_email is too long: 77',
    },
    {
      name: 'projects that nobody can get',
      arrange: async () => {
        await scene.from.query('update user_oauth set is_superuser = false');
        await scene.from.add('projectv2', { id: 77, name: 'orphan' });
      },
      says: '--orphans-to EMAIL',
    },
    { name: 'an heir who is not there', args: ['--orphans-to', 'x@example.org'], says: 'no account x@example.org' },
    { name: 'a report that cannot be written', args: ['--report', '/no/such/folder/r.json'], says: '/no/such/folder' },
    { name: 'a source that does not answer', url: () => 'postgresql://x@127.0.0.1:1/x', says: "can't be reached" },
    {
      name: 'a row that fits no rule',
      arrange: async () => {
        await scene.from.query('alter table linkuserprojectv2 drop constraint linkuserprojectv2_permissions_check');
        await scene.from.query(`update linkuserprojectv2 set permissions = 'x' where user_id = 3`);
      },
      says: 'rows for project_guests do not fit',
    },
  ];

  it.each(oneIn(3, CASES))('$name', async ({ arrange, args = [], settings, url, says }) => {
    await arrange?.();
    const before = await scene.rowsInTarget();
    const { code, err, out } = await scene.run(args, settings?.(), url?.());
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain(says);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(await scene.rowsInTarget()).toBe(before);
    expect(await scene.from.query(`select to_regclass('users') as ours`)).toEqual([{ ours: null }]);
  });

  it('of a role that is not allowed to read', async () => {
    const role = `nobody_${randomBytes(4).toString('hex')}`;
    await scene.administer(`create role ${role} login password 'reading'`);
    try {
      const { code, err } = await scene.run([], { PGPASSWORD: 'reading' }, scene.url(role));
      expect([code, err]).toEqual([1, expect.stringContaining('GRANT SELECT ON ALL TABLES IN SCHEMA public')]);
      expect(err).toContain('GRANT SELECT ON ALL SEQUENCES');
    } finally {
      await scene.administer(`drop role ${role}`);
    }
  });

  it('of a server that is still in use, unless somebody says that it may be', async () => {
    await scene.from.leave();
    const other = new pg.Client({ ...connection, database: scene.from.name, application_name: 'old server' });
    await other.connect();
    try {
      const refused = servicectl(['import-db', '--from', scene.url()], { folder, environment: scene.environment });
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('(old server)')]);
      expect(refused.err).toContain('Stop the existing server first, or add --source-in-use');
      const allowed = servicectl(['import-db', '--from', scene.url(), '--source-in-use'], {
        folder,
        environment: scene.environment,
      });
      expect(allowed).toMatchObject({ code: 0, err: '' });
    } finally {
      await other.end();
    }
  });

  it('of a second import at the same time', async () => {
    expect(servicectl(['set-db'], { folder, environment: scene.environment }).code).toBe(0);
    const holder = new pg.Client({ ...connection, database: scene.target });
    await holder.connect();
    await holder.query('select pg_advisory_lock(8, 0)');
    try {
      expect(await scene.run([])).toMatchObject({ code: 1, err: expect.stringContaining('Another import') as unknown });
    } finally {
      await holder.end();
    }
  });

  it.each([
    [[], 'give --from or --from-env'],
    [['--from', 'postgresql://a:secret@h/d'], 'leave the password out'],
    [['--from', 'mysql://a@h/d'], 'postgresql://user@host:5432/database'],
    [['--from', 'postgresql://a@h/d', '--from-env', 'x'], 'cannot be used with'],
    [['--from', 'postgresql://a@h/d', '--verify', '--dry-run'], 'cannot be used with'],
  ])('of wrong usage: %j', (args, says) => {
    const { code, err } = servicectl(['import-db', ...args], { folder, environment: scene.environment });
    expect([code, err]).toEqual([2, expect.stringContaining(says)]);
    expect(err).not.toContain('secret');
  });

  it('of a settings file that is not there, or names nothing', () => {
    const empty = join(folder, 'empty.env');
    writeFileSync(empty, '');
    for (const file of [empty, '/no/such/file']) {
      const { code, err } = servicectl(['import-db', '--from-env', file], { folder, environment: scene.environment });
      expect([code, err]).toEqual([1, expect.stringContaining(file)]);
    }
  });

  it('a lone group that init-db-data made is no reason', async () => {
    const settings = { folder, environment: { ...scene.environment, SERVICE_DEFAULT_GROUP_NAME: 'All' } };
    servicectl(['set-db'], settings);
    expect(servicectl(['init-db-data'], settings).code).toBe(0);
    expect(await scene.administer('select name from user_groups', scene.target)).toEqual([{ name: 'All' }]);
    expect(await scene.run([])).toMatchObject({ code: 0, err: '' });
    expect(await scene.administer('select id, name from user_groups', scene.target)).toEqual([{ id: 1, name: 'All' }]);
  });
});

describe('a password', () => {
  /** In a terminal, with keys typed into it. */
  function inTerminal(keys: string, more: Record<string, string> = {}, files: string[] = ['--dry-run']) {
    const command = [join(ROOT, 'node_modules/.bin/node'), join(ROOT, program('servicectl')), 'import-db'];
    const args = JSON.stringify([...command, '--from', scene.url(), ...files]);
    const { PGPASSWORD: _, ...own } = scene.environment;
    // keys come when they are asked for
    const typing = `
import json, os, pty, sys
argv, keys, seen, sent = json.loads(sys.argv[1]), sys.argv[2].encode(), b'', False
pid, terminal = pty.fork()
if pid == 0: os.execv(argv[0], argv)
while True:
    try: chunk = os.read(terminal, 4096)
    except OSError: break
    if not chunk: break
    seen += chunk
    if not sent and b'Password' in seen: os.write(terminal, keys + b'\\n'); sent = True
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`;
    const done = spawnSync('python3', ['-c', typing, args, keys], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
      env: { ...cleanEnvironment(own), HOME: folder, ...more },
    });
    return { code: done.status, out: done.stdout };
  }

  it('is asked for in a terminal, and never shown; rows are counted while they go', async () => {
    await addUnits(scene.from, 200_000);
    await scene.from.leave();
    const { code, out } = inTerminal(connection.password!);
    expect([code, out]).toEqual([0, expect.stringContaining('This was a trial')]);
    expect(out).toContain('Password for the source database:');
    expect(out).not.toContain(connection.password!);
    expect(out).toMatch(/^[a-z_]+: \d+ rows, \d+ rows\/s\r?$/m);
    const wrong = inTerminal('wrong');
    expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining("can't be reached")]);
    expect(wrong.out).not.toContain('wrong');
  });

  it('comes from ~/.pgpass, and is missed in one sentence where nobody can be asked', async () => {
    await scene.from.leave();
    const home = join(folder, 'home');
    mkdirSync(home, { recursive: true });
    const { PGPASSWORD: _, ...own } = scene.environment;
    const args = ['import-db', '--from', scene.url(), '--dry-run'];
    const missing = servicectl(args, { folder, environment: { ...own, HOME: home } });
    expect([missing.code, missing.err.trim()]).toEqual([
      1,
      expect.stringMatching(/^The source database wants a password\. Give it in PGPASSWORD or in ~\/\.pgpass\.$/),
    ]);
    writeFileSync(join(home, '.pgpass'), `*:*:*:${connection.user!}:${connection.password!}\n`);
    chmodSync(join(home, '.pgpass'), 0o600);
    expect(servicectl(args, { folder, environment: { ...own, HOME: home } })).toMatchObject({ code: 0, err: '' });
  });
});
