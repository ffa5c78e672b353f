/** What becomes of the files of old jobs. */
import { readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { applyRetention } from '../../../src/jobs/files/index.ts';
import {
  root,
  jobName,
  newFolderName,
  type Files,
  write,
  newJob,
  exists,
  unzipped,
  asBuffers,
  pythonZip,
} from './job-folders.ts';

describe('retention', () => {
  const now = new Date('2026-11-30T12:00:00Z');
  const daysAgo = (days: number) => new Date(now.getTime() - days * 24 * 3600 * 1000);
  const files: Files = { 'workflow.log': 'a line\n', '0_task/log.txt': 'text' };
  const withZip = async () => {
    const working_dir = await newJob(files);
    await pythonZip(working_dir);
    return working_dir;
  };
  const onlyZip = async () => {
    const working_dir = await withZip();
    await rm(working_dir, { recursive: true });
    return working_dir;
  };
  const left = async (working_dir: string) =>
    (
      await Promise.all(
        (
          [
            ['folder', working_dir],
            ['zip', `${working_dir}.zip`],
            ['temporary', `${working_dir}_tmp.zip`],
          ] as const
        ).map(async ([kind, path]) => ((await exists(path)) ? kind : '')),
      )
    )
      .filter(Boolean)
      .join(' and ');

  // zip after 7 days, remove after 30
  it.each([
    ['a folder', 6.9, () => newJob(files), 'folder', {}],
    ['a folder', 7, () => newJob(files), 'zip', { zipped: 1 }],
    ['a folder', 29, () => newJob(files), 'zip', { zipped: 1 }],
    ['a folder with its zip', 8, withZip, 'zip', { zipped: 1 }],
    ['a zip', 8, onlyZip, 'zip', {}],
    ['nothing', 8, async () => newFolderName(), '', {}],
    ['a folder', 30, () => newJob(files), '', { removed: 1 }],
    ['a folder with its zip', 31, withZip, '', { removed: 1 }],
    ['a zip', 31, onlyZip, '', { removed: 1 }],
    ['nothing', 31, async () => newFolderName(), '', {}],
    ['a folder', -1, () => newJob(files), 'folder', {}],
  ])('makes of %s after %d days …', async (_, days, make, expected, counts) => {
    const working_dir = await make();
    const jobs = [{ working_dir, ended: daysAgo(days) }];
    expect(await applyRetention({ jobs, zipAfterDays: 7, removeAfterDays: 30, now })).toEqual({
      zipped: 0,
      removed: 0,
      problems: [],
      ...counts,
    });
    expect(await left(working_dir)).toBe(expected);
    if (expected === 'zip') expect(await unzipped(`${working_dir}.zip`)).toEqual(asBuffers(files));
  });

  it('that is switched off does nothing', async () => {
    const working_dir = await newJob(files);
    const jobs = [{ working_dir, ended: daysAgo(10_000) }];
    expect(await applyRetention({ jobs, zipAfterDays: null, removeAfterDays: null, now })).toEqual({
      zipped: 0,
      removed: 0,
      problems: [],
    });
    expect(await left(working_dir)).toBe('folder');
  });

  it('removes a temporary zip as well', async () => {
    const working_dir = newFolderName();
    await writeFile(`${working_dir}_tmp.zip`, 'half');
    const jobs = [{ working_dir, ended: daysAgo(31) }];
    expect(await applyRetention({ jobs, zipAfterDays: null, removeAfterDays: 30, now })).toMatchObject({ removed: 1 });
    expect(await left(working_dir)).toBe('');
  });

  it('touches nothing that is not called like a job folder', async () => {
    const home = join(root(), 'precious');
    const name = jobName(9_000_001);
    const places = [
      home,
      join(home, `${name}_copy`),
      join(home, `my_${name}`),
      join(home, 'proj_v2_0000001_wf_0000002_job_'),
      join(home, `${name}\n`),
      `${join(home, name)}/`,
      `${join(home, name)}/.`,
      `${home}/x/../${name}`,
    ];
    await write(home, { [`${name}/log.txt`]: 'x', [`${name}_copy/log.txt`]: 'x', [`my_${name}/log.txt`]: 'x' });
    const jobs = [...places, ''].map((working_dir) => ({ working_dir, ended: daysAgo(100) }));
    for (const [zipAfterDays, removeAfterDays] of [
      [1, null],
      [null, 1],
    ] as const) {
      // prettier-ignore
      const result = await applyRetention({ jobs, zipAfterDays, removeAfterDays, now });
      expect(result).toMatchObject({ zipped: 0, removed: 0 });
      expect(result.problems.map(({ working_dir }) => working_dir)).toEqual([...places, '']);
      expect((await readdir(home)).sort()).toEqual([`my_${name}`, name, `${name}_copy`].sort());
    }
  });

  it('removes files whose name it cannot tell, and not what links in the folder point to', async () => {
    const outside = await newJob({ 'secret.txt': 'secret' });
    const working_dir = await newJob(files);
    await symlink(outside, join(working_dir, 'linked'));
    await writeFile(Buffer.concat([Buffer.from(`${working_dir}/latin-`), Buffer.from([0xe9])]), 'x');
    const jobs = [{ working_dir, ended: daysAgo(31) }];
    expect(await applyRetention({ jobs, zipAfterDays: null, removeAfterDays: 30, now })).toMatchObject({ removed: 1 });
    expect(await left(working_dir)).toBe('');
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  it('removes a link, not what it points to', async () => {
    const outside = await newJob({ 'secret.txt': 'secret' });
    const working_dir = newFolderName();
    await symlink(outside, working_dir);
    const jobs = [{ working_dir, ended: daysAgo(8) }];
    const options = { jobs, zipAfterDays: 7, now };
    expect(await applyRetention({ ...options, removeAfterDays: null })).toMatchObject({ zipped: 0, problems: [] });
    expect(await applyRetention({ ...options, removeAfterDays: 7 })).toMatchObject({ removed: 1 });
    expect(await readdir(outside)).toEqual(['secret.txt']);
  });

  it('tells of a job that fails, and goes on with the others', async () => {
    const failing = await newJob(files);
    // the temporary zip cannot be opened where a folder is
    await write(`${failing}_tmp.zip`, { inside: 'x' });
    const good = await newJob(files);
    async function* jobs() {
      yield { working_dir: failing, ended: daysAgo(8) };
      await Promise.resolve();
      yield { working_dir: good, ended: daysAgo(8) };
    }
    const result = await applyRetention({ jobs: jobs(), zipAfterDays: 7, removeAfterDays: null, now });
    expect(result).toMatchObject({ zipped: 1, removed: 0, problems: [{ working_dir: failing }] });
    expect(result.problems[0]!.problem).toContain('EISDIR');
    expect(await left(failing)).toBe('folder and temporary');
    expect(await left(good)).toBe('zip');
  });
});
