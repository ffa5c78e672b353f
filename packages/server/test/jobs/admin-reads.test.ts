import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';

import { temporaryFolder } from '../support/file-end.ts';
import { startService, type TestService } from '../support/server.ts';
import { addDataset, addJob, addScene, type Scene } from '../support/tasks.ts';

const JOBS = '/admin/v2/job/';

let service: TestService;
let scene: Scene;
let other: Scene;
/** From the oldest to the newest; the last one has lost its project. */
let jobs: number[];
let resource_id: number;

beforeAll(async () => {
  service = await startService({ background: false });
  scene = await addScene(service, []);
  other = await addScene(service, []);
  const day = (number: number) => `2026-01-0${number}T00:00:00Z`;
  const of = ({ project, workflow, dataset }: Scene) => ({
    project_id: project,
    workflow_id: workflow,
    dataset_id: dataset,
  });
  jobs = [
    await addJob(service, {
      ...of(scene),
      status: 'done',
      start_timestamp: day(1),
      end_timestamp: day(2),
      log: 'zero',
      user_email: 'zero@example.org',
    }),
    await addJob(service, { ...of(scene), start_timestamp: day(2) }),
    await addJob(service, { ...of(other), status: 'failed', start_timestamp: day(3), end_timestamp: day(4) }),
    await addJob(service, {
      project_id: null,
      workflow_id: null,
      dataset_id: null,
      status: 'done',
      start_timestamp: day(4),
      end_timestamp: day(5),
    }),
  ];
  ({ resource_id } = await service.database.db
    .selectFrom('projects')
    .select('resource_id')
    .where('id', '=', scene.project)
    .executeTakeFirstOrThrow());
});

describe('the jobs of everybody', () => {
  it.each<[string, () => Record<string, string | number | boolean>, number[]]>([
    ['nothing', () => ({}), [3, 2, 1, 0]],
    ['an id', () => ({ id: jobs[2]! }), [2]],
    ['a resource', () => ({ resource_id }), [1, 0]],
    ['an owner', () => ({ project_owner_id: other.owner.id }), [2]],
    ['an e-mail address', () => ({ job_user_email: 'zero@example.org' }), [0]],
    ['a project', () => ({ project_id: scene.project }), [1, 0]],
    ['a dataset', () => ({ dataset_id: other.dataset }), [2]],
    ['a workflow', () => ({ workflow_id: scene.workflow }), [1, 0]],
    ['a status', () => ({ status: 'submitted' }), [1]],
    ['a start from', () => ({ start_timestamp_min: '2026-01-02T00:00:00Z' }), [3, 2, 1]],
    ['a start until', () => ({ start_timestamp_max: '2026-01-02T00:00:00Z' }), [1, 0]],
    ['an end from', () => ({ end_timestamp_min: '2026-01-04T00:00:00Z' }), [3, 2]],
    ['an end until, which an unfinished job has not', () => ({ end_timestamp_max: '2026-01-04T00:00:00Z' }), [2, 0]],
    ['two things', () => ({ project_id: scene.project, status: 'done' }), [0]],
    ['an unknown id', () => ({ id: 999_999 }), []],
  ])('are filtered by %s', async (_, query, expected) => {
    const { status, body } = await service.admin.get(JOBS, { query: query() });
    expect(status).toBe(200);
    expect(body.items.map((job: { id: number }) => jobs.indexOf(job.id))).toEqual(expected);
    expect(body).toMatchObject({ total_count: expected.length, page_size: expected.length, current_page: 1 });
  });

  it('come in pages, with or without logs', async () => {
    const page = await service.admin.get(JOBS, { query: { page: 2, page_size: 3 } });
    expect(page.body.items.map((job: { log: string }) => job.log)).toEqual(['zero']);
    expect(page.body).toMatchObject({ current_page: 2, page_size: 3, total_count: 4 });
    const bare = await service.admin.get(JOBS, { query: { log: false } });
    expect(bare.body.items.map((job: { log: string | null }) => job.log)).toEqual([null, null, null, null]);
  });

  it.each(['job_user_email=x', 'status=unset', 'start_timestamp_min=2026-01-01T00:00:00', 'id=x', 'page=2'])(
    'are refused for %s',
    async (query) => {
      expect((await service.admin.get(`${JOBS}?${query}`)).status).toBe(422);
    },
  );
});

describe('one job, for an administrator', () => {
  it('is read whatever its project, also without one', async () => {
    const { status, body } = await service.admin.get(`${JOBS}${jobs[3]}/`);
    expect([status, body.project_id, body.resource_id]).toEqual([200, null, null]);
    expect(body).not.toHaveProperty('workflow_log');
    expect((await service.admin.get(`${JOBS}999999/`)).status).toBe(404);
    expect((await service.admin.get(`${JOBS}999999/download/`)).status).toBe(404);
  });

  it('shows what it has written so far, and is downloaded', async () => {
    const working_dir = join(temporaryFolder('admin'), 'job');
    await mkdir(working_dir);
    await writeFile(join(working_dir, 'workflow.log'), 'so far');
    const id = await addJob(service, {
      project_id: other.project,
      workflow_id: other.workflow,
      dataset_id: await addDataset(service, other.project),
      working_dir,
    });
    expect((await service.admin.get(`${JOBS}${id}/`)).body.log).toBe(null);
    expect((await service.admin.get(`${JOBS}${id}/?show_tmp_logs=true`)).body.log).toBe('so far');
    const zip = await service.admin.get(`${JOBS}${id}/download/`);
    expect([zip.status, zip.text.slice(0, 2)]).toEqual([200, 'PK']);
    await service.database.db.deleteFrom('jobs').where('id', '=', id).execute();
  });
});

it('all of it is for superusers', async () => {
  for (const path of [JOBS, `${JOBS}${jobs[0]}/`, `${JOBS}${jobs[0]}/download/`]) {
    expect([(await scene.owner.client.get(path)).status, (await service.anyone.get(path)).status]).toEqual([403, 401]);
  }
});
