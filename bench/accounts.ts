/**
 * What we promise about accounts: one request costs about what its SELECT costs, logins leave others alone, the service
 * starts at once and stays small.
 */
import autocannon from 'autocannon';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '../packages/server/src/db/free-port.ts';
import { login, median, withServers } from './support.ts';

const ROOT = join(import.meta.dirname, '..');
const SECONDS = 5;
const ROUNDS = 3;
const LOGINS_AT_ONCE = 8;

const percentile = (values: number[], share: number) =>
  [...values].sort((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))]!;

async function requestsPerSecond(url: string, headers: Record<string, string>): Promise<number> {
  const result = await autocannon({ url, connections: 20, duration: SECONDS, headers });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refused, ${result.errors} failed`);
  return result.requests.average;
}

/** Turns are taken, so that what else the machine does meets both. */
async function compareWithBareRoute(serviceUrl: string, bareUrl: string): Promise<void> {
  const authorization = `Bearer ${await login(serviceUrl)}`;
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await requestsPerSecond(bareUrl, {}));
    ours.push(await requestsPerSecond(`${serviceUrl}/auth/current-user/`, { authorization }));
  }
  console.log(`GET /auth/current-user/        ${median(ours).toFixed(0)} requests/s`);
  console.log(`bare route, one SELECT         ${median(bare).toFixed(0)} requests/s`);
  console.log(`ratio                          ${(median(ours) / median(bare)).toFixed(2)}   (promised: at least 0.50)`);
}

async function latencies(url: string, token: string, until: () => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!until()) {
    const start = performance.now();
    await (await fetch(`${url}/auth/current-user/`, { headers: { authorization: `Bearer ${token}` } })).text();
    times.push(performance.now() - start);
    await sleep(5);
  }
  return times;
}

async function loginsBesideOthers(url: string): Promise<void> {
  const token = await login(url);
  let end = Date.now() + SECONDS * 1000;
  const over = () => Date.now() > end;
  const quiet = await latencies(url, token, over);
  end = Date.now() + SECONDS * 1000;
  let logins = 0;
  const people = Array.from({ length: LOGINS_AT_ONCE }, async () => {
    while (!over()) {
      await login(url);
      logins++;
    }
  });
  const busy = await latencies(url, token, over);
  await Promise.all(people);
  const shown = (times: number[]) =>
    `median ${median(times).toFixed(1)} ms, 99 % ${percentile(times, 0.99).toFixed(1)} ms`;
  console.log(`logins                         ${(logins / SECONDS).toFixed(1)} logins/s, ${LOGINS_AT_ONCE} at a time`);
  console.log(`other requests meanwhile       ${shown(busy)}   (without logins: ${shown(quiet)})`);
}

const childrenOf = (pid: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((other) => {
      try {
        return Number(/^\d+ \(.*\) \S (\d+)/.exec(readFileSync(`/proc/${other}/stat`, 'utf8'))?.[1]) === pid;
      } catch {
        return false;
      }
    });

const residentMegabytes = (pid: number) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
/** Pages that processes share are counted once. */
const shareMegabytes = (pid: number) =>
  Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) / 1024;

async function secondStart(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'service-bench-'));
  for (const attempt of ['first', 'second', 'third']) {
    const port = await freePort();
    const start = performance.now();
    const npm = spawn('npm', ['start', '--', '--port', String(port), '--data-dir', data], {
      cwd: ROOT,
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => npm.once('exit', resolve));
    for (;;) {
      const status = await fetch(`http://127.0.0.1:${port}/api/alive/`).then(
        (response) => response.status,
        () => 0,
      );
      if (status === 200) break;
      await sleep(10);
    }
    console.log(
      `${attempt} npm start to first 200`.padEnd(31) +
        `${((performance.now() - start) / 1000).toFixed(2)} s   (promised for the second: under 2 s)`,
    );
    await sleep(1000);
    const [server] = childrenOf(childrenOf(npm.pid!)[0] ?? npm.pid!)
      .concat(childrenOf(npm.pid!))
      .filter(
        (pid) =>
          /start\.cjs/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')) &&
          !/^sh/.test(readFileSync(`/proc/${pid}/comm`, 'utf8')),
      );
    const postmaster = Number(readFileSync(join(data, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
    if (attempt === 'third') {
      const database = [postmaster, ...childrenOf(postmaster)].reduce((sum, pid) => sum + shareMegabytes(pid), 0);
      console.log(
        `memory of the server           ${residentMegabytes(server!).toFixed(0)} MB   (promised: under 200 MB)`,
      );
      console.log(`memory of the database         ${database.toFixed(0)} MB`);
    }
    process.kill(server!, 'SIGTERM');
    await ended;
  }
  rmSync(data, { recursive: true, force: true });
}

export async function run(): Promise<void> {
  await withServers(async ({ serviceUrl, bareUrl }) => {
    await compareWithBareRoute(serviceUrl, bareUrl);
    await loginsBesideOthers(serviceUrl);
  });
  await secondStart();
}
