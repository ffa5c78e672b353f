/** Which task made an image, and which worked on it. */
import { beforeAll, describe, expect, it } from 'vitest';

import type { ImageHistory } from '@service/contract';

import { addPerson, addProfile, type Person } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';
import { addJob, addRunWithUnits, addScene, type Scene } from '../support/tasks.ts';

let service: TestService;
let scene: Scene;
let stranger: Person;
let job: number;

const dump = (name: string, output_types: Record<string, boolean>, args_parallel: object | null, type = 'parallel') =>
  JSON.stringify({
    alias: null,
    task: { name, type, version: '1.2', output_types },
    args_parallel,
    args_non_parallel: null,
  });

beforeAll(async () => {
  service = await startService({ background: false });
  scene = await addScene(service, ['converter_non_parallel', 'parallel', 'parallel', 'parallel']);
  stranger = await addPerson(service, await addProfile(service));
  const [convert, correct, segment, measure] = scene.steps;
  const place = { project_id: scene.project, workflow_id: scene.workflow, dataset_id: scene.dataset };
  job = await addJob(service, { ...place, status: 'done', working_dir: '/job' });
  const images = [
    { zarr_url: '/d/raw', origin: null, types: {} },
    { zarr_url: '/d/corrected', origin: '/d/raw', types: { corrected: true } },
    { zarr_url: '/d/unknown', origin: '/d/raw', types: { other: true } },
  ];
  for (const [position, { types, ...image }] of images.entries()) {
    const row = { dataset_id: scene.dataset, position, attributes: '{}', types: JSON.stringify(types), ...image };
    await service.database.db.insertInto('images').values(row).execute();
  }
  const run = (workflowtask_id: number, minute: number, workflowtask_dump: string) => ({
    dataset_id: scene.dataset,
    workflowtask_id,
    job_id: job,
    task_index: minute,
    timestamp_started: `2026-01-01T00:0${minute}:00Z`,
    workflowtask_dump,
  });
  const done = (...zarr_urls: string[]) => [{ status: 'done' as const, zarr_urls }];
  await addRunWithUnits(
    service,
    { ...run(convert!, 0, dump('Convert', {}, null, 'converter_non_parallel')), num_new_images: 3 },
    [],
  );
  await addRunWithUnits(service, run(segment!, 1, dump('Segment', {}, { channel: 'a' })), done('/d/raw'));
  await addRunWithUnits(
    service,
    run(correct!, 2, dump('Correct', { corrected: true }, { strength: 1 })),
    done('/d/raw'),
  );
  await addRunWithUnits(service, run(measure!, 3, dump('Measure', {}, null)), done('/d/corrected'));
});

async function historyOf(zarr_url: string, client = scene.owner.client) {
  const query = new URLSearchParams({ dataset_id: String(scene.dataset), zarr_url });
  return client.get(`/api/v2/project/${scene.project}/status/image-history/?${query.toString()}`);
}

describe('the history of an image', () => {
  it('names the task whose types it has, with job and arguments, and what worked on it since', async () => {
    const { status, body } = await historyOf('/d/corrected');
    const { made_by, worked_on_by } = body as ImageHistory;
    expect(status).toBe(200);
    expect(made_by).toMatchObject({
      name: 'Correct',
      version: '1.2',
      job_id: job,
      task_index: 2,
      status: 'done',
      args_parallel: { strength: 1 },
      args_non_parallel: null,
    });
    expect(worked_on_by.map(({ name }) => name)).toEqual(['Measure']);
  });

  it('of an image without origin names the converter', async () => {
    const { made_by, worked_on_by } = (await historyOf('/d/raw')).body as ImageHistory;
    expect(made_by?.name).toBe('Convert');
    expect(worked_on_by.map(({ name }) => name)).toEqual(['Segment', 'Correct']);
  });

  it('names nobody where several could have made it', async () => {
    expect((await historyOf('/d/unknown')).body).toEqual({ made_by: null, worked_on_by: [] });
  });

  it('is for those who can read the project, and of images that are there', async () => {
    expect((await historyOf('/d/raw', stranger.client)).status).toBe(403);
    expect((await historyOf('/d/none')).status).toBe(404);
    expect((await historyOf("/d/'; drop table images; --")).status).toBe(404);
  });
});
