import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { createTokens } from '../../src/accounts/index.ts';
import type { Feed } from '../../src/jobs/events/feeds.ts';
import { openStream } from '../../src/jobs/events/stream.ts';
import { createWatchers } from '../../src/jobs/events/watchers.ts';
import { temporaryFolder } from '../support/file-end.ts';
import { addPerson, addProfile, shareProject } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import { addDataset, addJob, addRunWithUnits, addScene, type Scene, type UnitFields } from '../support/tasks.ts';

interface Heard {
  event: string;
  id: string | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into data of every shape
  data: any;
}

interface Listener {
  headers: Headers;
  heard: Heard[];
  /** The position of the last event that had one. */
  position(): string;
  /** Everything heard until this is true, or some seconds have passed. */
  until(condition: (heard: Heard[]) => boolean): Promise<void>;
  ended: Promise<void>;
  leave(): void;
  isLeft(): boolean;
}

const open: Listener[] = [];
afterEach(() => {
  for (const listener of open.splice(0)) listener.leave();
});

function read(block: string): Heard {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  return { event: field('event')!, id: field('id'), data: JSON.parse(field('data')!) };
}

async function listen(url: string, token: string, lastEventId?: string): Promise<Listener> {
  const leaving = new AbortController();
  const response = await fetch(url, {
    signal: leaving.signal,
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  });
  if (response.status !== 200) throw new Error(`answered ${response.status}`);
  const heard: Heard[] = [];
  let text = '';
  const ended = (async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      heard.push(...blocks.filter((block) => block.includes('data: ')).map(read));
    }
  })().catch(() => undefined);
  const listener: Listener = {
    headers: response.headers,
    heard,
    position: () => heard.findLast((one) => one.id !== undefined)!.id!,
    async until(condition) {
      for (let waited = 0; !condition(heard); waited += 20) {
        if (waited > 8000) throw new Error(`only heard ${JSON.stringify(heard)}`);
        await sleep(20);
      }
    },
    ended,
    leave: () => leaving.abort(),
    isLeft: () => leaving.signal.aborted,
  };
  open.push(listener);
  return listener;
}

const has = (event: string) => (heard: Heard[]) => heard.some((one) => one.event === event);
const dataOf = (heard: Heard[], event: string) => heard.filter((one) => one.event === event).map((one) => one.data);

let service: TestService;
let token: string;
let scene: Scene;

interface Running {
  scene: Scene;
  job: number;
  run: number;
  units: number[];
  log: string;
  url: string;
}

/** A job that runs its first of two tasks. */
async function running(units: UnitFields[]): Promise<Running> {
  const folder = join(temporaryFolder('events'), 'job');
  await mkdir(folder);
  const log = join(folder, 'workflow.log');
  await writeFile(log, 'é begins\n');
  const dataset = await addDataset(service, scene.project);
  const job = await addJob(service, {
    project_id: scene.project,
    workflow_id: scene.workflow,
    dataset_id: dataset,
    last_task_index: 1,
    working_dir: folder,
    log: 'not told',
  });
  const fields = { dataset_id: dataset, workflowtask_id: scene.steps[0]!, job_id: job, status: 'submitted' as const };
  const added = await addRunWithUnits(service, fields, units);
  const url = `${service.url}/api/v2/project/${scene.project}/job/${job}/events/`;
  return { scene: { ...scene, dataset }, job, run: added.run, units: added.units, log, url };
}

async function endUnit(unit: number): Promise<void> {
  await service.database.db
    .updateTable('history_units')
    .set({ status: 'done', timestamp_started: '2026-01-01T00:00:00Z', timestamp_ended: '2026-01-01T00:00:01Z' })
    .where('id', '=', unit)
    .execute();
}

async function endJob({ job, run }: Running): Promise<void> {
  const { db } = service.database;
  await db.updateTable('history_runs').set({ status: 'done' }).where('id', '=', run).execute();
  await db.updateTable('jobs').set({ status: 'done' }).where('id', '=', job).execute();
}

beforeAll(async () => {
  service = await startService({ background: false });
  scene = await addScene(service, ['parallel', 'parallel']);
  token = await service.login(scene.owner.email, 'some-password');
});

describe('the stream of a job', () => {
  it('begins with how things stand', async () => {
    const { url, job, units } = await running([{ status: 'submitted', zarr_urls: ['/a'] }]);
    const stream = await listen(url, token);
    await stream.until(has('log'));
    expect(stream.headers.get('content-type')).toBe('text/event-stream');
    expect(stream.heard.map((one) => one.event)).toEqual(['job', 'task', 'task', 'units', 'log']);
    const [told, first, second, changed, log] = stream.heard.map((one) => one.data);
    expect([told.id, told.status, 'log' in told]).toEqual([job, 'submitted', false]);
    expect(first).toMatchObject({
      job_id: job,
      workflowtask_id: scene.steps[0],
      task_status: { status: 'submitted', num_submitted_images: 1, progress: { waiting: 1 } },
    });
    expect(second).toEqual({
      job_id: job,
      workflowtask_id: scene.steps[1],
      task_status: { status: 'submitted' },
    });
    expect(changed).toEqual([
      {
        id: units[0],
        zarr_urls: ['/a'],
        status: 'submitted',
        started: false,
        timestamp_ended: null,
        cause: null,
        num_warnings: 0,
        peak_memory_bytes: null,
      },
    ]);
    expect(log).toEqual({ offset: 0, text: 'é begins\n' });
  });

  it('goes on with what changes, and with nothing else', async () => {
    const place = await running([{ status: 'submitted' }, { status: 'submitted' }]);
    const stream = await listen(place.url, token);
    await stream.until(has('log'));
    stream.heard.length = 0;
    await sleep(2200);
    expect(stream.heard).toEqual([]);
    await endUnit(place.units[1]!);
    await stream.until((heard) => has('units')(heard) && has('task')(heard));
    expect(stream.heard.map((one) => one.event)).toEqual(['task', 'units']);
    expect(dataOf(stream.heard, 'task')[0].task_status.progress).toMatchObject({ waiting: 1, done: 1 });
    expect(dataOf(stream.heard, 'units')[0].map((unit: { id: number }) => unit.id)).toEqual([place.units[1]]);
    stream.heard.length = 0;
    await appendFile(place.log, 'goes on\n');
    await stream.until(has('log'));
    expect(dataOf(stream.heard, 'log')).toEqual([{ offset: 10, text: 'goes on\n' }]);
    stream.heard.length = 0;
    await endJob(place);
    await stream.until((heard) => dataOf(heard, 'job')[0]?.status === 'done' && dataOf(heard, 'task').length >= 2);
    // the second task never began, and nobody waits for it any more
    expect(dataOf(stream.heard, 'task').map((one) => one.task_status?.status ?? null)).toEqual(['done', null]);
  });

  it('goes on where an earlier one ended', async () => {
    const place = await running([{ status: 'submitted' }, { status: 'submitted' }]);
    const first = await listen(place.url, token);
    await first.until(has('log'));
    const position = first.position();
    first.leave();
    await endUnit(place.units[0]!);
    await appendFile(place.log, 'more\n');
    const second = await listen(place.url, token, position);
    await second.until(has('log'));
    expect(dataOf(second.heard, 'units')[0].map((unit: { id: number }) => unit.id)).toEqual([place.units[0]]);
    expect(dataOf(second.heard, 'log')).toEqual([{ offset: 10, text: 'more\n' }]);
    const third = await listen(place.url, token, second.position());
    await third.until(has('task'));
    await sleep(100);
    expect(third.heard.filter((one) => one.event === 'units' || one.event === 'log')).toEqual([]);
    const fourth = await listen(place.url, token, 'nonsense');
    await fourth.until(has('log'));
    expect(dataOf(fourth.heard, 'log')[0].offset).toBe(0);
  });

  it('asks for a new load where more than 500 units changed', async () => {
    const place = await running([{ status: 'submitted' }]);
    const stream = await listen(place.url, token);
    await stream.until(has('log'));
    stream.heard.length = 0;
    await sql`
      insert into history_units (history_run_id, logfile, status)
      select ${place.run}, '/log', 'submitted' from generate_series(1, 501)`.execute(service.database.db);
    await stream.until(has('units'));
    expect(dataOf(stream.heard, 'units')).toEqual([{ reload: true }]);
  });

  it('has one reader of the database, however many listen', async () => {
    const { url } = await running([{ status: 'submitted' }]);
    const listeners = [];
    for (let number = 0; number < 6; number++) listeners.push(await listen(url, token));
    for (const listener of listeners) await listener.until(has('log'));
    const statements = await statementsOf(() => sleep(3000));
    expect(statements.length).toBeGreaterThanOrEqual(1);
    expect(statements.length).toBeLessThanOrEqual(4);
    for (const listener of listeners) listener.leave();
    // the service hears of it when it comes to it
    await expect.poll(() => statementsOf(() => sleep(1500))).toEqual([]);
  });

  it('ends with its token', async () => {
    const { url } = await running([]);
    const short = await createTokens('a key for tests').issue(scene.owner.id, 3, { generation: 0 });
    const stream = await listen(url, short);
    await stream.until(has('job'));
    await stream.ended;
    // not because somebody left
    expect(stream.isLeft()).toBe(false);
    await expect(listen(url, short)).rejects.toThrow('answered 401');
  });
});

describe('the stream of a project', () => {
  it('begins with the jobs that run, or the newest, and tells of jobs that come and go', async () => {
    const own = await addScene(service, ['parallel']);
    const ownToken = await service.login(own.owner.email, 'some-password');
    const url = `${service.url}/api/v2/project/${own.project}/events/`;
    const place = { project_id: own.project, workflow_id: own.workflow };
    const old = { ...place, dataset_id: null, status: 'done' as const };
    await addJob(service, { ...old, start_timestamp: '2026-01-01T00:00:00Z' });
    const newest = await addJob(service, { ...old, start_timestamp: '2026-01-02T00:00:00Z' });
    const stream = await listen(url, ownToken);
    await stream.until(has('job'));
    expect(dataOf(stream.heard, 'job').map((job) => job.id)).toEqual([newest]);
    stream.heard.length = 0;
    const job = await addJob(service, { ...place, dataset_id: own.dataset });
    await stream.until(has('task'));
    expect(stream.heard.map((one) => [one.event, one.data.id ?? one.data.job_id])).toEqual([
      ['job', job],
      ['task', job],
    ]);
    stream.heard.length = 0;
    const { run, units } = await addRunWithUnits(
      service,
      { dataset_id: own.dataset, workflowtask_id: own.steps[0]!, job_id: job, status: 'submitted' },
      [{ status: 'submitted' }],
    );
    await stream.until(has('task'));
    expect(dataOf(stream.heard, 'task')[0].task_status.progress.waiting).toBe(1);
    expect(dataOf(stream.heard, 'job')).toEqual([]);
    const position = stream.position();
    stream.leave();
    await endUnit(units[0]!);
    await endJob({ job, run } as Running);
    const again = await listen(url, ownToken, position);
    await again.until(has('task'));
    expect(dataOf(again.heard, 'job').map(({ id, status }) => [id, status])).toEqual([[job, 'done']]);
    expect(dataOf(again.heard, 'task')[0].task_status).toMatchObject({ status: 'done', progress: { done: 1 } });
  });
});

describe('who may listen', () => {
  it('is everybody who may read', async () => {
    const { url, job } = await running([]);
    const profile = await addProfile(service);
    const guest = await addPerson(service, profile, { is_guest: true });
    const stranger = await addPerson(service, profile);
    await shareProject(service, scene.project, guest, 'r');
    const project = `/api/v2/project/${scene.project}`;
    for (const path of [`${project}/events/`, `${project}/job/${job}/events/`]) {
      expect([(await service.anyone.get(path)).status, (await stranger.client.get(path)).status]).toEqual([401, 403]);
    }
    expect((await scene.owner.client.get(`${project}/job/999999/events/`)).status).toBe(404);
    expect((await scene.owner.client.get('/api/v2/project/999999/events/')).status).toBe(404);
    const stream = await listen(url, await service.login(guest.email, 'some-password'));
    await stream.until(has('job'));
    expect(dataOf(stream.heard, 'job')[0].id).toBe(job);
  });
});

describe('a stream', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  const drained = (body: { read(): Buffer | null }) => {
    let text = '';
    for (let chunk = body.read(); chunk !== null; chunk = body.read()) text += chunk.toString();
    return text;
  };

  it('shows a sign of life every 15 seconds and ends when access is taken away', async () => {
    vi.useFakeTimers();
    let allowed = true;
    const closed = vi.fn();
    const { body } = openStream({ lastEventId: undefined, isAllowed: () => Promise.resolve(allowed) }, closed);
    expect(drained(body)).toBe('retry: 3000\n\n');
    await vi.advanceTimersByTimeAsync(14_000);
    expect(drained(body)).toBe('');
    await vi.advanceTimersByTimeAsync(1000);
    expect(drained(body)).toBe(': still here\n\n');
    allowed = false;
    await vi.advanceTimersByTimeAsync(15_000);
    drained(body);
    await vi.advanceTimersByTimeAsync(2000);
    expect([body.destroyed, closed.mock.calls.length]).toEqual([true, 1]);
  });

  it('is not told more than its reader takes, and catches up from where it was', async () => {
    let count = 0;
    const feed: Feed = {
      advance: () => Promise.resolve([{ event: 'log', data: `${++count}${'.'.repeat(100_000)}` }]),
      catchUp: (since) => Promise.resolve([{ event: 'log', data: `from ${since} to ${count}` }]),
      position: () => String(count),
    };
    const watchers = createWatchers({
      enabled: () => true,
      debug: () => undefined,
      info: () => undefined,
      warning: () => undefined,
      error: () => undefined,
    });
    const { body } = watchers.watch('it', () => feed, {
      lastEventId: '7',
      isAllowed: () => Promise.resolve(true),
    });
    await vi.waitFor(() => expect(count).toBeGreaterThanOrEqual(4), 20_000);
    // one event is more than the buffer holds; the others were not written
    expect(body.readableLength).toBeLessThan(110_000);
    const first = drained(body);
    expect(first).toContain('"from 7 to 1"');
    expect(first).toContain('"2...');
    expect(first).not.toContain('"3...');
    await vi.waitFor(() => expect(drained(body)).toMatch(/"from 2 to \d+"/), 20_000);
    await watchers.close();
  });
});

it('a service with open streams closes', async () => {
  const closing = await startService({ background: false });
  const own = await addScene(closing, []);
  const stream = await listen(
    `${closing.url}/api/v2/project/${own.project}/events/`,
    await closing.login(own.owner.email, 'some-password'),
  );
  await closing.app.close();
  await stream.ended;
  expect(stream.isLeft()).toBe(false);
  await expect(fetch(`${closing.url}/api/alive/`)).rejects.toThrow();
});
