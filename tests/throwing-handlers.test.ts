/** A service whose handlers throw, all of them, again and again: what one throws is the failure of its own read. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';

import { until } from '../packages/server/test/support/lab.ts';
import { submitParallel } from './support/faults.ts';
import { type House, openHouse } from './support/house.ts';
import { ROOT, temporaryFolder } from './support/processes.ts';

const THROWING = join(temporaryFolder('throwing'), 'thrown');
let house: House;
beforeAll(async () => {
  const preload = `--import=${join(ROOT, 'tests/support/throwing-handlers.mjs')}`;
  house = await openHouse({ database: 'given', settings: { NODE_OPTIONS: preload, THROWING } });
});
afterAll(() => house.close());

const alive = async () => (await fetch(`${house.url}/api/alive/`)).status;
const thrown = () => new Set(existsSync(THROWING) ? readFileSync(THROWING, 'utf8').trim().split('\n') : []);

it('goes on, and works as before when they throw no more', async () => {
  onTestFailed(() => console.error(house.output()));
  writeFileSync(THROWING, '');
  await until(
    'handlers of three sources that throw',
    async () => {
      // a request whose own handlers throw fails, and no other
      await submitParallel(house, ['a', 'b'], { plan: { '*': { print: 'text', sleep: 0.2 } } }).catch(() => undefined);
      expect(await alive()).toBe(200);
      return thrown().size >= 3;
    },
    60,
  );
  console.log(`handlers threw in ${[...thrown()].sort().join(', ')}`);
  rmSync(THROWING);
  const { id } = await submitParallel(house, ['c'], { plan: { '*': { print: 'text' } } });
  const job = await house.lab.end(id, 60);
  expect([job.status, house.server().process.exitCode]).toEqual(['done', null]);
});

it('goes on after an exception that nobody caught, and tells of it', async () => {
  const { process } = house.server();
  process.kill('SIGUSR2');
  await until('both are told', () => /nobody waits for/.test(house.output()) && /nobody catches/.test(house.output()));
  expect(house.output()).toContain('An exception that nobody caught (unhandledRejection); the service goes on');
  expect([await alive(), process.exitCode]).toEqual([200, null]);
});
