/** A service whose handlers throw, all of them, again and again: what one throws is the failure of its own read. */
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';

import { until } from '../packages/server/test/support/lab.ts';
import { writeImage } from '../packages/server/test/support/ome-zarr.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';
import { submitParallel } from './support/faults.ts';
import { ROOT, temporaryFolder } from './support/processes.ts';
import {
  NOT_MADE_TO_THROW,
  ON_A_CLUSTER,
  ON_THIS_MACHINE,
  sourcesWithHandlers,
  throwing,
  throwingFile,
} from './support/throwing.ts';

const FILE = join(temporaryFolder('throwing'), 'thrown');
const thrown = throwingFile(FILE);
let deployment: Deployment;
let headers: { authorization: string };
beforeAll(async () => {
  const settings = { ...throwing(ROOT, FILE), SERVICE_MAX_NUM_THREADS: '1' };
  deployment = await openDeployment({ database: 'given', settings });
  headers = { authorization: `Bearer ${await deployment.tokenOf(deployment.url, deployment.lab.owner.email)}` };
  await writePictures();
});
afterAll(() => deployment.close());

/** A handler that throws may leave who asked without an answer. */
const LONGEST_ANSWER_MS = 8000;
const orTooLate = (leave: AbortSignal) => AbortSignal.any([leave, AbortSignal.timeout(LONGEST_ANSWER_MS)]);

/** On a machine with other work, each round takes long. */
const LONGEST_SECONDS = 240;

const alive = async () => (await fetch(`${deployment.url}/api/alive/`)).status;

/** More jobs than there are slots, so that they take turns; short, since the last job of the test waits behind all of them. */
async function runJobs(): Promise<void> {
  const plan = { '*': { print: 'text', sleep: 0.3 } };
  await Promise.all(['a', 'b'].map((name) => submitParallel(deployment, [name], { plan })));
}

/** Opens streams of events, hears a little, and leaves. */
async function listen(): Promise<void> {
  const leave = new AbortController();
  const streams = [1, 2, 3].map(() =>
    fetch(`${deployment.url}${deployment.lab.base}/events/`, { headers, signal: orTooLate(leave.signal) }),
  );
  for (const answer of await Promise.all(streams)) await answer.body!.getReader().read();
  leave.abort();
}

async function post(path: string, body: string | FormData): Promise<void> {
  const type = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  const signal = AbortSignal.timeout(LONGEST_ANSWER_MS);
  const sent = { method: 'POST', headers: { ...headers, ...type }, body, signal };
  await (await fetch(`${deployment.url}${path}`, sent)).text();
}

function fileForm(): FormData {
  const form = new FormData();
  form.set('file', new Blob(['x'.repeat(200_000)]), 'package-1.0-py3-none-any.whl');
  return form;
}

/** Bodies that are long enough for a thread, files, and such that nobody wants. */
const send = () =>
  Promise.allSettled([
    post(`${deployment.lab.base}/dataset/import/`, JSON.stringify({ name: 'x'.repeat(200_000) })),
    post('/api/v2/task/collect/pip/', fileForm()),
    post('/api/v2/no-such-path/', 'x'.repeat(200_000)),
  ]);

const SIDE = 256;
const PICTURES = 12;
let pictures: string[];
let plates: string;

/** Images in a dataset, and the addresses of their pictures. */
async function writePictures(): Promise<void> {
  const { dataset, base, urlOf } = deployment.lab;
  const names = Array.from({ length: PICTURES }, (_, number) => `image-${number}.zarr`);
  for (const name of names) writeImage(urlOf(name), { size: SIDE });
  const id = await dataset(names);
  pictures = names.map((name) => `${base}/dataset/${id}/picture/?zarr_url=${encodeURIComponent(urlOf(name))}`);
  plates = `${base}/dataset/${id}/plate-picture/info/?plate=`;
}

/** Asks for many pictures at once and for a plate, and leaves before all of them are there. */
async function look(): Promise<void> {
  const leave = new AbortController();
  // another size is another picture
  const size = 32 + Math.floor(Math.random() * 900);
  const signal = orTooLate(leave.signal);
  const asked = pictures.map((path) => fetch(`${deployment.url}${path}&size=${size}`, { headers, signal }));
  // there is no such plate: what its images are was looked up, and is forgotten
  await (await fetch(`${deployment.url}${plates}${size}`, { headers, signal })).text();
  await Promise.any(asked);
  leave.abort();
  await Promise.allSettled(asked);
}

/** It takes long, so it is done while there is something to reach by it. */
const picturesAreMissing = () =>
  thrown.missing(ON_THIS_MACHINE.filter((source) => source.startsWith('pictures/'))).length > 0;

it('every source with handlers is made to throw, or there is a reason why not', () => {
  expect([...new Set([...ON_THIS_MACHINE, ...ON_A_CLUSTER, ...Object.keys(NOT_MADE_TO_THROW)])].sort()).toEqual(
    sourcesWithHandlers(),
  );
});

it(
  'goes on, and works as before when they throw no more',
  async () => {
    onTestFailed(() => console.error(deployment.output()));
    thrown.begin();
    const { process } = deployment.server();
    await until(
      'handlers of all sources that throw',
      async () => {
        // a request or job whose own handlers throw fails, and no other
        await Promise.allSettled([runJobs(), listen(), send(), picturesAreMissing() && look()]);
        if (thrown.missing(['db/database.ts']).length > 0) await deployment.cutDatabase().catch(() => undefined);
        process.kill('SIGUSR2');
        expect([await alive(), process.exitCode]).toEqual([200, null]);
        return thrown.missing(ON_THIS_MACHINE).length === 0;
      },
      LONGEST_SECONDS,
    ).finally(() => console.log(`not reached: ${thrown.missing(ON_THIS_MACHINE).join(', ') || 'none'}`));
    console.log(`handlers threw in ${thrown.places().join(', ')}`);
    thrown.end();
    const { id } = await submitParallel(deployment, ['c'], { plan: { '*': { print: 'text' } } });
    const job = await deployment.lab.end(id, 60);
    expect([job.status, process.exitCode]).toEqual(['done', null]);
    const drawn = await Promise.all(pictures.map((path) => fetch(`${deployment.url}${path}`, { headers })));
    expect(drawn.map((answer) => answer.status)).toEqual(pictures.map(() => 200));
  },
  1.5 * LONGEST_SECONDS * 1000,
);

it('goes on after an exception that nobody caught, and tells of it', async () => {
  const { process } = deployment.server();
  process.kill('SIGUSR2');
  await until(
    'both are told',
    () => /nobody waits for/.test(deployment.output()) && /nobody catches/.test(deployment.output()),
  );
  expect(deployment.output()).toContain('An exception that nobody caught (unhandledRejection); the service continues');
  expect([await alive(), process.exitCode]).toEqual([200, null]);
});
