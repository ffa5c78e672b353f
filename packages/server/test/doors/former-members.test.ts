/** Who leaves a project takes along nothing that the others read, and opens nothing: a dataset stays in the folder it was made in. */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';

import { openDatabase } from '../../src/db/index.ts';
import { migrations } from '../../src/db/migrations/index.ts';
import { addDataset } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'service-former-members-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const place = (...parts: string[]) => join(root, ...parts);

function put(path: string, content: string): void {
  mkdirSync(dirname(place(path)), { recursive: true });
  writeFileSync(place(path), content);
}

/** What somebody with the disk can do: another folder is where the dataset was. */
function replaceByLink(folder: string, target: string): void {
  renameSync(place(folder), place(`${folder}-moved`));
  symlinkSync(place(target), place(folder));
}

let service: TestService;
let profile: number;
let staying: Person[];
let project: number;

const newPerson = (name: string) =>
  addPerson(service, profile, { email: `${name}@example.org`, project_dirs: [place(name)] });

const read = (path: string) =>
  Promise.all(
    staying.map(async ({ client }) => {
      const { status, text } = await client.get(`/data/files${place(path)}`);
      return status === 200 ? text : status;
    }),
  );

beforeAll(async () => {
  put('outside/secret', 'secret');
  service = await startService({
    settings: { SERVICE_DATA_BASE_PATH: '/data/', SERVICE_DATA_DIR: place('data') },
  });
  profile = await addProfile(service);
  const [owner, guest] = [await newPerson('owner'), await newPerson('guest')];
  staying = [owner, guest];
  project = await addProject(service, owner, 'shared');
  await shareProject(service, project, guest, 'r');
});

/** A member makes datasets in the own folder, and leaves. */
async function leftBehind(name: string, make: (member: Person) => Promise<unknown>): Promise<void> {
  const member = await newPerson(name);
  await shareProject(service, project, member, 'rw');
  await make(member);
  expect((await member.client.delete(`/api/v2/project/${project}/access/`)).status).toBe(204);
}

const create = (name: string, subfolder: string) => async (member: Person) => {
  const body = { name, project_dir: place(name), zarr_subfolder: subfolder };
  const answer = await member.client.post(`/api/v2/project/${project}/dataset/`, body);
  expect([answer.status, answer.body.zarr_dir]).toEqual([201, place(name, subfolder)]);
  return answer;
};

const bring = (name: string, subfolder: string) => async (member: Person) => {
  const body = { name, zarr_dir: place(name, subfolder), images: [] };
  const answer = await member.client.post(`/api/v2/project/${project}/dataset/import/`, body);
  expect(answer.status).toBe(201);
  return answer;
};

describe.each([
  ['made', create],
  ['imported', bring],
])('a dataset that a former member %s', (how, make) => {
  it('is read by those who stay, also where a link leads within its folder', async () => {
    const name = `honest-${how}`;
    put(`${name}/set/x`, 'pixels');
    put(`${name}/storage/x`, 'more pixels');
    symlinkSync(place(name, 'storage'), place(name, 'linked'));
    await leftBehind(name, async (member) => {
      await make(name, 'set')(member);
      await make(name, 'linked')(member);
    });
    expect(await read(`${name}/set/x`)).toEqual(['pixels', 'pixels']);
    expect(await read(`${name}/linked/x`)).toEqual(['more pixels', 'more pixels']);
  });

  it('opens no other folder when a link takes its place', async () => {
    const name = `replaced-${how}`;
    put(`${name}/set/x`, 'pixels');
    await leftBehind(name, make(name, 'set'));
    replaceByLink(`${name}/set`, 'outside');
    expect(await read(`${name}/set/secret`)).toEqual([403, 403]);
  });

  it('is answered as ever', async () => {
    const name = `answered-${how}`;
    put(`${name}/set/x`, 'pixels');
    let made: { body: { id: number } } | undefined;
    await leftBehind(name, async (member) => (made = await make(name, 'set')(member)));
    const { body } = await staying[1]!.client.get(`/api/v2/project/${project}/dataset/${made!.body.id}/`);
    const list = await staying[1]!.client.get(`/api/v2/project/${project}/dataset/`);
    for (const answer of [made!.body, body, ...list.body]) expect(answer).not.toHaveProperty('project_dir');
  });
});

describe('a dataset whose project folder nobody knows', () => {
  it('is read where it is, and through no link', async () => {
    put('unknown/plain/x', 'pixels');
    put('unknown/replaced/x', 'pixels');
    for (const folder of ['plain', 'replaced']) {
      await addDataset(service, project, { zarr_dir: place('unknown', folder) });
    }
    replaceByLink('unknown/replaced', 'outside');
    expect(await read('unknown/plain/x')).toEqual(['pixels', 'pixels']);
    expect(await read('unknown/replaced/secret')).toEqual([403, 403]);
  });
});

describe('a database of before', () => {
  it('gets the nearest folder of the members that a project has, and none where there is none', async () => {
    const administration = new pg.Client(inject('connection'));
    await administration.connect();
    await administration.query('create database without_roots');
    const older = openDatabase({ ...inject('connection'), database: 'without_roots' }, { connections: 1 });
    try {
      const migrator = new Migrator({ db: older.db, provider: { getMigrations: () => Promise.resolve(migrations) } });
      expect((await migrator.migrateTo('0017-chosen-tasks')).error).toBeUndefined();
      await older.pool.query(`
        set session_replication_role = replica;
        insert into users (id, email, hashed_password, project_dirs) values
          (1, 'owner@example.org', '', '{/srv,/srv/owner/,s3://bucket/owner}'), (2, 'guest@example.org', '', '{/srv/guest}'),
          (3, 'invited@example.org', '', '{/srv/invited}'), (4, 'stranger@example.org', '', '{/}');
        insert into projects (id, name, resource_id, owner_id) values (1, 'p', 1, 1);
        insert into project_guests (project_id, user_id, is_verified, permissions) values
          (1, 2, true, 'r'), (1, 3, false, 'rw');
        insert into datasets (id, name, project_id, zarr_dir) values
          (1, 'a', 1, '/srv/owner/a'), (2, 'b', 1, '/srv/guest'), (3, 'c', 1, '/srv/guest2/c'),
          (4, 'd', 1, '/srv/invited/d'), (5, 'e', 1, '/elsewhere/e'), (6, 'f', 1, 's3://bucket/owner/f');
        set session_replication_role = origin`);
      expect((await migrator.migrateToLatest()).error).toBeUndefined();
      const { rows } = await older.pool.query('select project_dir from datasets order by id');
      expect(rows.map(({ project_dir }: { project_dir: string | null }) => project_dir)).toEqual([
        '/srv/owner/',
        '/srv/guest',
        '/srv',
        '/srv',
        null,
        's3://bucket/owner',
      ]);
    } finally {
      await older.close();
      await administration.query('drop database without_roots with (force)');
      await administration.end();
    }
  });
});
