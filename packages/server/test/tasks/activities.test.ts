import { beforeAll, describe, expect, it } from 'vitest';

import { addActivity } from '../support/activities.ts';
import { addPerson, type Person } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';
import { addResourceAndProfile, addTaskGroup } from '../support/tasks.ts';

const URL = '/api/v2/task-group/activity/';
const ADMIN_URL = '/admin/v2/task-group/activity/';

let service: TestService;
let owner: Person;
let other: Person;
let group: number;
/** Oldest first; the last one is of another person. */
let ids: number[];

beforeAll(async () => {
  service = await startService();
  const { profile_id, resource_id } = await addResourceAndProfile(service);
  owner = await addPerson(service, profile_id);
  other = await addPerson(service, profile_id);
  group = await addTaskGroup(service, { user_id: owner.id, resource_id });
  const at = (day: number) => `2026-01-0${day}T00:00:00Z`;
  const steps = [
    ...[
      {
        name: 'install',
        status: 'OK',
        timestamp_started: null,
        timestamp_ended: null,
        done: 1,
        total: 2,
        detail: null,
      },
    ],
  ];
  const rows = [
    {
      timestamp_started: at(2),
      pkg_name: 'My_Package',
      taskgroupv2_id: group,
      log: 'a\nb',
      steps: JSON.stringify(steps),
    },
    { timestamp_started: at(3), status: 'failed' as const, action: 'deactivate' as const },
    { timestamp_started: at(1), status: 'pending' as const, action: 'reset' as const, pkg_name: 'MyXPackage' },
    { timestamp_started: at(3), status: 'ongoing' as const, action: 'delete' as const },
  ];
  ids = [];
  for (const row of rows) ids.push(await addActivity(service, { user_id: owner.id, ...row }));
  ids.push(await addActivity(service, { user_id: other.id, timestamp_started: at(4) }));
});

const found = async (query: string) =>
  (await owner.client.get(URL + query)).body.map(({ id }: { id: number }) => ids.indexOf(id));
const foundByAdmin = async (query: string) =>
  (await service.admin.get(ADMIN_URL + query)).body.items.map(({ id }: { id: number }) => ids.indexOf(id));

describe('activities of task groups', () => {
  it('are read one by one, with log and steps', async () => {
    const { status, body } = await owner.client.get(`${URL}${ids[0]}/`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: ids[0],
      user_id: owner.id,
      taskgroupv2_id: group,
      timestamp_started: '2026-01-02T00:00:00+00:00',
      timestamp_ended: null,
      pkg_name: 'My_Package',
      version: '1',
      status: 'OK',
      action: 'collect',
      log: 'a\nb',
      steps: [expect.objectContaining({ name: 'install', done: 1, total: 2 })],
    });
  });

  it('belong to one person', async () => {
    expect((await owner.client.get(`${URL}${ids[4]}/`)).status).toBe(403);
    expect((await service.anyone.get(`${URL}${ids[4]}/`)).status).toBe(401);
    expect((await service.anyone.get(URL)).status).toBe(401);
    expect((await owner.client.get(ADMIN_URL)).status).toBe(403);
  });

  it.each([
    ['0', 404],
    ['99999999999999999999', 404],
    ['x', 422],
  ])('with the id %s are answered with %i', async (id, status) => {
    expect((await owner.client.get(`${URL}${id}/`)).status).toBe(status);
  });

  it.each([
    ['', [3, 1, 0, 2]],
    ['?status=OK', [0]],
    ['?status=pending', [2]],
    ['?action=delete', [3]],
    ['?pkg_name=my_p', [0]],
    ['?pkg_name=%25', []],
    ['?timestamp_started_min=2026-01-02T00:00:00Z', [3, 1, 0]],
    ['?timestamp_started_min=2026-01-02T01:00:00%2B01:00', [3, 1, 0]],
    ['?taskgroupv2_id=group', [0]],
    ['?taskgroupv2_id=0', []],
    ['?task_group_activity_id=99999999999999999999', []],
  ])('are listed newest first, with %s: %j', async (query, expected) => {
    expect(await found(query.replace('=group', `=${group}`))).toEqual(expected);
  });

  it.each([
    '?status=ok',
    '?action=collected',
    '?timestamp_started_min=2026-01-02T00:00:00',
    '?taskgroupv2_id=x',
    '?pkg_name=%00',
  ])('are not listed with %s', async (query) => {
    expect((await owner.client.get(URL + query)).status).toBe(422);
    expect((await service.admin.get(ADMIN_URL + query)).status).toBe(422);
  });

  it('are listed with their logs unless these are unwanted', async () => {
    const logs = async (url: string) => {
      const { body } = await (url.startsWith('/admin') ? service.admin : owner.client).get(url);
      return (body.items ?? body).map(({ log }: { log: string | null }) => log).filter(Boolean);
    };
    expect(await logs(URL)).toEqual(['a\nb']);
    expect(await logs(`${URL}?log=false`)).toEqual([]);
    expect(await logs(ADMIN_URL)).toEqual(['a\nb']);
    expect(await logs(`${ADMIN_URL}?log=false`)).toEqual([]);
  });

  it.each([
    ['', [4, 3, 1, 0, 2]],
    ['?user_id=other', [4]],
    ['?user_id=0&taskgroupv2_id=0&pkg_name=', [4, 3, 1, 0, 2]],
    ['?page=2&page_size=2', [1, 0]],
    ['?page=9&page_size=2', []],
    ['?status=failed', [1]],
  ])('are listed for administrators with %s: %j', async (query, expected) => {
    expect(await foundByAdmin(query.replace('=other', `=${other.id}`))).toEqual(expected);
  });

  it('come in pages', async () => {
    const { body } = await service.admin.get(`${ADMIN_URL}?page=2&page_size=2`);
    expect(body).toMatchObject({ current_page: 2, page_size: 2, total_count: 5 });
    expect((await service.admin.get(`${ADMIN_URL}?page=2`)).status).toBe(422);
  });
});
