/** The folder of a job, and what people read of the logs in it. */
import { appendFile, chmod, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';

import { archiveJob, jobFiles, makeJobFolder, openWorkflowLog } from '../../../src/jobs/files/index.ts';
import { LOG_HEAD_BYTES, LOG_STEP_BYTES, LOG_TAIL_BYTES } from '../../../src/jobs/files/logs.ts';
import {
  run,
  root,
  newFolderName,
  write,
  newJob,
  exists,
  unzipped,
  asBuffers,
  downloaded,
  pythonZip,
  openBelow,
} from './job-folders.ts';

describe('the folder of a job', () => {
  it('is made with the folders above it, readable by everyone, whatever the umask says', async () => {
    const before = process.umask(0o077);
    onTestFinished(() => void process.umask(before));
    const month = join(root(), 'new', '2026-11');
    expect(await makeJobFolder(join(month, 'job'))).toEqual({ existed: false });
    for (const path of [join(root(), 'new'), month, join(month, 'job')]) {
      expect((await stat(path)).mode & 0o777, path).toBe(0o755);
    }
    expect(process.umask()).toBe(0o077);
  });

  it('that was there is said so, and left as it is', async () => {
    const folder = await newJob({ 'workflow.log': 'earlier' });
    await chmod(folder, 0o700);
    expect(await makeJobFolder(folder)).toEqual({ existed: true });
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(folder, 'workflow.log'), 'utf8')).toBe('earlier');
  });

  it('leaves the mode of a folder above it alone', async () => {
    const month = join(root(), 'private-month');
    await mkdir(month);
    await chmod(month, 0o770);
    await makeJobFolder(join(month, 'job'));
    expect((await stat(month)).mode & 0o777).toBe(0o770);
  });

  it('cannot be made where a file is', async () => {
    const path = join(await newJob({ file: 'x' }), 'file');
    await expect(makeJobFolder(path)).rejects.toThrow('EEXIST');
    await expect(makeJobFolder(join(path, 'below'))).rejects.toThrow('ENOTDIR');
  });
});

describe('the workflow log', () => {
  const format = (time: Date, level: string, message: string) => `${time.getFullYear() > 2000} ${level} ${message}`;

  it('gets a line at a time, behind what it had', async () => {
    const path = join(await newJob({ 'workflow.log': 'earlier\n' }), 'workflow.log');
    const log = openWorkflowLog(path, format);
    log.line('INFO', 'begin');
    expect(await readFile(path, 'utf8')).toBe('earlier\ntrue INFO begin\n');
    log.line('ERROR', 'ends itself\n');
    await log.close();
    log.line('INFO', 'after the end');
    await log.close();
    expect(await readFile(path, 'utf8')).toBe('earlier\ntrue INFO begin\ntrue ERROR ends itself\n');
    expect(log.problem()).toBeUndefined();
  });

  it.each([
    ['the disk is full', () => '/dev/full', 'ENOSPC'],
    ['its folder is gone', () => join(root(), 'no', 'such', 'workflow.log'), 'ENOENT'],
    ['it is a link', () => join(root(), 'linked.log'), 'ELOOP'],
  ])('keeps the reason when %s, and throws nothing', async (_, path, code) => {
    await symlink(join(root(), 'elsewhere.log'), join(root(), 'linked.log')).catch(() => undefined);
    const log = openWorkflowLog(path(), format);
    log.line('INFO', 'one');
    log.line('INFO', 'two');
    await log.close();
    expect(log.problem()).toContain(`The workflow log is incomplete, because it could not be written: ${code}`);
    expect(await exists(join(root(), 'elsewhere.log'))).toBe(false);
  });
});

describe('a log', () => {
  const bytes = Buffer.concat([Buffer.from('é\0ok '), Buffer.from([0xff, 0xc3]), Buffer.from('\nend')]);
  const text = 'é\0ok \ufffd\ufffd\nend';
  const name = '0_my_tásk_1_0__beta_/par-000000-0000001 [1]-log.txt';

  it.each([
    ['folder', async (_: string) => undefined],
    ['zip', async (folder: string) => (await archiveJob(folder), rm(folder, { recursive: true }))],
    [
      'zip of an existing deployment',
      async (folder: string) => (await pythonZip(folder), rm(folder, { recursive: true })),
    ],
  ])('comes from the %s, with replacement characters for what is not UTF-8', async (_, prepare) => {
    const working_dir = await newJob({ [name]: bytes, 'other.txt': 'other', 'workflow.log': 'a line\n' });
    await prepare(working_dir);
    expect(await jobFiles.readLog({ working_dir }, join(working_dir, name))).toBe(text);
    expect(await jobFiles.readLog({ working_dir }, join(working_dir, 'none.txt'))).toBeUndefined();
    expect(await jobFiles.workflowLog({ working_dir })).toBe('a line\n');
  });

  it('comes from the folder when both have it', async () => {
    const working_dir = await newJob({ 'log.txt': 'old' });
    await archiveJob(working_dir);
    await writeFile(join(working_dir, 'log.txt'), 'new');
    expect(await jobFiles.readLog({ working_dir }, join(working_dir, 'log.txt'))).toBe('new');
  });

  it('is not there without folder, zip or place', async () => {
    const working_dir = newFolderName();
    expect(await jobFiles.readLog({ working_dir }, join(working_dir, 'log.txt'))).toBeUndefined();
    expect(await jobFiles.readLog({ working_dir: null }, '/etc/hostname')).toBeUndefined();
    expect(await jobFiles.workflowLog({ working_dir })).toBeNull();
  });

  it('outside the folder is refused', async () => {
    const working_dir = await newJob({ 'log.txt': 'mine' });
    await write(`${working_dir}_beside`, { 'log.txt': 'not mine' });
    for (const path of [
      '/etc/passwd',
      working_dir,
      `${working_dir}_beside/log.txt`,
      `${working_dir}/../${basename(working_dir)}_beside/log.txt`,
      `../${basename(working_dir)}_beside/log.txt`,
    ]) {
      expect(await jobFiles.readLog({ working_dir }, path), path).toBeUndefined();
    }
  });

  it('behind a symbolic link is not read', async () => {
    const outside = await newJob({ 'secret.txt': 'secret' });
    const working_dir = await newJob({ 'log.txt': 'mine' });
    await symlink(join(outside, 'secret.txt'), join(working_dir, 'link.txt'));
    await symlink(outside, join(working_dir, '0_task'));
    await symlink(join(working_dir, 'log.txt'), join(working_dir, 'inside.txt'));
    for (const path of ['link.txt', '0_task/secret.txt', 'inside.txt']) {
      expect(await jobFiles.readLog({ working_dir }, join(working_dir, path)), path).toBeUndefined();
    }
  });

  it('that is a pipe is not waited for', async () => {
    const working_dir = await newJob({ 'log.txt': 'mine' });
    await run('mkfifo', [join(working_dir, 'pipe')]);
    expect(await jobFiles.readLog({ working_dir }, join(working_dir, 'pipe'))).toBeUndefined();
    expect(await unzipped((await downloaded(working_dir)).path)).toEqual(asBuffers({ 'log.txt': 'mine' }));
  });

  it('in a damaged zip is an error, and leaves nothing open', async () => {
    const working_dir = newFolderName();
    await writeFile(`${working_dir}.zip`, 'this is not a zip');
    await expect(jobFiles.readLog({ working_dir }, join(working_dir, 'log.txt'))).rejects.toThrow('not a zip file');
    expect(await openBelow(working_dir)).toBe(0);
  });

  it('in a folder that may be entered with a link above it is read', async () => {
    const real = await newJob({ 'job/log.txt': 'mine' });
    const linked = join(root(), 'linked-parent');
    await symlink(real, linked);
    expect(await jobFiles.readLog({ working_dir: join(linked, 'job') }, join(linked, 'job/log.txt'))).toBe('mine');
  });
});

describe('a long log', () => {
  const LIMIT = LOG_HEAD_BYTES + LOG_TAIL_BYTES;
  const from = async (working_dir: string, place: string) => {
    if (place === 'zip') {
      await archiveJob(working_dir);
      await rm(working_dir, { recursive: true, force: true });
    }
    return jobFiles.readLog({ working_dir }, join(working_dir, 'log.txt'));
  };

  it.each(['folder', 'zip'])('of 20 MB is read in part from the %s', async (place) => {
    const line = (number: number) => `line ${String(number).padStart(8, '0')} ${'x'.repeat(85)}\n`;
    const whole = Array.from({ length: 200_000 }, (_, number) => line(number)).join('');
    expect(whole.length).toBe(20_000_000);
    const text = (await from(await newJob({ 'log.txt': whole }), place))!;
    const note = `\n[${20_000_000 - LIMIT} bytes are left out here. Download the job to read the whole log.]\n`;
    expect(text === whole.slice(0, LOG_HEAD_BYTES) + note + whole.slice(-LOG_TAIL_BYTES)).toBe(true);
  });

  it.each(['folder', 'zip'])('that just fits is whole, from the %s', async (place) => {
    const whole = 'ab'.repeat(LIMIT / 2);
    expect((await from(await newJob({ 'log.txt': whole }), place)) === whole).toBe(true);
  });

  it.each(['folder', 'zip'])('is cut between characters, from the %s', async (place) => {
    const whole = `a${'🙂'.repeat(LIMIT / 4 + 100)}`;
    const text = (await from(await newJob({ 'log.txt': whole }), place))!;
    expect(text).not.toContain('\ufffd');
    const [head, note, tail] = text.split('\n');
    expect(Number(/\d+/.exec(note!)![0])).toBe(Buffer.byteLength(whole) - Buffer.byteLength(head! + tail!));
    expect(whole.startsWith(head!) && whole.endsWith(tail!)).toBe(true);
  });
});

describe('following the workflow log', () => {
  it('gives what is new, and never half a character', async () => {
    const working_dir = await newJob({ 'workflow.log': 'one\n' });
    const path = join(working_dir, 'workflow.log');
    expect(await jobFiles.workflowLogFrom({ working_dir }, 0)).toEqual({ offset: 4, text: 'one\n' });
    expect(await jobFiles.workflowLogFrom({ working_dir }, 4)).toEqual({ offset: 4, text: '' });
    let offset = 4;
    let heard = '';
    for (const byte of Buffer.from('é🙂€\n')) {
      await appendFile(path, Buffer.from([byte]));
      const next = await jobFiles.workflowLogFrom({ working_dir }, offset);
      expect(next.text).not.toContain('\ufffd');
      heard += next.text;
      offset = next.offset;
    }
    expect(heard).toBe('é🙂€\n');
  });

  it('goes on in the zip when the folder is gone', async () => {
    const working_dir = await newJob({ 'workflow.log': 'one\ntwo\n' });
    await archiveJob(working_dir);
    await rm(working_dir, { recursive: true });
    expect(await jobFiles.workflowLogFrom({ working_dir }, 4)).toEqual({ offset: 8, text: 'two\n' });
    expect(await jobFiles.workflowLogFrom({ working_dir }, 8)).toEqual({ offset: 8, text: '' });
  });

  it.each(['folder', 'zip'])('comes in steps when there is much, from the %s', async (place) => {
    const whole = `a${'é'.repeat(LOG_STEP_BYTES)}`;
    const working_dir = await newJob({ 'workflow.log': whole });
    if (place === 'zip') {
      await archiveJob(working_dir);
      await rm(working_dir, { recursive: true, force: true });
    }
    const texts: string[] = [];
    for (let offset = 0; ;) {
      const next = await jobFiles.workflowLogFrom({ working_dir }, offset);
      if (next.text === '') break;
      expect(Buffer.byteLength(next.text)).toBeLessThanOrEqual(LOG_STEP_BYTES);
      texts.push(next.text);
      offset = next.offset;
    }
    expect(texts).toHaveLength(3);
    expect(texts.join('') === whole).toBe(true);
  });

  it('of a log that is not there gives nothing', async () => {
    expect(await jobFiles.workflowLogFrom({ working_dir: newFolderName() }, 7)).toEqual({ offset: 7, text: '' });
    expect(await jobFiles.workflowLogFrom({ working_dir: null }, Number.NaN)).toEqual({ offset: 0, text: '' });
  });
});
