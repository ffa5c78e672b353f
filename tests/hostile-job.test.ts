/** Jobs of this machine that attack the service through what it reads of them, beside honest ones. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';

import { attacks, attackStep, besideHostileJobs, expectUnharmed } from './support/hostile.ts';
import { submitParallel } from './support/faults.ts';
import { type House, openHouse } from './support/house.ts';

let house: House;
let pid: number;
beforeAll(async () => {
  house = await openHouse({ database: 'given', settings: { SERVICE_MAX_NUM_THREADS: '24' } });
  pid = house.server().process.pid!;
});
afterAll(() => house.close());

it('hostile jobs end, honest ones beside them end as they should, and the service goes on', async () => {
  onTestFailed(() => console.error(house.output()));
  const gate = join(house.lab.root, 'gate');
  const open = () => writeFileSync(gate, '');
  const { honest, hostile } = await besideHostileJobs(house, attacks, { seconds: 90, gate, open });
  expect(honest.map(({ status }) => status)).toEqual(['done', 'done']);
  expect(hostile).toMatchObject({
    forged: { status: 'done', log: expect.stringContaining('not written by the service and left out') },
    endless: { status: 'failed', log: expect.stringContaining('something that is no line of the service') },
    sparse: { status: 'failed', log: expect.stringContaining('something that is no line of the service') },
    flood: { status: 'failed', log: expect.stringContaining('lines that the service did not write') },
    log: { status: 'done' },
    pipe: { status: 'failed', log: expect.stringContaining('is gone, or is no file any more') },
    device: { status: 'failed', log: expect.stringContaining('it is not a file') },
    deep: { status: 'failed', log: expect.stringContaining('nested more than 1000 levels deep') },
  });
  await expectUnharmed(house, pid);
});

it('what they leave can be downloaded, without holes of gigabytes', async () => {
  onTestFailed(() => console.error(house.output()));
  const { id } = await submitParallel(house, ['a', 'b'], {
    plan: { [house.lab.urlOf('a')]: attackStep('log'), '*': { print: 'b' } },
  });
  const job = await house.lab.end(id, 60);
  expect(job.status).toBe('done');
  const { status, text } = await house.lab.owner.client.get(`${house.lab.base}/job/${id}/download/`);
  expect([status, text.length < 2 ** 20]).toEqual([200, true]);
  await expectUnharmed(house, pid);
});
