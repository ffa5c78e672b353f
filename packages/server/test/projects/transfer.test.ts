import { beforeAll, describe, expect, it } from 'vitest';

import { addDataset, addJob, type Cast, castOf, type Role } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person, shareProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';

const URL = '/admin/v2/project/';

let service: TestService;
let cast: Cast;
let otherProfile: number;

beforeAll(async () => {
  service = await startService();
  cast = await castOf(service);
  otherProfile = await addProfile(service);
});

const newPerson = (fields: Record<string, unknown> = {}, profile = cast.profile) => addPerson(service, profile, fields);
const transfer = (project: number | string, user_id: number | string) =>
  service.admin.patch(`${URL}${project}/`, undefined, { query: { user_id } });

describe('giving a project to another owner', () => {
  it('moves it with everything in it, and the former owner keeps nothing', async () => {
    const [owner, next, guest] = [await newPerson(), await newPerson(), await newPerson()];
    const project = await addProject(service, owner, 'Moving');
    await shareProject(service, project, next, 'r', false);
    await shareProject(service, project, guest, 'rw');
    const dataset = await addDataset(service, project, { zarr_dir: '/projects/p' });
    const job = await addJob(service, { project_id: project, dataset_id: dataset, status: 'submitted' });
    const { status, text } = await transfer(project, next.id);
    expect([status, text]).toEqual([200, '']);
    expect((await next.client.get(`/api/v2/project/${project}/access/`)).body).toEqual({
      is_owner: true,
      permissions: 'rwx',
      owner_email: next.email,
    });
    expect((await owner.client.get(`/api/v2/project/${project}/`)).status).toBe(403);
    expect((await next.client.get(`/api/v2/project/${project}/guest/`)).body).toEqual([
      { email: guest.email, is_verified: true, permissions: 'rw' },
    ]);
    expect((await next.client.get('/api/v2/project/invitation/')).body).toEqual([]);
    const { db } = service.database;
    const moved = await db.selectFrom('jobs').select('project_id').where('id', '=', job).executeTakeFirstOrThrow();
    expect(moved.project_id).toBe(project);
    expect((await service.admin.get(`${URL}${project}/`)).body).toMatchObject({ id: project, user_email: next.email });
  });

  /** Each case breaks one more rule than the one before, so that the order of the checks shows. */
  it('refuses in a fixed order', async () => {
    const owner = await newPerson({ profile_id: otherProfile });
    const project = await addProject(service, owner, 'Ordered');
    await addDataset(service, project, { zarr_dir: '/elsewhere/data' });
    const { admin } = service;
    const change = (person: Person, patch: Record<string, unknown>) => admin.patch(`/auth/users/${person.id}/`, patch);
    const next = await newPerson({ profile_id: null, is_guest: true });
    await addProject(service, await newPerson(), 'Ordered');
    await service.database.db
      .insertInto('projects')
      .values((eb) => ({
        name: 'Ordered',
        description: null,
        owner_id: next.id,
        resource_id: eb.selectFrom('profiles').select('resource_id').where('id', '=', otherProfile),
      }))
      .execute();
    await change(owner, { profile_id: null });

    expect((await transfer(987_654, 987_654)).body.detail).toContain('project');
    const refusals: [() => Promise<unknown>, number, RegExp][] = [
      [async () => undefined, 422, /has no computational profile/],
      [() => change(next, { profile_id: cast.profile }), 422, /guest account/],
      [() => change(next, { is_guest: false }), 422, /who owns the project, has no profile/],
      [() => change(owner, { profile_id: otherProfile }), 422, /with this name/],
      [() => service.database.db.deleteFrom('projects').where('owner_id', '=', next.id).execute(), 422, /resource/],
      [() => change(next, { profile_id: otherProfile }), 422, /\/elsewhere\/data/],
      [() => change(next, { project_dirs: ['/elsewhere'] }), 200, /^$/],
    ];
    expect((await transfer(project, 987_654)).status).toBe(404);
    expect((await transfer(project, '99999999999')).status).toBe(404);
    expect((await transfer(project, 0)).status).toBe(404);
    for (const [repair, status, text] of refusals) {
      await repair();
      const answer = await transfer(project, next.id);
      expect([answer.status, (answer.body?.detail as string | undefined) ?? '']).toEqual([
        status,
        expect.stringMatching(text),
      ]);
    }
    const again = await transfer(project, next.id);
    expect([again.status, again.body.detail]).toEqual([422, expect.stringContaining('owns this project already')]);
  });

  it('says that the owner owns it already before it looks at anything else', async () => {
    const owner = await newPerson();
    const project = await addProject(service, owner, 'Mine');
    await addDataset(service, project, { zarr_dir: '/elsewhere' });
    expect((await transfer(project, owner.id)).body.detail).toContain('already');
  });

  it.each<[string[], string, number]>([
    [['/projects/p'], '/projects/p', 200],
    [['/projects/p'], '/projects/p/a', 200],
    [['/projects/p'], '/projects/pp', 422],
    [['/a', '/b'], '/b/c', 200],
    [['s3://bucket/key'], 's3://bucket/key/x', 200],
    [['/bucket/key'], 's3://bucket/key/x', 422],
  ])('with folders %j and a dataset in %s is answered with %i', async (project_dirs, zarr_dir, status) => {
    const [owner, next] = [await newPerson(), await newPerson({ project_dirs })];
    const project = await addProject(service, owner, 'Folders');
    await addDataset(service, project, { zarr_dir });
    expect((await transfer(project, next.id)).status).toBe(status);
  });

  it('leaves one owner and no link too many, whatever happens at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const [owner, one, other] = [await newPerson(), await newPerson(), await newPerson()];
      const project = await addProject(service, owner, 'Busy');
      const invite = ({ email }: Person) =>
        owner.client.post(`/api/v2/project/${project}/guest/`, { permissions: 'rwx' }, { query: { email } });
      await Promise.all([
        invite(one),
        transfer(project, one.id),
        invite(other),
        transfer(project, other.id),
        invite(one),
      ]);
      const links = await service.admin.get('/admin/v2/linkuserproject/', { query: { project_id: project } });
      const items = links.body.items as { user_id: number; is_owner: boolean }[];
      expect(items.filter(({ is_owner }) => is_owner)).toHaveLength(1);
      expect(new Set(items.map(({ user_id }) => user_id)).size).toBe(items.length);
    }
  });

  it('gives a new owner two projects of one name never, not even at once', async () => {
    const [one, other, next] = [await newPerson(), await newPerson(), await newPerson()];
    const projects = [await addProject(service, one, 'Twin'), await addProject(service, other, 'Twin')];
    const answers = await Promise.all([
      ...projects.map((project) => transfer(project, next.id)),
      next.client.post('/api/v2/project/', { name: 'Twin' }),
    ]);
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(2);
  });

  it.each<[Role, number]>([
    ['owner', 403],
    ['serviceGuest', 403],
    ['superuser', 404],
    ['anonymous', 401],
  ])('by %s is answered with %i', async (role, status) => {
    expect((await cast.client(role).patch(`${URL}987654/?user_id=1`)).status).toBe(status);
    expect((await cast.client(role).get(`${URL}987654/`)).status).toBe(status);
    expect((await cast.client(role).get(URL)).status).toBe(role === 'superuser' ? 200 : status);
  });

  it('needs to know to whom', async () => {
    expect((await service.admin.patch(`${URL}1/`)).status).toBe(422);
    expect((await service.admin.patch(`${URL}1/?user_id=x`)).status).toBe(422);
    expect((await service.admin.get(`${URL}99999999999/`)).status).toBe(404);
  });
});

describe('the list of all projects', () => {
  const list = (query: Record<string, string | number> = {}) => service.admin.get(URL, { query });
  let first: Person;
  let second: Person;
  let percent: number;

  beforeAll(async () => {
    first = await newPerson({ email: 'A.first@example.org' });
    second = await newPerson({ email: 'a.second@example.org' });
    for (const name of ['listed b', 'Listed B']) await addProject(service, second, name);
    percent = await addProject(service, first, '5% listed_x');
    await addProject(service, first, 'listed a');
  });

  it('is sorted by owner and name, and shows the owner', async () => {
    const { body } = await list({ name: 'LISTED' });
    expect(body).toMatchObject({ current_page: 1, page_size: 4, total_count: 4 });
    expect(body.items[0]).toEqual({
      id: percent,
      name: '5% listed_x',
      description: null,
      is_starred: false,
      timestamp_created: expect.stringMatching(/\+00:00$/),
      user_email: first.email,
    });
    expect(body.items.map(({ name }: { name: string }) => name)).toEqual([
      '5% listed_x',
      'listed a',
      'Listed B',
      'listed b',
    ]);
    expect((await service.admin.get(`${URL}${percent}/`)).body).toEqual(body.items[0]);
  });

  it.each<[Record<string, string | number>, number]>([
    [{ name: '%' }, 1],
    [{ name: 'listed_' }, 1],
    [{ name: 'd_x' }, 1],
    [{ name: '\\' }, 0],
    [{ name: 'listed', user_email: 'a.second@example.org' }, 2],
    [{ user_email: 'A.SECOND@example.org' }, 0],
    [{ user_email: 'a.second' }, 0],
    [{ project_id: 0 }, 0],
    [{ project_id: '99999999999' }, 0],
    [{ project_id: '-99999999999' }, 0],
  ])('with %j has %i entries', async (query, count) => {
    const { body } = await list(query);
    expect([body.total_count, body.items.length, body.page_size]).toEqual([count, count, count]);
  });

  it('finds one by its id, and has pages', async () => {
    expect((await list({ project_id: percent })).body.items).toHaveLength(1);
    const page = await list({ name: 'listed', page: 2, page_size: 3 });
    expect(page.body).toMatchObject({ current_page: 2, page_size: 3, total_count: 4, items: [{ name: 'listed b' }] });
    expect((await list({ name: 'listed', page: 3, page_size: 3 })).body.items).toEqual([]);
    expect((await list({ page: 2 })).status).toBe(422);
    expect((await service.admin.get(`${URL}?name=%00`)).status).toBe(422);
  });
});
