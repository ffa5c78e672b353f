import { beforeAll, describe, expect, it } from 'vitest';

import { type Client, startService, type TestService } from '../support/server.ts';

let service: TestService;
let admin: Client;
let all: number;
beforeAll(async () => {
  service = await startService();
  ({ admin } = service);
  all = (await admin.get('/auth/group/')).body[0].id;
});

const newGroup = async (name: string): Promise<number> => (await admin.post('/auth/group/', { name })).body.id;

describe('groups', () => {
  it('are created with a trimmed, unique name', async () => {
    const { status, body } = await admin.post('/auth/group/', { name: '  Lab 1 ' });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'Lab 1',
      timestamp_created: expect.any(String),
      user_ids: [],
    });
    expect(body.timestamp_created).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/);
    const again = await admin.post('/auth/group/', { name: 'Lab 1' });
    expect([again.status, typeof again.body.detail]).toEqual([422, 'string']);
    expect((await admin.post('/auth/group/', { name: 'lab 1' })).status).toBe(201);
  });

  it('get one 201 when a name is created fifty times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => admin.post('/auth/group/', { name: 'Race' })));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 422)).toHaveLength(49);
  });

  it.each([
    [{}, 'missing'],
    [{ name: ' ' }, 'string_too_short'],
    [{ name: 3 }, 'string_type'],
    [{ name: 'a\u0000b' }, 'value_error'],
  ])('refuse %j', async (body, type) => {
    const answer = await admin.post('/auth/group/', body);
    expect([answer.status, answer.body.detail[0].type, answer.body.detail[0].loc]).toEqual([
      422,
      type,
      ['body', 'name'],
    ]);
  });

  it('are listed by id, with members when asked', async () => {
    const { id } = await service.person();
    const plain = (await admin.get('/auth/group/')).body;
    expect(plain.every((group: { user_ids: unknown }) => group.user_ids === null)).toBe(true);
    const full = (await admin.get('/auth/group/?user_ids=true')).body;
    expect(full.find((group: { id: number }) => group.id === all).user_ids).toContain(id);
    const ids = full.map((group: { id: number }) => group.id);
    expect(ids).toEqual([...ids].sort((one: number, other: number) => one - other));
    expect((await admin.get(`/auth/group/${all}/`)).body.user_ids).toContain(id);
    expect((await admin.get('/auth/group/987654/')).status).toBe(404);
  });

  it('are renamed, but not to a taken name, and the default group never', async () => {
    const id = await newGroup('Old name');
    await newGroup('Taken name');
    expect((await admin.patch(`/auth/group/${id}/`, { name: 'New name' })).body.name).toBe('New name');
    expect((await admin.patch(`/auth/group/${id}/`, {})).body).toMatchObject({ name: 'New name', user_ids: [] });
    expect((await admin.patch(`/auth/group/${id}/`, { name: 'Taken name' })).status).toBe(422);
    expect((await admin.patch(`/auth/group/${id}/`, { new_user_ids: [1] })).body.detail[0].type).toBe(
      'extra_forbidden',
    );
    expect((await admin.patch(`/auth/group/${all}/`, { name: 'Everybody' })).status).toBe(422);
    expect((await admin.patch('/auth/group/987654/', { name: 'x' })).status).toBe(404);
  });

  it('are deleted with their memberships, except the default one', async () => {
    const id = await newGroup('Short-lived');
    const person = await service.person();
    await admin.post(`/auth/group/${id}/add-user/${person.id}/`);
    expect([
      (await admin.delete(`/auth/group/${id}/`)).status,
      (await admin.delete(`/auth/group/${id}/`)).status,
    ]).toEqual([204, 404]);
    expect((await admin.get(`/auth/users/${person.id}/`)).body.group_ids_names).toEqual([[all, 'All']]);
    expect((await admin.delete(`/auth/group/${all}/`)).status).toBe(422);
  });
});

describe('members', () => {
  it('join once and leave once', async () => {
    const group = await newGroup('Members');
    const { id } = await service.person();
    const path = (action: string, groupId: number, userId: number) =>
      `/auth/group/${groupId}/${action}-user/${userId}/`;
    const added = await admin.post(path('add', group, id), {});
    expect([added.status, added.body.user_ids]).toEqual([200, [id]]);
    expect((await admin.post(path('add', group, id))).status).toBe(422);
    expect((await admin.post(path('add', 987_654, 987_654))).body.detail).toMatch(/group/);
    expect((await admin.post(path('add', group, 987_654))).body.detail).toMatch(/user/);
    const removed = await admin.post(path('remove', group, id));
    expect([removed.status, removed.body.user_ids]).toEqual([200, []]);
    expect((await admin.post(path('remove', group, id))).status).toBe(422);
    expect((await admin.post(path('remove', 987_654, id))).status).toBe(404);
    expect((await admin.post(path('remove', group, 987_654))).status).toBe(404);
    expect((await admin.post(path('remove', all, id))).status).toBe(422);
  });

  it('add up when thirty join at once', async () => {
    const group = await newGroup('Crowd');
    const people = await Promise.all(Array.from({ length: 30 }, () => service.person()));
    await Promise.all(people.map(({ id }) => admin.post(`/auth/group/${group}/add-user/${id}/`)));
    expect((await admin.get(`/auth/group/${group}/`)).body.user_ids).toHaveLength(30);
  });
});

describe('set-groups', () => {
  const set = (id: number, group_ids: unknown) => admin.post(`/auth/users/${id}/set-groups/`, { group_ids });

  it('replaces the groups in one go', async () => {
    const { id } = await service.person();
    const [one, two] = [await newGroup('set one'), await newGroup('set two')];
    const names = (body: { group_ids_names: [number, string][] }) => body.group_ids_names.map(([, name]) => name);
    expect(names((await set(id, [two, one, all])).body)).toEqual(['All', 'set one', 'set two']);
    expect(names((await set(id, [all, two])).body)).toEqual(['All', 'set two']);
    expect(names((await set(id, [all, one, two])).body)).toEqual(['All', 'set two', 'set one']);
  });

  it('checks the list, the user, the groups and the default group, in this order', async () => {
    const { id } = await service.person();
    const group = await newGroup('set three');
    const typeOf = async (ids: unknown) => (await set(id, ids)).body.detail[0].type;
    expect(await typeOf([])).toBe('too_short');
    expect(await typeOf([all, all])).toBe('value_error');
    expect(await typeOf([-1])).toBe('greater_than_equal');
    expect(await typeOf(3)).toBe('list_type');
    expect((await admin.post(`/auth/users/${id}/set-groups/`, { group_ids: [all], x: 1 })).body.detail[0].type).toBe(
      'extra_forbidden',
    );
    expect((await set(987_654, [987_654])).body.detail).toMatch(/user/);
    expect((await set(id, [987_654, 99_999_999_999])).status).toBe(404);
    expect((await set(id, [group])).status).toBe(422);
    expect((await admin.get(`/auth/users/${id}/`)).body.group_ids_names).toEqual([[all, 'All']]);
  });

  it('says so when the configured default group does not exist', async () => {
    const odd = await startService();
    const { id } = await odd.person();
    const group = (await odd.admin.post('/auth/group/', { name: 'Lab' })).body.id;
    await odd.admin.post(`/auth/group/${group}/add-user/${id}/`);
    await odd.database.pool.query(`delete from user_groups where name = 'All'`);
    expect((await odd.admin.post(`/auth/users/${id}/set-groups/`, { group_ids: [group] })).status).toBe(404);
    expect((await odd.admin.post(`/auth/group/${group}/remove-user/${id}/`)).status).toBe(404);
    expect((await odd.person()).id).toEqual(expect.any(Number));
  });
});

describe('without a default group', () => {
  it('nobody joins anything, and a group that is named All is one like the others', async () => {
    const free = await startService({ settings: { SERVICE_DEFAULT_GROUP_NAME: undefined as unknown as string } });
    const { id } = await free.person();
    expect((await free.admin.get(`/auth/users/${id}/`)).body.group_ids_names).toEqual([]);
    const group = (await free.admin.post('/auth/group/', { name: 'All' })).body.id;
    const other = (await free.admin.post('/auth/group/', { name: 'Other' })).body.id;
    expect((await free.admin.post(`/auth/users/${id}/set-groups/`, { group_ids: [other] })).status).toBe(200);
    await free.admin.post(`/auth/group/${group}/add-user/${id}/`);
    const names = (await free.admin.get(`/auth/users/${id}/`)).body.group_ids_names.map(
      ([, name]: [number, string]) => name,
    );
    expect(names).toEqual(['Other', 'All']);
    expect((await free.admin.post(`/auth/group/${group}/remove-user/${id}/`)).status).toBe(200);
    expect((await free.admin.delete(`/auth/group/${group}/`)).status).toBe(204);
  });
});
