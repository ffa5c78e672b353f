import { beforeAll, describe, expect, it } from 'vitest';

import { startService, type TestService } from '../support/server.ts';
import { addJob, addScene, addResourceAndProfile } from '../support/tasks.ts';

const RECORDS = '/admin/v2/accounting/';

let service: TestService;
let people: number[];
let job: number;
let resource: number;

beforeAll(async () => {
  service = await startService({ background: false });
  const { db } = service.database;
  const [one, other] = [await addScene(service, []), await service.person()];
  people = [one.owner.id, other.id];
  job = await addJob(service, { project_id: one.project, workflow_id: one.workflow, dataset_id: one.dataset });
  ({ resource_id: resource } = await addResourceAndProfile(service));
  const day = (number: number) => `2026-01-0${number}T00:00:00Z`;
  await db
    .insertInto('accounting_records')
    .values([
      { user_id: people[0]!, timestamp: day(1), num_tasks: 1, num_new_images: 10 },
      { user_id: people[1]!, timestamp: day(2), num_tasks: 2, num_new_images: 20 },
      { user_id: people[0]!, timestamp: day(3), num_tasks: 3, num_new_images: 30 },
    ])
    .execute();
  await db
    .insertInto('accounting_records_slurm')
    .values([
      { user_id: people[0]!, timestamp: day(1), slurm_job_ids: [1, 2], fractal_job_id: job, resource_id: resource },
      { user_id: people[1]!, timestamp: day(2), slurm_job_ids: [], fractal_job_id: null, resource_id: null },
      { user_id: people[1]!, timestamp: day(3), slurm_job_ids: [2, 3], fractal_job_id: null, resource_id: resource },
    ])
    .execute();
});

const FILTERS: [string, () => object, number[]][] = [
  ['nothing', () => ({}), [1, 2, 3]],
  ['a person', () => ({ user_id: people[0] }), [1, 3]],
  ['a time from', () => ({ timestamp_min: '2026-01-02T00:00:00Z' }), [2, 3]],
  ['a time until', () => ({ timestamp_max: '2026-01-02T00:00:00+00:00' }), [1, 2]],
  ['a person and a time', () => ({ user_id: people[0], timestamp_min: '2026-01-02T00:00:00Z' }), [3]],
  ['a job, which does not count here', () => ({ fractal_job_id: 999_999 }), [1, 2, 3]],
];

describe('records', () => {
  it.each(FILTERS)('are filtered by %s, in the body or in the query', async (_, filter, expected) => {
    const { status, body } = await service.admin.post(RECORDS, filter());
    expect([status, body.items.map((item: { num_tasks: number }) => item.num_tasks)]).toEqual([200, expected]);
    const byGet = await service.admin.get(RECORDS, { query: filter() as Record<string, string> });
    expect(byGet.body).toEqual(body);
  });

  it('are shown with their fields, in pages', async () => {
    const { body } = await service.admin.post(RECORDS, { unknown: 1 }, { query: { page: 2, page_size: 2 } });
    expect(body).toEqual({
      current_page: 2,
      page_size: 2,
      total_count: 3,
      items: [
        {
          id: body.items[0].id,
          user_id: people[0],
          timestamp: '2026-01-03T00:00:00+00:00',
          num_tasks: 3,
          num_new_images: 30,
        },
      ],
    });
  });

  it('are refused without a body, without a time zone, with a wrong page', async () => {
    expect((await service.admin.post(RECORDS)).body.detail[0].loc).toEqual(['body']);
    const naive = await service.admin.post(RECORDS, { timestamp_min: '2026-01-01T00:00:00' });
    expect([naive.status, naive.body.detail[0].type]).toEqual([422, 'timezone_aware']);
    expect((await service.admin.post(RECORDS, {}, { query: { page: 2 } })).status).toBe(422);
  });
});

describe('the ids of scheduler jobs', () => {
  it.each<[string, () => object, number[]]>([
    ['nothing', () => ({}), [1, 2, 2, 3]],
    ['a person', () => ({ user_id: people[1] }), [2, 3]],
    ['a job', () => ({ fractal_job_id: job }), [1, 2]],
    ['a resource', () => ({ resource_id: resource }), [1, 2, 2, 3]],
    ['a resource and a time', () => ({ resource_id: resource, timestamp_min: '2026-01-02T00:00:00Z' }), [2, 3]],
    ['a job that is not there', () => ({ fractal_job_id: 999_999 }), []],
  ])('are filtered by %s', async (_, filter, expected) => {
    const { status, body } = await service.admin.post(`${RECORDS}slurm/`, filter());
    expect([status, body]).toEqual([200, expected]);
  });
});

it('accounting is for superusers', async () => {
  const { client } = await service.person({ patch: { is_verified: true } });
  const statuses = async (who: typeof client) => [
    (await who.post(RECORDS, {})).status,
    (await who.get(RECORDS)).status,
    (await who.post(`${RECORDS}slurm/`, {})).status,
  ];
  expect(await statuses(client)).toEqual([403, 403, 403]);
  expect(await statuses(service.anyone)).toEqual([401, 401, 401]);
});
