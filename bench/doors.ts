/**
 * What we promise about attacks: while one goes on, others are answered, and the service needs no more memory than it has.
 *
 * To measure another attack, add it to the list.
 */
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { parseJson } from '../packages/contract/src/index.ts';
import { MB, peakMemoryOf, repeated, send, type Sent, watch } from '../packages/server/test/support/traffic.ts';
import { caller, line, login, ratio, type Servers, withServers } from './support.ts';

interface Target extends Servers {
  token: string;
  importing: string;
}

interface Attack {
  name: string;
  run(target: Target): Promise<unknown>;
}

const IMAGES = 100_000;
const LONGEST_WAIT_MS = 500;
const MOST_MEMORY = 600 * MB;

function* list(text: string, bytes: number): Generator<Buffer | string> {
  yield '{"name":"x","zarr_dir":"/p/x","images":[';
  yield* repeated(text, bytes);
  yield `${text.slice(0, -1)}]}`;
}

const image = (n: number) =>
  `{"zarr_url":"/p/x/plate${Math.floor(n / 384)}.zarr/${n % 384}/0","origin":null,` +
  `"attributes":{"plate":"plate${Math.floor(n / 384)}","well":${n % 384},"acquisition":${n % 3},"z":1.0},` +
  `"types":{"is_3D":true,"corrected":${n % 2 === 0}}}`;
// decoded as a body is: a text that was put together is read more slowly
const importBody = new TextDecoder().decode(
  Buffer.from(
    `{"name":"x","zarr_dir":"/p/x","images":[${Array.from({ length: IMAGES }, (_, n) => image(n)).join(',')}]}`,
  ),
);

const toImport = (how: (target: Target) => Partial<Sent>) => (target: Target) =>
  send(target.serviceUrl, { path: target.importing, ...how(target) });

const atOnce = (count: number, work: (n: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n).catch(() => undefined)));

const slowSenders = async ({ serviceUrl }: Target) => {
  const { hostname, port } = new URL(serviceUrl);
  const sockets = Array.from({ length: 500 }, () => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      'POST /auth/token/login/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n' +
        `Content-Length: 60000\r\n\r\n${'x'.repeat(59_000)}`,
    );
    return socket;
  });
  await sleep(3000);
  for (const socket of sockets) socket.destroy();
};

const ATTACKS: Attack[] = [
  { name: 'nothing', run: () => sleep(2000) },
  { name: '120 MB of numbers, no token', run: toImport(() => ({ chunks: list('1,', 120 * MB) })) },
  {
    name: '120 MB of numbers, no token, announced',
    run: toImport(() => ({ chunks: list('1,', 120 * MB), length: 120 * MB + 43 })),
  },
  { name: '120 MB of numbers', run: toImport(({ token }) => ({ token, chunks: list('1,', 120 * MB) })) },
  { name: 'as many numbers as are allowed', run: toImport(({ token }) => ({ token, chunks: list('1,', 9 * MB) })) },
  { name: 'as many objects as are allowed', run: toImport(({ token }) => ({ token, chunks: list('{},', 7 * MB) })) },
  {
    name: 'as many long texts as are allowed',
    run: toImport(({ token }) => ({ token, chunks: list(`"${'x'.repeat(22)}",`, 115 * MB) })),
  },
  {
    name: 'an ordinary body of free-form JSON, at its limits',
    run: ({ serviceUrl, token }) =>
      send(serviceUrl, {
        path: '/auth/group/',
        token,
        chunks: [`{"name":"x","x":{${Array.from({ length: 120_000 }, (_, n) => `"k${n}":1.0`).join(',')}}}`],
      }),
  },
  {
    name: `four imports of ${IMAGES} images`,
    run: (target) => atOnce(4, () => toImport(({ token }) => ({ token, chunks: [importBody] }))(target)),
  },
  {
    name: 'a thousand bodies of 1 MB, no token',
    run: (target) => {
      const body = Buffer.from(`[${'{},'.repeat((MB - 10) / 3)}0]`);
      return atOnce(1000, () => toImport(() => ({ chunks: [body], length: body.length }))(target));
    },
  },
  {
    name: 'a thousand bodies of 60 kB, no token',
    run: (target) => {
      const body = Buffer.from(`[${'{},'.repeat(20_000)}0]`);
      return atOnce(1000, () => toImport(() => ({ chunks: [body], length: body.length }))(target));
    },
  },
  { name: 'five hundred slow senders', run: slowSenders },
  {
    name: 'a form of a gigabyte',
    run: ({ serviceUrl }) =>
      send(serviceUrl, {
        path: '/auth/token/login/',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        chunks: repeated('a=b&', 1024 * MB),
      }),
  },
];

/** From here on the peak is counted anew. */
const forgetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5');

/** How long the server itself was busy with one thing, since the last time it was asked. */
async function longestBlock({ serviceUrl }: Target): Promise<number> {
  const text = await (await fetch(`${serviceUrl}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)![1]) * 1000;
}

async function measureAttack(attack: Attack, target: Target): Promise<void> {
  forgetPeak(target.pid);
  await longestBlock(target);
  const others = await watch(target.serviceUrl);
  const start = performance.now();
  await attack.run(target);
  const seconds = (performance.now() - start) / 1000;
  await sleep(200);
  const longest = await others.end();
  const block = await longestBlock(target);
  const memory = peakMemoryOf(target.pid);
  const broken = longest > LONGEST_WAIT_MS || memory > MOST_MEMORY ? '  TOO MUCH' : '';
  line(
    attack.name,
    `${longest.toFixed(0)} ms`,
    `busy ${block.toFixed(0)} ms, ${(memory / MB).toFixed(0)} MB, took ${seconds.toFixed(1)} s${broken}`,
  );
}

/** Every image has a number that a plain parse would change. In turns, and the best of several: others use the machine. */
function exactNumbers(): void {
  const best = [Infinity, Infinity];
  for (let round = 0; round < 9; round++) {
    for (const [index, parse] of [JSON.parse, parseJson].entries()) {
      const start = performance.now();
      parse(importBody);
      best[index] = Math.min(best[index]!, performance.now() - start);
    }
  }
  const [plainly, exactly] = best as [number, number];
  line(`JSON.parse of an import of ${IMAGES} images`, `${plainly.toFixed(0)} ms`);
  line('the same with exact numbers', `${exactly.toFixed(0)} ms`);
  line('ratio', ratio(exactly / plainly), '(promised: at most 3)');
}

export async function run(): Promise<void> {
  exactNumbers();
  await withServers(async (servers) => {
    const token = await login(servers.serviceUrl);
    const project = (await caller(servers.serviceUrl, token).post('/api/v2/project/', { name: 'doors' })) as {
      id: number;
    };
    const target = { ...servers, token, importing: `/api/v2/project/${project.id}/dataset/import/` };
    line('attack', 'longest wait', `memory (promised: under ${LONGEST_WAIT_MS} ms and ${MOST_MEMORY / MB} MB)`);
    // `npm run bench -- doors thousand` measures those with the word in their name
    const chosen = ATTACKS.filter(({ name }) => name.includes(process.argv[3] ?? ''));
    for (const attack of chosen) await measureAttack(attack, target);
  });
}
