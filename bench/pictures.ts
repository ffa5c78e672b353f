/** What we promise about pictures: a plate in seconds, and an API that does not feel it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';

import { CHANNELS, FIELDS, writePlate } from './plates.ts';
import { type Call, caller, line, login, ratio, type Servers, withServers } from './support.ts';
import { measureViews } from './views.ts';

const PROMISED_P99 = 50;
/** `SMALL=1` tries the benchmark itself. */
const isSmall = process.env['SMALL'] !== undefined;
const SMALL_PLATE: [number, number] = isSmall ? [2, 3] : [8, 12];
const LARGE_PLATE: [number, number] = isSmall ? [2, 3] : [16, 24];

const seconds = (value: number) => `${(value / 1000).toFixed(2)} s`;
const ms = (value: number) => `${value.toFixed(1)} ms`;

interface Plate {
  base: string;
  name: string;
  images: number;
}

async function addPlate(call: Call, folder: string, name: string, rows: number, columns: number): Promise<Plate> {
  const images = writePlate(folder, name, rows, columns);
  const project = (await call.post('/api/v2/project/', { name })) as { id: number };
  const body = { name, zarr_dir: folder, images };
  const dataset = (await call.post(`/api/v2/project/${project.id}/dataset/import/`, body)) as { id: number };
  return { base: `/api/v2/project/${project.id}/dataset/${dataset.id}`, name, images: images.length };
}

/** One picture: how long it took, and its bytes. */
async function fetchPicture(url: string, token: string): Promise<{ ms: number; bytes: number }> {
  const start = performance.now();
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const bytes = (await response.arrayBuffer()).byteLength;
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return { ms: performance.now() - start, bytes };
}

const percentile = (values: number[], share: number) =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length * share)]!;

/** Requests one after the other until something is over, at least `least` of them. */
async function timesUntil(over: () => boolean, call: Call, least: number): Promise<number[]> {
  const times: number[] = [];
  while (!over() || times.length < least) {
    const start = performance.now();
    await call.get('/api/v2/project/');
    times.push(performance.now() - start);
    await sleep(2);
  }
  return times;
}

async function measure({ serviceUrl, connection }: Servers): Promise<void> {
  const token = await login(serviceUrl);
  const call = caller(serviceUrl, token);
  const folder = mkdtempSync(join(tmpdir(), 'service-bench-plates-'));
  const db = new pg.Client(connection);
  await db.connect();
  try {
    await db.query(`update users set project_dirs = array[$1]`, [folder]);
    await db.end();
    const picture = ({ base, name }: Plate, query: string) =>
      fetchPicture(`${serviceUrl}${base}/plate-picture/?plate=${name}&${query}`, token);

    const small = await addPlate(call, folder, 'p96.zarr', ...SMALL_PLATE);
    // the process that draws has started before: that is once in a service's life
    await picture(small, 'channel=0&size=64&z=0');
    await sleep(6000);
    const cold = await picture(small, 'channel=0&size=1632');
    const others = await Promise.all([1, 2, 3].map((channel) => picture(small, `channel=${channel}&size=1632`)));
    await sleep(3000);
    const kept = await picture(small, 'channel=0&size=1632');
    const recent = await picture(small, 'channel=0&size=1632');
    line(`${small.images / FIELDS} wells, ${small.images} fields, one channel, first time`, seconds(cold.ms));
    line('its other three channels together', seconds(Math.max(...others.map((one) => one.ms))));
    line('the same again, files looked at', seconds(kept.ms));
    line('the same again at once', ms(recent.ms));
    line('bytes of one channel', `${(cold.bytes / 1e6).toFixed(2)} MB`);

    const large = await addPlate(call, folder, 'p384.zarr', ...LARGE_PLATE);
    const idle = await timesUntil(() => true, call, 400);
    let isOver = false;
    const start = performance.now();
    const drawing = (async () => {
      for (let channel = 0; channel < CHANNELS; channel++) await picture(large, `channel=${channel}&size=1584`);
    })().finally(() => (isOver = true));
    const busy = await timesUntil(() => isOver, call, 100);
    await drawing;
    line(`${large.images / FIELDS} wells, ${large.images} fields, four channels`, seconds(performance.now() - start));
    const [p99, p99Idle] = [percentile(busy, 0.99), percentile(idle, 0.99)];
    line('99th percentile of a request, idle', ms(p99Idle));
    line('while it is drawn', ms(p99), `(promised: under ${PROMISED_P99} ms)`);
    line('ratio', ratio(p99 / p99Idle), '(promised: at most 5)');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function run(): Promise<void> {
  await withServers(measure);
  await measureViews(...LARGE_PLATE);
}
