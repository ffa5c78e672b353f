/** One person with a token does things a thousand times at once, slowly, or with the longest of texts: others go on. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { LONG, oneIn } from '../support/long.ts';
import { addDataset } from '../support/people.ts';
import { addPerson, addProfile, addProject, type Person } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';
import { statementsOf } from '../support/statements.ts';
import { addJob } from '../support/tasks.ts';
import { watch } from '../support/traffic.ts';

/** Of the largest plate, for which a dozen requests take two minutes. */
const PLATE_IMAGES = LONG ? 50_000 : 1_500;

const root = mkdtempSync(join(tmpdir(), 'service-crowds-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Someone extends Person {
  token: string;
  project: number;
  job: number;
}

const JOB = { workflow_id: null, dataset_id: null, status: 'done' } as const;

let service: TestService;
let anna: Someone;
let bert: Someone;

async function someone(name: string, profile: number): Promise<Someone> {
  const folder = join(root, name);
  mkdirSync(folder);
  // more than the buffers on the way hold
  writeFileSync(join(folder, 'large'), randomBytes(8 * 2 ** 20));
  // each of these is two on the wire
  writeFileSync(join(folder, 'workflow.log'), '"'.repeat(5 * 2 ** 20));
  const person = await addPerson(service, profile, { email: `${name}@example.org`, project_dirs: [folder] });
  const project = await addProject(service, person, name);
  const job = await addJob(service, { ...JOB, project_id: project });
  await service.database.db.updateTable('jobs').set({ working_dir: folder }).where('id', '=', job).execute();
  return { ...person, project, job, token: await service.login(person.email, 'some-password') };
}

beforeAll(async () => {
  service = await startService({
    background: false,
    settings: { SERVICE_DATA_BASE_PATH: '/data/', SERVICE_DATA_DIR: join(root, 'data') },
  });
  const profile = await addProfile(service);
  [anna, bert] = [await someone('anna', profile), await someone('bert', profile)];
});

const opened: ClientRequest[] = [];
afterEach(() => {
  for (const request of opened.splice(0)) request.destroy();
});

interface Asked {
  method?: string;
  headers?: Record<string, string | number>;
  /** The beginning of a body whose end does not come. */
  begin?: string;
}

/** Asks and reads nothing but the head of the answer; undefined where none comes for a while. */
async function begin(
  { token }: { token: string },
  path: string,
  { method = 'GET', headers = {}, begin }: Asked = {},
): Promise<{ status: number | undefined; close(): Promise<void> }> {
  const request = httpRequest(service.url + path, {
    ...{ method, agent: false, headers: { authorization: `Bearer ${token}`, ...headers } },
  });
  request.on('error', () => undefined);
  opened.push(request);
  const answer = new Promise<IncomingMessage>((resolve) => request.once('response', resolve));
  if (begin === undefined) request.end();
  else request.write(begin);
  const patience = begin === undefined ? 30_000 : 1000;
  const got = await Promise.race([answer, sleep(patience, undefined, { ref: false })]);
  got?.on('error', () => undefined);
  return {
    status: got?.statusCode,
    async close() {
      request.destroy();
      await sleep(300);
    },
  };
}

const CHUNKED = {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  begin: '{"name": "',
};

const WHILE_BUSY = { timeout: 40_000, interval: 300 };

describe('what one person has open', () => {
  it.each(
    oneIn<[string, number, (one: Someone) => string, Asked?]>(
      3,
      [
        ['event streams of a project', 256, ({ project }) => `/api/v2/project/${project}/events/`],
        ['event streams of a job', 256, ({ project, job }) => `/api/v2/project/${project}/job/${job}/events/`],
        ['downloads', 32, ({ project, job }) => `/api/v2/project/${project}/job/${job}/download/`],
        ['jobs with long logs', 32, ({ project, job }) => `/api/v2/project/${project}/job/${job}/`],
        ['large uploads', 32, ({ project }) => `/api/v2/project/${project}/dataset/import/`, CHUNKED],
        ['files', 1000, (one) => `/data/files${join(root, one.email.split('@')[0]!, 'large')}`],
      ],
      1,
    ),
  )(
    'has an end: %s',
    async (_, most, path, asked) => {
      const all = await Promise.all(Array.from({ length: most }, () => begin(anna, path(anna), asked)));
      const expected = asked?.begin === undefined ? 200 : undefined;
      expect(new Set(all.map(({ status }) => status))).toEqual(new Set([expected]));
      const authorization = `Bearer ${anna.token}`;
      const oneMore = () =>
        fetch(service.url + path(anna), {
          headers: { authorization, 'content-type': 'application/json' },
          ...(asked ? { method: 'POST', body: 'x'.repeat(2 ** 20 + 1) } : {}),
        });
      // on a busy machine, uploads may still be on their way: what is let in meanwhile takes the place of one, so it stays open
      const another = () => (asked ? begin(anna, path(anna), asked) : oneMore());
      await expect.poll(async () => (await another()).status, WHILE_BUSY).toBe(429);
      const refused = await oneMore();
      expect(await refused.json()).toEqual({ detail: expect.stringContaining(`${most}`) });
      expect(refused.headers.get('retry-after')).toBe('5');
      expect((await begin(bert, path(bert), asked)).status).toBe(expected);
      await all[0]!.close();
      await expect.poll(async () => (await begin(anna, path(anna), asked)).status, WHILE_BUSY).toBe(expected);
    },
    120_000,
  );

  it('counts no jobs whose logs are short', async () => {
    const job = await addJob(service, { ...JOB, project_id: anna.project });
    const path = `/api/v2/project/${anna.project}/job/${job}/`;
    const all = await Promise.all(Array.from({ length: 200 }, () => begin(anna, path)));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('counts a download no more that is over, was refused, or failed', async () => {
    const job = await addJob(service, { ...JOB, project_id: anna.project });
    const path = `/api/v2/project/${anna.project}/job/${job}/download/`;
    const { client } = anna;
    for (let round = 0; round < 3; round++) {
      const missing = `/api/v2/project/${anna.project}/job/99999/download/`;
      const answers = await Promise.all(Array.from({ length: 20 }, () => client.get(round === 1 ? missing : path)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([round === 1 ? 404 : 200]));
    }
  });
});

describe('a thousand at once', () => {
  it('who ask whether the service is ready ask the database a few times', async () => {
    const statements = await statementsOf(async () => {
      const answers = await Promise.all(Array.from({ length: 1000 }, () => service.anyone.get('/api/ready/')));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    });
    // once in half a second
    expect(statements.filter((text) => text === 'select 1').length).toBeLessThan(50);
  });

  it('who ask for numbers about the service have them written a few times', async () => {
    const answers = await Promise.all(Array.from({ length: 1000 }, () => service.anyone.get('/metrics')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // processor time is among them, so that no two are the same
    expect(new Set(answers.map(({ text }) => text)).size).toBeLessThan(50);
  });

  it('who read the pages about the API slowly hold no copies of them', async () => {
    // read once before, so that what is kept is kept
    for (const path of ['/openapi.json', '/docs/swagger-ui-bundle.js', '/redoc']) await service.anyone.get(path);
    const before = process.memoryUsage();
    const all = await Promise.all(
      Array.from({ length: 300 }, () => begin({ token: '' }, '/docs/swagger-ui-bundle.js')),
    );
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]));
    const { arrayBuffers } = process.memoryUsage();
    expect(arrayBuffers - before.arrayBuffers).toBeLessThan(150 * 2 ** 20);
  });

  it('who ask for pictures of the largest plate do not keep others waiting', async () => {
    const dataset = await addDataset(service, anna.project, { name: 'plate', zarr_dir: join(root, 'anna') });
    const zarr = join(root, 'anna/plate.zarr');
    await sql`
      insert into images (dataset_id, position, zarr_url, origin, attributes, types)
      select ${dataset}, i, ${zarr} || '/' || chr(65 + i / 24 % 16) || '/' || 1 + i % 24 || '/' || i / 384, null,
        jsonb_build_object('plate', 'p', 'acquisition', i % 2), '{}'
      from generate_series(0, ${PLATE_IMAGES - 1}::int) i`.execute(service.database.db);
    const others = await watch(service.url);
    const asked = Array.from({ length: 12 }, (_, index) =>
      anna.client.get(`/api/v2/project/${anna.project}/dataset/${dataset}/plate-picture/info/`, {
        query: { plate: 'p', acquisition: index },
      }),
    );
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.every((status) => [200, 422, 503].includes(status))).toBe(true);
    expect(await others.end()).toBeLessThan(5000);
  }, 300_000);
});

describe('programs that requests start', () => {
  it('are few at a time, however many packages somebody looks for at once', async () => {
    const folder = join(root, 'programs');
    mkdirSync(folder);
    const python = join(folder, 'python');
    const running = `ls ${folder}/running | wc -l >> ${folder}/most`;
    const gate = join(folder, 'gate');
    const wait = `while [ ! -e ${gate} ]; do sleep 0.05; done`;
    mkdirSync(join(folder, 'running'));
    writeFileSync(
      python,
      `#!/bin/sh\ntouch ${folder}/running/$$; ${running}; ${wait}; rm ${folder}/running/$$; echo ${folder}\n`,
      { mode: 0o755 },
    );
    const manifest = { manifest_version: '2', has_args_schemas: false, task_list: [] };
    const collect = ({ client }: Someone, label: string) =>
      client.post('/api/v2/task/collect/custom/', {
        ...{ label, version: '1', python_interpreter: python, package_name: 'p', package_root: null, manifest },
      });
    const statuses: number[] = [];
    const asked = Array.from({ length: 60 }, async (_, index) => {
      statuses.push((await collect(anna, `p${index}`)).status);
    });
    const other = collect(bert, 'one');
    // the others run, or wait until those have ended
    await expect.poll(() => statuses, { timeout: 30_000 }).toEqual(Array.from({ length: 60 - 20 - 4 }, () => 503));
    writeFileSync(gate, '');
    expect((await other).status).toBeLessThan(500);
    await Promise.all(asked);
    expect(statuses.filter((status) => status === 503)).toHaveLength(60 - 20 - 4);
    const most = readFileSync(join(folder, 'most'), 'utf8').trim().split('\n').map(Number);
    expect(most.length).toBeGreaterThan(20);
    expect(Math.max(...most)).toBeLessThanOrEqual(4);
  });
});

describe('the longest of texts', () => {
  it('a range of blanks costs no time', async () => {
    writeFileSync(join(root, 'anna/small'), 'small');
    const others = await watch(service.url);
    const headers = { range: `bytes=${' '.repeat(15_000)}x` };
    const asked = Array.from({ length: 100 }, () =>
      service.withToken(anna.token).raw(`/data/files${join(root, 'anna/small')}`, { headers }),
    );
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(await others.end()).toBeLessThan(5000);
  });
});
