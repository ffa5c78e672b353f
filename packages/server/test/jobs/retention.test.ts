import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { tidyUp } from '../../src/jobs/retention.ts';
import { temporaryFolder } from '../support/file-end.ts';
import { startService } from '../support/server.ts';
import { addJob } from '../support/tasks.ts';

const service = await startService({ background: false });
const { db } = service.database;

/** A job that ended so many days ago, with a folder. */
async function oldJob(root: string, days: number, more: object = {}): Promise<string> {
  const ended = new Date(Date.now() - days * 86_400_000).toISOString();
  const ids = { project_id: null, workflow_id: null, dataset_id: null };
  const id = await addJob(service, { ...ids, status: 'done', end_timestamp: ended, ...more });
  const name = `proj_v2_0000001_wf_0000001_job_${String(id).padStart(7, '0')}_20260101_000000`;
  const working_dir = join(root, name);
  mkdirSync(working_dir);
  writeFileSync(join(working_dir, 'workflow.log'), 'done');
  await db.updateTable('jobs').set({ working_dir }).where('id', '=', id).execute();
  return name;
}

describe('old job folders', () => {
  it.each([
    ['stay without a setting', null, null, ['new', 'old', 'ancient']],
    ['are zipped', 10, null, ['new', 'old.zip', 'ancient.zip']],
    ['are removed', null, 100, ['new', 'old']],
    ['are zipped first and removed later', 10, 100, ['new', 'old.zip']],
  ])('%s', async (_, zipAfterDays, removeAfterDays, expected) => {
    const root = temporaryFolder('retention');
    const names: Record<string, string> = {
      new: await oldJob(root, 1),
      old: await oldJob(root, 20),
      ancient: await oldJob(root, 200),
    };
    const logged: string[] = [];
    const keep = (message: string) => void logged.push(message);
    const log = { enabled: () => true, debug: keep, info: keep, warning: keep, error: keep };
    await tidyUp({ db, log, zipAfterDays, removeAfterDays });
    const left = expected.map((name) => name.replace(/^\w+/, (key) => names[key]!));
    expect(readdirSync(root).sort()).toEqual(left.sort());
  });

  it('of jobs that are not over, or not cleaned up yet, are left alone', async () => {
    const root = temporaryFolder('retention');
    const running = await oldJob(root, 300, { status: 'submitted' });
    const busy = await oldJob(root, 300);
    await service.database.pool.query(
      `insert into background_work (kind, subject_id) select 'job', id from jobs where working_dir = $1`,
      [join(root, busy)],
    );
    const log = { enabled: () => true, debug: () => {}, info: () => {}, warning: () => {}, error: () => {} };
    await tidyUp({ db, log, zipAfterDays: 1, removeAfterDays: 1 });
    expect(readdirSync(root).sort()).toEqual([running, busy].sort());
  });
});
