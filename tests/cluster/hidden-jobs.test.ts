/** A cluster that shows people their own jobs only, and the service none of them. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { configure, jobRuns, tidy } from './support/cluster.ts';
import { asUser, CHECKOUT, folderOf, throughSudo } from './support/commands.ts';
import type { Seen } from './support/queue-read.ts';

const RULE = '/etc/sudoers.d/service-test-hidden-jobs';
const GONE = 999_999;

let job: number;
let showAll: () => Promise<void>;
beforeAll(async () => {
  showAll = await configure({ PrivateData: 'jobs' });
  const script = '#!/bin/sh\nsleep 120\n';
  const options = ['--parsable', `--chdir=${folderOf('alice')}`, '--array=0-99:3%2', '--output=out'];
  job = Number((await throughSudo('alice', ['sbatch', ...options], script)).stdout);
  await jobRuns(job);
});
afterAll(async () => {
  rmSync(RULE, { force: true });
  await showAll();
  await tidy();
});

async function seenBy(user: 'alice' | 'bob', ids: number[]): Promise<Seen> {
  const program = join(CHECKOUT, 'tests/cluster/support/queue-read.ts');
  const { stdout, stderr } = await asUser('svcuser', [process.execPath, program, user, ...ids.map(String)]);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Seen;
}

it('says nothing about a job while sudo does not let the service ask as the person', async () => {
  expect(await seenBy('alice', [job, GONE])).toEqual({ complete: false, jobs: [] });
});

it('tells the person, through sudo, all of a job, and that another one is over', async () => {
  writeFileSync(RULE, 'svcuser ALL=(alice, bob) NOPASSWD: /usr/bin/squeue\n', { mode: 0o440 });
  const states = [...Array<string>(32).fill('PENDING'), 'RUNNING', 'RUNNING'];
  const seen = await seenBy('alice', [job, GONE]);
  if ('jobs' in seen) for (const [, elements] of seen.jobs) elements.sort();
  expect(seen).toEqual({ complete: true, jobs: [[job, states]] });
  expect(await seenBy('bob', [job])).toEqual({ complete: true, jobs: [] });
});
