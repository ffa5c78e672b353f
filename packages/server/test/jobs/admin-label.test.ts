/** An administrator labels a job as failed: it is over at once, and what still runs of it can change nothing any more. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';

import type { JsonObject } from '@service/contract';

import { dataFolder, isAlive, type Lab, openLab, until } from '../support/lab.ts';
import { ADMIN, startService, type TestService } from '../support/server.ts';

let service: TestService;
let lab: Lab;

beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: dataFolder(), SERVICE_MAX_NUM_THREADS: '2' } });
  lab = await openLab(service);
});

const label = (job: number, body: unknown = { status: 'failed' }) => service.admin.patch(`/admin/v2/job/${job}/`, body);

it('ends the job and its processes, keeps what is done, and frees the dataset', async () => {
  const gate = join(lab.root, 'gate');
  const update = {
    output: { image_list_updates: [{ zarr_url: '{url}', attributes: { late: true } }] } as unknown as JsonObject,
  };
  const flow = await lab.workflow([
    { type: 'parallel', output_types: { first: true } },
    {
      type: 'parallel',
      plan: {
        [lab.urlOf('a')]: update,
        // it does not hear that it is to end, ends well and says something: all of that comes too late
        [lab.urlOf('b')]: { wait_for: gate, stubborn: true, ...update },
        [lab.urlOf('c')]: { sleep: 120, spawn: 120, new_session: true },
      },
    },
    { type: 'parallel' },
  ]);
  const dataset = await lab.dataset(['a', 'b', 'c', 'd']);
  const { body } = await lab.submit(flow, dataset);
  const step = flow.steps[1]!;
  await until(
    'units',
    async () => (await lab.unitsInWords(dataset, step))[0] === 'done:[a]' && lab.starts().length === 7,
  );
  const running = lab.starts().filter(({ task, url }) => task === 1 && url !== lab.urlOf('a'));
  const pids = running.map((start) => start.pid);
  expect(pids.map(isAlive)).toEqual([true, true]);

  const { status, body: job } = await label(body.id);
  expect(status).toBe(200);
  expect(job).toMatchObject({ status: 'failed', failure: { kind: 'admin' }, end_timestamp: expect.any(String) });
  expect(job.log).toMatch(new RegExp(`^\\n.*administrator.*${ADMIN.email}.*failed`));
  const units = ['done:[a]', 'failed:[b]', 'failed:[c]', 'failed:[d]'];
  expect(await lab.unitsInWords(dataset, step)).toEqual(units);
  expect((await lab.units(dataset, step)).run?.status).toBe('failed');
  expect((await lab.units(dataset, flow.steps[0]!)).run?.status).toBe('done');
  expect(await lab.unitsInWords(dataset, flow.steps[0]!)).toEqual(['a', 'b', 'c', 'd'].map((name) => `done:[${name}]`));

  const again = await lab.submit(flow, dataset, { last_task_index: 0 });
  expect(again.status).toBe(202);
  writeFileSync(gate, '');
  await until('end of the processes', () => !pids.some(isAlive));
  expect((await lab.end(again.body.id)).status).toBe('done');
  expect(await lab.members(job)).toContain('workflow.log');

  const { log, end_timestamp, failure } = await lab.job(body.id);
  expect({ log, end_timestamp, failure }).toEqual({
    log: job.log,
    end_timestamp: job.end_timestamp,
    failure: job.failure,
  });
  expect(await lab.unitsInWords(dataset, step)).toEqual(units);
  expect((await lab.images(dataset)).map(({ attributes }) => attributes)).toEqual([{}, {}, {}, {}]);
  expect(await lab.accounting()).toEqual([
    [4, 0],
    [4, 0],
  ]);
  expect((await lab.units(dataset, flow.steps[2]!)).run).toBeUndefined();
  expect(lab.starts().filter((start) => start.task === 1)).toHaveLength(3);
});

it('is possible for a job that is not over, with this label only, for administrators', async () => {
  const gate = join(lab.root, 'second gate');
  const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { wait_for: gate } } }]);
  const { body } = await lab.submit(flow, await lab.dataset(['a']));
  const { id } = body as { id: number };
  const refusals: [number, unknown, number][] = [
    [1_000_000, { status: 'failed' }, 404],
    [id, { status: 'done' }, 422],
    [id, { status: 'submitted' }, 422],
    [id, { status: 'other' }, 422],
    [id, {}, 422],
    [id, [], 422],
    [id, { status: 'failed', log: 'x' }, 422],
  ];
  for (const [job, wanted, expected] of refusals) {
    expect([wanted, (await label(job, wanted)).status]).toEqual([wanted, expected]);
  }
  expect((await lab.owner.client.patch(`/admin/v2/job/${id}/`, { status: 'failed' })).status).toBe(403);
  expect((await lab.job(id)).status).toBe('submitted');
  writeFileSync(gate, '');
  expect((await lab.end(id)).status).toBe('done');
  for (const status of ['failed', 'done']) expect((await label(id, { status })).status).toBe(422);
});
