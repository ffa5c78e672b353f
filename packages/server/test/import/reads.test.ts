/**
 * Everything that can be read after an import is what the existing server answers: every read operation, as every person,
 * against answers that are made from the rows of the source alone.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import type { Existing } from '../support/existing-database.ts';
import { LONG } from '../support/long.ts';
import { type Client, clientOf, serve } from '../support/server.ts';
import { accountReads, csvAnswer } from './answers/accounts.ts';
import { differences } from './answers/differences.ts';
import type { Read } from './answers/expected.ts';
import { jobReads } from './answers/jobs.ts';
import { type Old, readOld } from './answers/old.ts';
import { projectReads } from './answers/projects.ts';
import { taskReads } from './answers/tasks.ts';
import { crowd } from './crowded.ts';
import { emptyTarget, existing, runImport, sample } from './importing.ts';
import { tokenOf } from './tokens.ts';

const SHOWN = 20;

async function check(client: Client, { path, body, status, answer }: Read): Promise<string[]> {
  const got = await (body ? client.post(path, body) : client.get(path));
  if (got.status !== status) return [`${got.status} instead of ${status}: ${got.text.slice(0, 200)}`];
  if (answer === undefined) return [];
  return differences(answer, path.endsWith('/users-csv/') ? csvAnswer(got.text) : got.body);
}

async function compare(from: Existing): Promise<{ asked: number; different: string[] }> {
  const target = await emptyTarget();
  await runImport(from, target);
  const old: Old = await readOld(from.connection);
  const { app, url } = await serve(target, { background: false });
  const different: string[] = [];
  let asked = 0;
  try {
    for (const caller of old.users) {
      const id = caller['id'] as number;
      const client = clientOf(url, await tokenOf(id));
      for (const reads of [accountReads, taskReads, projectReads, jobReads]) {
        const all = reads(old, caller);
        asked += all.length;
        for (const read of all) {
          const found = await check(client, read);
          different.push(...found.map((line) => `as ${id}: ${read.path} ${JSON.stringify(read.body ?? '')} ${line}`));
        }
      }
    }
  } finally {
    await app.close();
  }
  return { asked, different: different.slice(0, SHOWN) };
}

// the lab below has all there is to read; this one has more of it
it.runIf(LONG)(
  'a deployment with 56 people, 50 projects and a long history',
  async () => {
    const { asked, different } = await compare(await sample());
    expect(different).toEqual([]);
    expect(asked).toBeGreaterThan(1500);
  },
  240_000,
);

it('a lab with every kind of person, share, package, image and history', async () => {
  const { asked, different } = await compare(await crowd(await existing()));
  expect(different).toEqual([]);
  expect(asked).toBeGreaterThan(1000);
}, 120_000);

it('logs and downloads of jobs, from the folder that the old server left or from its zip', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'service-old-jobs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const from = await existing();
  const jobs = { 2: join(folder, 'proj_0000001_wf_0000001_job_0000002'), 3: join(folder, 'proj_v2_job_3') };
  for (const [job, path] of Object.entries(jobs)) {
    const id = Number(job);
    mkdirSync(join(path, '0_task'), { recursive: true });
    writeFileSync(join(path, '0_task/log.txt'), `log of ${job}`);
    await from.add('jobv2', { id, working_dir: path });
    await from.add('historyrun', { id: 10 + id, job_id: id });
    await from.add('historyunit', { id: 20 + id, history_run_id: 10 + id, logfile: join(path, '0_task/log.txt') });
  }
  execFileSync('python3', ['-c', 'import shutil, sys; shutil.make_archive(sys.argv[1], "zip", sys.argv[1])', jobs[3]]);
  rmSync(jobs[3], { recursive: true });
  const target = await emptyTarget();
  await runImport(from, target);
  const { app, url } = await serve(target, { background: false });
  try {
    const ann = clientOf(url, await tokenOf(2));
    for (const id of [2, 3]) {
      const query = `dataset_id=1&workflowtask_id=1&history_run_id=${10 + id}&history_unit_id=${20 + id}`;
      const log = await ann.get(`/api/v2/project/1/status/unit-log/?${query}`);
      expect([log.status, log.body]).toEqual([200, `log of ${id}`]);
      const zip = await ann.get(`/api/v2/project/1/job/${id}/download/`);
      expect([zip.status, zip.text.slice(0, 2)]).toEqual([200, 'PK']);
      expect(zip.text).toContain('0_task/log.txt');
    }
  } finally {
    await app.close();
  }
});
