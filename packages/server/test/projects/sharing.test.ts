import { beforeAll, describe, expect, it } from 'vitest';

import { type Cast, castOf, type Role } from '../support/people.ts';
import { addPerson, addProject, type Person, shareProject } from '../support/plates.ts';
import { type Client, startService, type TestService } from '../support/server.ts';

let service: TestService;
let cast: Cast;
let owner: Person;
let number = 0;

beforeAll(async () => {
  service = await startService();
  cast = await castOf(service);
  ({ owner } = cast.people);
});

const newPerson = (fields: Record<string, unknown> = {}) => addPerson(service, cast.profile, fields);
const newProject = (of = owner) => addProject(service, of, `Project ${++number}`);
const url = (project: number, rest = '') => `/api/v2/project/${project}/${rest}`;
const guests = (project: number) => owner.client.get(url(project, 'guest/')).then(({ body }) => body);
const invite = (project: number, email: string, permissions = 'r', client: Client = owner.client) =>
  client.post(url(project, 'guest/'), { permissions, extra: 1 }, { query: { email } });

describe('the life of an invitation', () => {
  it('begins with the owner, is accepted by the guest, changed by the owner and left by the guest', async () => {
    const project = await newProject();
    const guest = await newPerson();
    const invited = await invite(project, guest.email, 'r');
    expect([invited.status, invited.text, invited.headers.get('content-type')]).toEqual([201, '', null]);
    expect(await guests(project)).toEqual([{ email: guest.email, is_verified: false, permissions: 'r' }]);
    expect((await guest.client.get(url(project))).status).toBe(403);
    expect((await guest.client.get(url(project, 'access/'))).status).toBe(404);
    const [invitation] = (await guest.client.get('/api/v2/project/invitation/')).body;
    expect(invitation).toEqual({
      project_id: project,
      project_name: `Project ${number}`,
      owner_email: owner.email,
      guest_permissions: 'r',
    });

    const accepted = await guest.client.post(url(project, 'access/accept/'));
    expect([accepted.status, accepted.text]).toEqual([200, '']);
    expect((await guest.client.post(url(project, 'access/accept/'))).status).toBe(404);
    expect((await guest.client.get('/api/v2/project/invitation/')).body).toEqual([]);
    expect((await guest.client.get(url(project, 'access/'))).body).toEqual({
      is_owner: false,
      permissions: 'r',
      owner_email: owner.email,
    });
    expect((await guest.client.patch(url(project), { description: 'x' })).status).toBe(403);

    const changed = await owner.client.patch(
      url(project, 'guest/'),
      { permissions: 'rw' },
      { query: { email: guest.email } },
    );
    expect([changed.status, changed.text]).toEqual([200, '']);
    expect((await guest.client.patch(url(project), { description: 'x' })).status).toBe(200);
    expect(await guests(project)).toEqual([{ email: guest.email, is_verified: true, permissions: 'rw' }]);

    const left = await guest.client.delete(url(project, 'access/'));
    expect([left.status, left.text]).toEqual([204, '']);
    expect((await guest.client.get(url(project))).status).toBe(403);
    expect((await guest.client.delete(url(project, 'access/'))).status).toBe(404);
    expect(await guests(project)).toEqual([]);
  });

  it('can be declined, revoked and renewed', async () => {
    const project = await newProject();
    const guest = await newPerson();
    await invite(project, guest.email);
    expect((await guest.client.delete(url(project, 'access/'))).status).toBe(204);
    expect((await invite(project, guest.email)).status).toBe(201);
    const revoke = () => owner.client.delete(url(project, 'guest/'), { query: { email: guest.email } });
    expect((await revoke()).status).toBe(204);
    expect((await revoke()).status).toBe(404);
    expect((await guest.client.post(url(project, 'access/accept/'))).status).toBe(404);
    await invite(project, guest.email);
    await guest.client.post(url(project, 'access/accept/'));
    expect((await revoke()).status).toBe(204);
    expect((await guest.client.get(url(project))).status).toBe(403);
  });

  it('keeps what the owner changed before it was accepted', async () => {
    const project = await newProject();
    const guest = await newPerson();
    await invite(project, guest.email, 'rwx');
    await owner.client.patch(url(project, 'guest/'), { permissions: 'r' }, { query: { email: guest.email } });
    expect(await guests(project)).toEqual([{ email: guest.email, is_verified: false, permissions: 'r' }]);
    await guest.client.post(url(project, 'access/accept/'));
    expect((await guest.client.get(url(project, 'access/'))).body.permissions).toBe('r');
  });

  it('is made once when the owner clicks ten times', async () => {
    const project = await newProject();
    const guest = await newPerson();
    const answers = await Promise.all(Array.from({ length: 10 }, () => invite(project, guest.email)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(422)]);
  });
});

describe('inviting', () => {
  it('is possible for every account', async () => {
    const project = await newProject();
    const people = [
      await newPerson({ is_guest: true }),
      await newPerson({ patch: { is_active: false } }),
      await newPerson({ patch: {} }),
      await service.person(),
    ];
    for (const { email } of people) expect((await invite(project, email)).status).toBe(201);
  });

  it('knows addresses by their exact spelling, with a domain in any case', async () => {
    const project = await newProject();
    await newPerson({ email: 'Exact@example.org' });
    expect((await invite(project, 'exact@example.org')).status).toBe(404);
    expect((await invite(project, 'Exact@EXAMPLE.org')).status).toBe(201);
  });

  it('refuses in the order owner, address, link', async () => {
    const project = await newProject();
    const guest = await newPerson();
    await shareProject(service, project, guest, 'r');
    expect((await invite(project, 'nobody@example.org', 'r', guest.client)).status).toBe(403);
    expect((await invite(987_654, 'nobody@example.org')).status).toBe(403);
    expect((await invite(project, 'nobody@example.org')).status).toBe(404);
    expect((await invite(project, guest.email)).status).toBe(422);
    expect((await invite(project, owner.email)).status).toBe(422);
  });

  it.each<[string, unknown, string]>([
    ['?email=r@example.org', {}, 'permissions'],
    ['?email=r@example.org', { permissions: 'wx' }, 'permissions'],
    ['?email=r@example.org', { permissions: '' }, 'permissions'],
    ['?email=r@example.org', { permissions: null }, 'permissions'],
    ['?email=nonsense', { permissions: 'r' }, 'email'],
    ['', { permissions: 'r' }, 'email'],
    ['?email=a%00b@example.org', { permissions: 'r' }, 'email'],
  ])('refuses %s with %j', async (query, body, field) => {
    const project = await newProject();
    for (const method of ['post', 'patch'] as const) {
      const answer = await owner.client[method](url(project, `guest/${query}`), body);
      expect(answer.status).toBe(422);
      expect(answer.body.detail[0].loc.at(-1)).toBe(field);
    }
  });

  it.each(['patch', 'delete'] as const)(
    'and then %s refuses in the order owner, address, self, link',
    async (method) => {
      const project = await newProject();
      const send = (client: Client, id: number, email: string) =>
        method === 'patch'
          ? client.patch(url(id, 'guest/'), { permissions: 'r' }, { query: { email } })
          : client.delete(url(id, 'guest/'), { query: { email } });
      expect((await send(cast.people.stranger.client, project, 'nobody@example.org')).status).toBe(403);
      expect((await send(owner.client, 987_654, owner.email)).status).toBe(403);
      expect((await send(owner.client, project, 'nobody@example.org')).status).toBe(404);
      expect((await send(owner.client, project, owner.email)).status).toBe(422);
      expect((await send(owner.client, project, cast.people.stranger.email)).status).toBe(404);
    },
  );

  it('sorts guests by address and invitations by project', async () => {
    const project = await newProject();
    const guest = await newPerson({ email: 'b.sorted@example.org' });
    for (const email of ['a.sorted@example.org', 'Z.sorted@example.org', '_.sorted@example.org']) {
      await newPerson({ email });
      await invite(project, email);
    }
    await invite(project, guest.email);
    expect((await guests(project)).map(({ email }: { email: string }) => email.split('.')[0])).toEqual([
      'Z',
      '_',
      'a',
      'b',
    ]);
    const names = ['b', 'a-b', 'B', 'a b', '_c', 'A'];
    for (const name of names) {
      await shareProject(service, await addProject(service, owner, `Inv ${name}`), guest, 'r', false);
    }
    const { body } = await guest.client.get('/api/v2/project/invitation/');
    const sorted = body.map(({ project_name }: { project_name: string }) => project_name);
    expect(sorted).toEqual([...['A', 'B', '_c', 'a b', 'a-b', 'b'].map((name) => `Inv ${name}`), `Project ${number}`]);
  });
});

describe('invitations', () => {
  it.each<[Role, number]>([
    ['stranger', 200],
    ['serviceGuest', 200],
    ['anonymous', 401],
  ])('are listed for %s with %i', async (role, status) => {
    expect((await cast.client(role).get('/api/v2/project/invitation/')).status).toBe(status);
  });

  it('are hidden from guest accounts, for which an administrator accepts them', async () => {
    const project = await newProject();
    const guest = await newPerson({ is_guest: true });
    await invite(project, guest.email, 'rw');
    expect((await guest.client.get('/api/v2/project/invitation/')).body).toEqual([]);
    expect((await guest.client.post(url(project, 'access/accept/'))).status).toBe(403);
    const verify = (guest_user_id: number, project_id: number) =>
      service.admin.post('/admin/v2/linkuserproject/verify/', undefined, { query: { guest_user_id, project_id } });
    expect((await verify(987_654, 987_654)).status).toBe(404);
    expect((await verify(cast.people.r.id, 987_654)).status).toBe(422);
    expect((await verify(guest.id, 987_654)).status).toBe(404);
    expect((await verify(guest.id, 4_294_967_296)).status).toBe(404);
    expect((await verify(guest.id, project)).status).toBe(422);
    await owner.client.patch(url(project, 'guest/'), { permissions: 'r' }, { query: { email: guest.email } });
    const verified = await verify(guest.id, project);
    expect([verified.status, verified.text]).toEqual([200, '']);
    expect((await verify(guest.id, project)).status).toBe(404);
    expect((await guest.client.get(url(project))).status).toBe(200);
    const alone = await service.admin.post('/admin/v2/linkuserproject/verify/?guest_user_id=1');
    expect(alone.status).toBe(422);
  });
});

describe('the list of links', () => {
  const list = (query: Record<string, string | number | boolean> = {}) =>
    service.admin.get('/admin/v2/linkuserproject/', { query });
  let project: number;
  let guest: Person;

  beforeAll(async () => {
    project = await addProject(service, owner, '100% list_ed');
    guest = await newPerson({ email: 'aa.link@example.org' });
    await shareProject(service, project, guest, 'rw', false);
  });

  it('shows owners and guests, sorted by address and project', async () => {
    const { body } = await list({ project_id: project });
    expect(body).toEqual({
      current_page: 1,
      page_size: 2,
      total_count: 2,
      items: [
        {
          user_id: guest.id,
          user_email: guest.email,
          project_id: project,
          project_name: '100% list_ed',
          is_verified: false,
          is_owner: false,
          permissions: 'rw',
        },
        expect.objectContaining({ user_id: owner.id, is_verified: true, is_owner: true, permissions: 'rwx' }),
      ],
    });
    const all = (await list()).body.items as { user_email: string; project_name: string }[];
    const keys = all.map(({ user_email, project_name }) => JSON.stringify([user_email, project_name]));
    expect(keys).toEqual(keys.toSorted());
  });

  it.each<[Record<string, string | number | boolean>, number]>([
    [{ is_owner: true }, 1],
    [{ is_owner: false }, 1],
    [{ is_verified: 'no' }, 1],
    [{ is_verified: true, is_owner: false }, 0],
    [{ project_name: 'LIST_' }, 2],
    [{ project_name: '100%' }, 2],
    [{ project_name: 'list%' }, 0],
    [{ project_name: '' }, 2],
    [{ user_id: 0 }, 0],
    [{ user_id: '99999999999' }, 0],
  ])('filters by %j', async (query, count) => {
    const { body } = await list({ project_id: project, ...query });
    expect([body.total_count, body.items.length]).toEqual([count, count]);
  });

  it('filters by names with wildcards as they are written', async () => {
    for (const [name, count] of [
      ['%', 2],
      ['0% l', 2],
      ['0\\%', 0],
      ['t_e', 2],
    ] as const) {
      const { body } = await list({ project_name: name });
      const named = body.items.filter((item: { project_name: string }) => item.project_name === '100% list_ed');
      expect([name, named.length]).toEqual([name, count]);
      if (count > 0) expect(body.items).toHaveLength(2);
    }
    expect((await list({ user_id: guest.id })).body.total_count).toBe(1);
  });

  it('has pages', async () => {
    const first = await list({ project_id: project, page: 1, page_size: 1 });
    expect(first.body).toMatchObject({ current_page: 1, page_size: 1, total_count: 2, items: [{ user_id: guest.id }] });
    const past = await list({ project_id: project, page: 9, page_size: 1 });
    expect(past.body).toEqual({ current_page: 9, page_size: 1, total_count: 2, items: [] });
    for (const [name, value] of [
      ['page', 2],
      ['page', 0],
      ['page_size', 0],
    ] as const) {
      const { status, body } = await list({ [name]: value });
      expect([status, typeof body.detail]).toEqual([422, 'string']);
    }
    expect(Array.isArray((await list({ page: 'x' })).body.detail)).toBe(true);
  });

  it.each<[Role, number]>([
    ['owner', 403],
    ['serviceGuest', 403],
    ['superuser', 200],
    ['anonymous', 401],
  ])('is answered to %s with %i', async (role, status) => {
    expect((await cast.client(role).get('/admin/v2/linkuserproject/')).status).toBe(status);
    const verify = '/admin/v2/linkuserproject/verify/?guest_user_id=987654&project_id=1';
    expect((await cast.client(role).post(verify)).status).toBe(status === 200 ? 404 : status);
  });
});
