/** Nobody waits for ever, and what is cut leaves nothing half-written. Work that takes its time by nature is not cut. */
import { chmodSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeAll, describe, expect, inject, it } from 'vitest';

import { openDatabase } from '../../src/db/index.ts';
import { dataFolder, type Lab, openLab } from '../support/lab.ts';
import { type Client, startService, type TestService } from '../support/server.ts';

let service: TestService;
let lab: Lab;
let client: Client;
let token: string;

beforeAll(async () => {
  service = await startService({
    settings: { SERVICE_DATA_DIR: dataFolder(), SERVICE_MAX_STATEMENT_TIME: '1', SERVICE_MAX_REQUEST_TIME: '2' },
  });
  lab = await openLab(service);
  ({ client } = lab.owner);
  token = await service.login(lab.owner.email, (lab.owner as unknown as { password: string }).password);
});

/** Somebody who does not let go of a table. */
const holders: pg.Client[] = [];
async function hold(table: string): Promise<() => Promise<void>> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(service.database.db);
  const holder = new pg.Client({ ...inject('connection'), database: rows[0]!.name });
  await holder.connect();
  holders.push(holder);
  await holder.query(`begin; lock table ${table} in access exclusive mode`);
  return async () => void (await holder.query('rollback'));
}
afterEach(async () => {
  for (const holder of holders.splice(0)) await holder.end();
});

/** An answer within a generous limit, or nothing. */
const within = <T>(work: Promise<T>, ms = 10_000): Promise<T | 'no answer'> =>
  Promise.race([work, sleep(ms, 'no answer' as const, { ref: false })]);

describe('a statement that takes too long', () => {
  it('is cut, and its request says so while others are answered', async () => {
    await hold('projects');
    const answers = await within(Promise.all([1, 2, 3].map(() => client.get('/api/v2/project/'))));
    if (answers === 'no answer') throw new Error('they wait for ever');
    for (const { status, body, headers } of answers) {
      expect([status, body.detail]).toEqual([503, expect.stringContaining('nothing was changed')]);
      expect(headers.get('retry-after')).toBe('30');
    }
    expect((await client.get('/auth/current-user/')).status).toBe(200);
  });

  it('leaves nothing of what its request did before', async () => {
    const dataset = await lab.dataset([{ zarr_url: 'a', attributes: { x: 1 } }]);
    const path = `${lab.base}/dataset/${dataset}/`;
    const letGo = await hold('image_facets');
    const change = { zarr_urls: [lab.urlOf('a')], set_attributes: { x: 2 } };
    const answer = await within(client.post(`${path}images/bulk/`, change));
    expect(answer).toMatchObject({ status: 503 });
    await letGo();
    const { body } = await client.post(`${path}images/query/`, {});
    expect([body.items[0].attributes, body.attributes]).toEqual([{ x: 1 }, { x: [1] }]);
  });

  it.each([
    [
      'an import',
      async () =>
        (
          await client.post(`${lab.base}/dataset/import/`, {
            name: 'I',
            zarr_dir: lab.folders.zarr,
            images: [{ zarr_url: lab.urlOf('imported') }],
          })
        ).status,
      201,
    ],
    ['an export', async () => (await client.get(`${lab.base}/dataset/${kept}/export/`)).status, 200],
  ])('is not cut in %s', async (_, ask, expected) => {
    kept ??= await lab.dataset(['a']);
    const letGo = await hold('images');
    // what is asked first has a limit too, and is not held up
    const asked = ask();
    await sleep(1800);
    await letGo();
    expect(await within(asked)).toBe(expected);
  });
  let kept: number | undefined;

  it('is not cut in a job', async () => {
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { sleep: 0.5 } } }]);
    const { body } = await lab.submit(flow, await lab.dataset(['a', 'b']));
    const letGo = await hold('history_units');
    await sleep(2500);
    await letGo();
    expect((await lab.end(body.id)).status).toBe('done');
  });
});

describe('connections', () => {
  it('have the limit of whoever uses them', async () => {
    const open = openDatabase(inject('connection'), { connections: 1 });
    const limited = open.limitedTo(300);
    const wait = sql`select pg_sleep(0.6)`;
    try {
      for (let round = 0; round < 2; round++) {
        await expect(wait.execute(limited)).rejects.toMatchObject({ code: '57014' });
        expect((await wait.execute(open.db)).rows).toHaveLength(1);
      }
      const idle = limited.transaction().execute(async (trx) => {
        await sql`select 1`.execute(trx);
        await sleep(800);
        await sql`select 1`.execute(trx);
      });
      await expect(idle).rejects.toThrow();
      expect((await sql`select 1`.execute(limited)).rows).toHaveLength(1);
    } finally {
      await open.close();
    }
  });
});

describe('a request that takes too long', () => {
  it('whatever it waits for is answered', async () => {
    const python = join(lab.root, 'slow-python');
    writeFileSync(python, '#!/bin/sh\nsleep 15\n');
    chmodSync(python, 0o755);
    const manifest = {
      manifest_version: '2',
      task_list: [{ name: 't', type: 'parallel', executable_parallel: 't.py' }],
    };
    const body = { manifest, python_interpreter: python, label: 'x', version: '1', package_name: 'x' };
    const answer = await within(client.post('/api/v2/task/collect/custom/', body));
    expect(answer).toMatchObject({ status: 503, body: { detail: expect.stringContaining('longer than 2 seconds') } });
    expect((await client.get('/api/alive/')).status).toBe(200);
  });

  it('because its body does not come is answered, and its connection ends', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /api/v2/project/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"name":`,
    );
    let said = '';
    const ended = (async () => {
      for await (const chunk of socket) said += String(chunk);
      return 'ended';
    })();
    expect(await within(ended)).toBe('ended');
    expect(said).toMatch(/^HTTP\/1\.1 503 [^]*connection: close[^]*longer than 2 seconds/i);
  });

  it('is not an event stream', async () => {
    const state = await new Promise<string>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      const asked = request(`${service.url}${lab.base}/events/`, { headers }, (answer) => {
        answer.resume();
        const timer = setTimeout(() => {
          resolve(`still open, ${answer.statusCode}`);
          answer.destroy();
        }, 3500);
        answer.once('end', () => {
          clearTimeout(timer);
          resolve('it ended');
        });
      });
      asked.on('error', reject);
      asked.end();
    });
    expect(state).toBe('still open, 200');
  });
});
