/** What the operator's guide has people do with the database and with backups of the embedded one, done as it is written. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, describe, expect, inject, it, onTestFailed } from 'vitest';

import { freePort } from '../packages/server/src/db/free-port.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { type Client, clientOf } from '../packages/server/test/support/server.ts';
import { administer, settingsFor } from './support/importing.ts';
import { linesOf, NPM_START, runBlock, startBlock } from './support/manual-commands.ts';
import { blockOf } from './support/manual-texts.ts';
import { newFolder } from './support/mounted.ts';
import { ROOT, servicectl } from './support/processes.ts';

const PASSWORD = 'operator-password';
const READY = /answers at (http:\/\/\S+)/;
const connection = inject('connection');
const databases: string[] = [];

afterAll(async () => {
  for (const name of databases) await administer(connection, `drop database if exists ${name} with (force)`);
});

const newName = (name: string) => {
  databases.push(`${name}_${randomBytes(4).toString('hex')}`);
  return databases.at(-1)!;
};

/** For createdb, psql and pg_dump. */
const TOOLS = {
  PGHOST: connection.host,
  PGPORT: String(connection.port),
  PGUSER: connection.user!,
  PGPASSWORD: connection.password!,
};

async function signIn(url: string): Promise<Client> {
  const form = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
  const { body, text } = await clientOf(url).raw('/auth/token/login/', { method: 'POST', body: form });
  expect(text).toContain('access_token');
  return clientOf(url, (body as { access_token: string }).access_token);
}

const projects = async (client: Client) =>
  ((await client.get('/api/v2/project/')).body as { name: string }[]).map(({ name }) => name);

const tables = async (database: string) => {
  const sql = `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`;
  return (await administer<{ name: string }>(connection, sql, database)).map(({ name }) => name);
};

describe('a PostgreSQL server of your own', () => {
  it('gets tables, an administrator and a resource, and the service starts', async () => {
    const folder = newFolder('manual-database');
    const name = newName('own');
    await administer(connection, `create database ${name}`);
    const started = startBlock(blockOf('docs/operate/database.md', 'servicectl set-db'), {
      folder,
      replace: { '/data/projects/admin': join(folder, 'projects') },
      environment: {
        ...settingsFor(connection, name),
        SERVICE_DATA_DIR: join(folder, 'data'),
        SERVICE_PORT: String(await freePort()),
      },
      input: `${PASSWORD}\n`,
    });
    onTestFailed(() => console.error(started.output()));
    try {
      const [, url] = await started.said(READY);
      const client = await signIn(url!);
      expect((await client.get('/admin/v2/resource/')).body).toHaveLength(1);
    } finally {
      expect(await started.stop()).toBe(0);
    }
  });

  it('that is an existing deployment’s gets rid of our tables, which stay in a copy', async () => {
    const folder = newFolder('manual-copy');
    const [old, copy] = [newName('old'), newName('service')];
    await administer(connection, `create database ${old}`);
    const environment = settingsFor(connection, old);
    expect(servicectl(['set-db'], { folder, environment })).toMatchObject({ code: 0 });
    const ours = await tables(old);
    await administer(connection, 'create table alembic_version (version_num text)', old);

    const copied = runBlock(blockOf('docs/operate/database.md', 'pg_dump old'), {
      folder,
      replace: { old, service: copy },
      environment: TOOLS,
    });
    expect(copied).toMatchObject({ code: 0, err: '' });
    expect(await tables(copy)).toEqual(ours);
    expect(servicectl(['recent'], { folder, environment: settingsFor(connection, copy) })).toMatchObject({ code: 0 });

    const drop = blockOf('docs/operate/database.md', 'drop table accounting_records');
    const dropped = runBlock(drop, { folder, replace: { old }, environment: TOOLS });
    expect(dropped).toMatchObject({ code: 0, out: 'DROP TABLE\n' });
    const left = await tables(old);
    expect(left).toContain('alembic_version');
    expect(left).not.toContain('projects');
  });
});

/** Five starts, each with the database. */
describe.runIf(LONG)('a backup of the embedded database', () => {
  /** Starts and stops the service of a data folder, and waits for it, as systemctl does. */
  const systemctl = (folder: string, data: string, port: number) => `
    cd ${ROOT}
    pid=${folder}/service.pid
    [ "$2" = service ] || exit 2
    case $1 in
      stop) kill "$(cat $pid)"; while kill -0 "$(cat $pid)" 2>/dev/null; do sleep 0.1; done ;;
      start)
        SERVICE_WEB_CLIENT=false setsid node_modules/.bin/node packages/server/bin/start.cjs --data-dir ${data} --port ${port} \\
          --admin-pwd ${PASSWORD} >>${folder}/service.log 2>&1 </dev/null &
        echo $! >$pid
        until grep -q 'answers at' ${folder}/service.log; do kill -0 $! || exit 1; sleep 0.1; done
        until curl --silent --fail --output ${folder}/ready http://127.0.0.1:${port}/api/ready/; do kill -0 $! || exit 1; sleep 0.1; done ;;
    esac`;

  it('brings back what there was, and can be tried out beside it', async () => {
    const folder = newFolder('manual-backup');
    const [home, backups, trial] = [join(folder, 'service'), join(folder, 'backup'), join(folder, 'trial')];
    const data = join(home, 'data');
    const [port, trialPort] = await Promise.all([freePort(), freePort()]);
    const standIns = { systemctl: systemctl(folder, data, port) };
    const url = `http://127.0.0.1:${port}`;
    const system = (verb: string) => runBlock(linesOf(`systemctl ${verb} service`), { folder, standIns });
    for (const one of [home, backups]) mkdirSync(one);
    // connections to the service before it restarted are noticed as closed
    const answers = () =>
      expect.poll(async () => (await fetch(`${url}/api/ready/`)).status, { timeout: 60_000 }).toBe(200);
    onTestFailed(() => console.error(readFileSync(join(folder, 'service.log'), 'utf8')));
    try {
      expect(system('start')).toMatchObject({ code: 0 });
      await (await signIn(url)).post('/api/v2/project/', { name: 'before' });
      const backup = blockOf('docs/operate/backup.md', 'tar --exclude');
      expect(runBlock(backup, { folder, standIns, replace: { '/srv/service': home, '/backup': backups } })).toEqual({
        code: 0,
        out: '',
        err: '',
      });
      await answers();
      await (await signIn(url)).post('/api/v2/project/', { name: 'after' });

      const restore = blockOf('docs/operate/backup.md', 'data.before');
      const replace = { '/srv/service': home, '/backup/service-2026-01-31.tar.gz': join(backups, 'service-*.tar.gz') };
      expect(runBlock(restore, { folder, standIns, replace })).toEqual({ code: 0, out: '', err: '' });
      await answers();
      expect(await projects(await signIn(url))).toEqual(['before']);
      expect(existsSync(`${data}.before/postgres`)).toBe(true);
    } finally {
      system('stop');
    }

    const tried = startBlock(blockOf('docs/operate/backup.md', 'submissions-disable'), {
      folder,
      standIns: { npm: NPM_START },
      replace: {
        '/srv/trial': trial,
        '/backup/service-2026-01-31.tar.gz': join(backups, 'service-*.tar.gz'),
        '8001': String(trialPort),
      },
      environment: { SERVICE_WEB_CLIENT: 'false' },
    });
    try {
      const client = await signIn((await tried.said(READY))[1]!);
      expect(await projects(client)).toEqual(['before']);
      expect((await client.get('/admin/v2/resource/')).body).toMatchObject([{ prevent_new_submissions: true }]);
      expect(tried.output()).toContain('## Summary');
    } finally {
      expect(await tried.stop()).toBe(0);
    }
  }, 900_000);
});
