import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import {
  appendFile,
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { applyRetention, archiveJob, jobFiles, makeJobFolder, openWorkflowLog } from '../../src/jobs/files/index.ts';
import { LOG_HEAD_BYTES, LOG_STEP_BYTES, LOG_TAIL_BYTES } from '../../src/jobs/files/logs.ts';
import { type Member, zipOf } from '../../src/jobs/files/zip-write.ts';

const run = promisify(execFile);
const LONG = process.env['LONG'] === '1';
const MIB = 1024 * 1024;

// byte by byte, megabytes would take seconds
expect.addEqualityTesters([(a, b) => (Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : undefined)]);

let root: string;
beforeAll(async () => void (root = await mkdtemp(join(tmpdir(), 'service-files-'))));
afterAll(() => rm(root, { recursive: true, force: true }));

let jobs = 0;
const jobName = (id: number) => `proj_v2_0000001_wf_0000002_job_${String(id).padStart(7, '0')}_20261115_003632`;
const newPlace = () => join(root, jobName(++jobs));

type Files = Record<string, string | Buffer>;

async function write(folder: string, files: Files): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

const newJob = async (files: Files) => write(newPlace(), files);
const exists = async (path: string) => lstat(path).then(...[() => true, () => false]);

/** What Python sees in a zip: the members in their order, with their bytes, after it checked every checksum. */
async function unzipped(path: string): Promise<Files> {
  const script = `
import base64, json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    assert all(i.compress_type == zipfile.ZIP_DEFLATED and not i.is_dir() for i in z.infolist())
    print(json.dumps([[i.filename, base64.b64encode(z.read(i)).decode()] for i in z.infolist()]))`;
  const { stdout } = await run('python3', ['-c', script, path], { maxBuffer: 256 * MIB });
  const members = JSON.parse(stdout) as [string, string][];
  expect(new Set(members.map(([name]) => name)).size).toBe(members.length);
  return Object.fromEntries(members.map(([name, content]) => [name, Buffer.from(content, 'base64')]));
}

const asBuffers = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [name, Buffer.from(content)]));

async function downloaded(working_dir: string | null): Promise<{ path: string; headers: Record<string, string> }> {
  const { body, headers } = await jobFiles.download({ working_dir });
  const path = join(root, `download-${++jobs}.zip`);
  await pipeline(body, createWriteStream(path));
  return { path, headers };
}

/** A zip made by Python, as existing deployments have them. */
const pythonZip = (folder: string) =>
  run('python3', [
    '-c',
    `
import os, sys, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(folder + '.zip', 'w', zipfile.ZIP_DEFLATED) as z:
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            z.write(path, os.path.relpath(path, folder))`,
    folder,
  ]);

/** How many files below a folder this process has open. */
async function openBelow(folder: string): Promise<number> {
  const links = await readdir('/proc/self/fd');
  const targets = await Promise.all(links.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return targets.filter((target) => target.startsWith(folder)).length;
}

async function until(what: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 8000; !(await what()); await sleep(10)) {
    if (Date.now() > deadline) throw new Error('It did not happen in time');
  }
}

const ODD: Files = {
  'workflow.log': 'a line\n',
  '0_my_tásk_1_0__beta_/non_par--log.txt': 'é🙂\n',
  '1_plain/par-000000-0000000-args.json': '{}',
  '1_plain/with [brackets] & "quotes" $(id).txt': 'odd',
  '1_plain/back\\slash': 'one name, not two',
  '1_plain/C: drive': 'relative',
  '1_plain/日本語/深い/ファイル': 'deep',
  '2_empty/nothing.txt': '',
};

describe('the folder of a job', () => {
  it('is made with the folders above it, readable by everyone, whatever the umask says', async () => {
    const before = process.umask(0o077);
    onTestFinished(() => void process.umask(before));
    const month = join(root, 'new', '2026-11');
    expect(await makeJobFolder(join(month, 'job'))).toEqual({ existed: false });
    for (const path of [join(root, 'new'), month, join(month, 'job')]) {
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
    const month = join(root, 'private-month');
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
    ['its folder is gone', () => join(root, 'no', 'such', 'workflow.log'), 'ENOENT'],
    ['it is a link', () => join(root, 'linked.log'), 'ELOOP'],
  ])('keeps the reason when %s, and throws nothing', async (_, path, code) => {
    await symlink(join(root, 'elsewhere.log'), join(root, 'linked.log')).catch(() => undefined);
    const log = openWorkflowLog(path(), format);
    log.line('INFO', 'one');
    log.line('INFO', 'two');
    await log.close();
    expect(log.problem()).toContain(`The workflow log is incomplete, because it could not be written: ${code}`);
    expect(await exists(join(root, 'elsewhere.log'))).toBe(false);
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
    const working_dir = newPlace();
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
    const working_dir = newPlace();
    await writeFile(`${working_dir}.zip`, 'this is not a zip');
    await expect(jobFiles.readLog({ working_dir }, join(working_dir, 'log.txt'))).rejects.toThrow('not a zip file');
    expect(await openBelow(working_dir)).toBe(0);
  });

  it('in a folder that may be entered with a link above it is read', async () => {
    const real = await newJob({ 'job/log.txt': 'mine' });
    const linked = join(root, 'linked-parent');
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
    expect(await jobFiles.workflowLogFrom({ working_dir: newPlace() }, 7)).toEqual({ offset: 7, text: '' });
    expect(await jobFiles.workflowLogFrom({ working_dir: null }, Number.NaN)).toEqual({ offset: 0, text: '' });
  });
});

describe('the download of a job', () => {
  it('is its folder, zipped while it is sent', async () => {
    const working_dir = await newJob(ODD);
    await mkdir(join(working_dir, '3_folder_without_files'));
    const { path, headers } = await downloaded(working_dir);
    expect(headers).toEqual({
      'content-type': 'application/x-zip-compressed',
      'content-disposition': `attachment;filename=${basename(working_dir)}_archive.zip`,
    });
    const members = await unzipped(path);
    expect(members).toEqual(asBuffers(ODD));
    expect(Object.keys(members)).toEqual(Object.keys(ODD).sort());
    expect(await readFile((await downloaded(working_dir)).path)).toEqual(await readFile(path));
    expect(await jobFiles.archiveBytes({ working_dir })).toBeNull();
  });

  it('is its zip, as it is, when there is one', async () => {
    const working_dir = await newJob({ 'log.txt': 'of the folder' });
    await writeFile(`${working_dir}.zip`, 'whatever is in it');
    const { path, headers } = await downloaded(working_dir);
    expect(headers).toEqual({
      'content-type': 'application/x-zip-compressed',
      'content-disposition': `attachment;filename=${basename(working_dir)}_archive.zip`,
      'content-length': '17',
    });
    expect(await readFile(path, 'utf8')).toBe('whatever is in it');
    expect(await jobFiles.archiveBytes({ working_dir })).toBe(17);
  });

  it.each([
    ['without files', () => newPlace()],
    ['without a place', () => null],
  ])('%s is an empty zip', async (_, working_dir) => {
    const { path } = await downloaded(working_dir());
    expect((await stat(path)).size).toBe(22);
    expect(await unzipped(path)).toEqual({});
  });

  it('has no links, and nothing they point to', async () => {
    const outside = await newJob({ 'secret.txt': 'secret' });
    const working_dir = await newJob({ 'log.txt': 'mine' });
    await symlink(join(outside, 'secret.txt'), join(working_dir, 'link.txt'));
    await symlink(outside, join(working_dir, 'linked'));
    await symlink('/no/such/file', join(working_dir, 'broken'));
    await symlink(working_dir, join(working_dir, 'circle'));
    expect(await unzipped((await downloaded(working_dir)).path)).toEqual(asBuffers({ 'log.txt': 'mine' }));
  });

  it('goes on while files grow, shrink and vanish', async () => {
    const large = randomBytes(3 * MIB);
    const working_dir = await newJob({
      '0/grows': large,
      '1/grows later': 'short',
      '2/vanishes': 'x',
      '3/vanishes with its folder': 'x',
      '4/stays': 'y',
    });
    const { body } = await jobFiles.download({ working_dir });
    const chunks: Buffer[] = [];
    for await (const chunk of body) {
      if (chunks.length === 0) {
        await appendFile(join(working_dir, '0/grows'), randomBytes(MIB));
        await appendFile(join(working_dir, '1/grows later'), ', longer');
        await rm(join(working_dir, '2/vanishes'));
        await rm(join(working_dir, '3'), { recursive: true });
      }
      chunks.push(chunk as Buffer);
    }
    const path = join(root, 'grown.zip');
    await writeFile(path, chunks);
    expect(await unzipped(path)).toEqual(
      asBuffers({ '0/grows': large, '1/grows later': 'short, longer', '4/stays': 'y' }),
    );
  });

  it('has what was left of a file that was cut while it was read', async () => {
    const large = randomBytes(5 * MIB);
    const working_dir = await newJob({ '0/cut': large, '1/stays': 'y' });
    const { body } = await jobFiles.download({ working_dir });
    const iterator = body[Symbol.asyncIterator]();
    const first = await iterator.next();
    await truncate(join(working_dir, '0/cut'), 4 * MIB);
    const chunks = [first.value as Buffer];
    for await (const chunk of body) chunks.push(chunk as Buffer);
    const path = join(root, 'cut.zip');
    await writeFile(path, chunks);
    const members = await unzipped(path);
    expect(members['0/cut']).toEqual(large.subarray(0, 4 * MIB));
    expect(members['1/stays']).toEqual(Buffer.from('y'));
  });

  it.each([
    ['from the folder', async () => undefined],
    ['from the zip', (folder: string) => pythonZip(folder)],
  ])('that is broken off leaves no file open (%s)', async (_, prepare) => {
    const working_dir = await newJob({ large: randomBytes(8 * MIB) });
    await prepare(working_dir);
    const { body } = await jobFiles.download({ working_dir });
    await once(body, 'readable');
    expect(await openBelow(working_dir)).toBe(1);
    body.destroy();
    await until(async () => (await openBelow(working_dir)) === 0);
  });
});

describe('a zip', () => {
  const member = (name: string, content: Buffer | string, facts: Partial<Member> = {}): Member => {
    const bytes = Buffer.from(content);
    const fixed = { modified: new Date(2026, 10, 15, 0, 36, 32), mode: 0o640, size: bytes.length };
    return { name, ...fixed, content: Readable.from([bytes]), ...facts };
  };
  const written = async (members: Member[], zip64: boolean) => {
    const path = join(root, `zip-${++jobs}.zip`);
    await pipeline(zipOf(members, { zip64 }), createWriteStream(path));
    return path;
  };
  const infos = async (path: string) => {
    const script =
      'import json, sys, zipfile; print(json.dumps([[list(i.date_time), oct(i.external_attr >> 16), i.extract_version] for i in zipfile.ZipFile(sys.argv[1]).infolist()]))';
    return JSON.parse((await run('python3', ['-c', script, path])).stdout) as [number[], string, number][];
  };

  it.each([
    ['the plain form', false, 20],
    ['the zip64 form', true, 45],
  ])('in %s is understood by other programs and by us', async (_, zip64, version) => {
    const large = randomBytes(3 * MIB);
    const path = await written([member('é/small', 'text'), member('large', large), member('none', '')], zip64);
    expect(await unzipped(path)).toEqual({ 'é/small': Buffer.from('text'), large, none: Buffer.alloc(0) });
    expect(await infos(path)).toEqual(Array(3).fill([[2026, 11, 15, 0, 36, 32], '0o100640', version]));
    await expect(run('unzip', ['-tq', path])).resolves.toMatchObject({ stdout: expect.stringContaining('No errors') });
    const working_dir = path.replace(/\.zip$/, '');
    expect(await jobFiles.readLog({ working_dir }, join(working_dir, 'é/small'))).toBe('text');
    expect(await jobFiles.readLog({ working_dir }, join(working_dir, 'none'))).toBe('');
  });

  it('has dates that its format can tell', async () => {
    const path = await written(
      [member('a', '', { modified: new Date(1970, 0, 1) }), member('b', '', { modified: new Date(2200, 0, 1) })],
      false,
    );
    const dates = (await infos(path)).map(([date]) => date);
    expect(dates).toEqual([
      [1980, 1, 1, 0, 0, 0],
      [2107, 1, 1, 0, 0, 0],
    ]);
  });

  it('fails with the reading of a member, small or large', async () => {
    for (const size of [1, 10 * MIB]) {
      const broken = Readable.from(
        (async function* () {
          yield Buffer.from('a');
          await Promise.resolve();
          throw new Error('EIO');
        })(),
      );
      await expect(written([member('broken', '', { size, content: broken })], false)).rejects.toThrow('EIO');
    }
  });

  it.runIf(LONG)('takes members of more than 4 GiB', { timeout: 600_000 }, async () => {
    const working_dir = await newJob({ '0/sparse': '', '1/behind': 'text' });
    const size = 4 * 1024 * MIB + 5;
    await truncate(join(working_dir, '0/sparse'), size);
    const { path } = await downloaded(working_dir);
    const script =
      'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(z.infolist()[0].file_size, z.read("1/behind"))';
    expect((await run('python3', ['-c', script, path])).stdout).toBe(`${size} b'text'\n`);
  });
});

describe('the archive of a job', () => {
  /** More than 1 MiB, zipped. */
  const large = (): Files => ({ ...ODD, 'large.bin': randomBytes(1.2 * MIB) });

  it('of less than 1 MiB stands beside the folder', async () => {
    const working_dir = await newJob(ODD);
    await archiveJob(working_dir);
    expect(await unzipped(`${working_dir}.zip`)).toEqual(asBuffers(ODD));
    expect(await readFile(join(working_dir, 'workflow.log'), 'utf8')).toBe('a line\n');
    expect(await exists(`${working_dir}_tmp.zip`)).toBe(false);
    expect(await jobFiles.archiveBytes({ working_dir })).toBe((await stat(`${working_dir}.zip`)).size);
  });

  it('of at least 1 MiB takes the place of the folder', async () => {
    const files = large();
    const working_dir = await newJob(files);
    await archiveJob(working_dir);
    expect(await unzipped(`${working_dir}.zip`)).toEqual(asBuffers(files));
    expect(await exists(working_dir)).toBe(false);
    expect(await jobFiles.workflowLog({ working_dir })).toBe('a line\n');
  });

  it('has no links, and their targets stay', async () => {
    const outside = await newJob({ 'secret.txt': 'secret' });
    const files = large();
    const working_dir = await newJob(files);
    await symlink(outside, join(working_dir, 'linked'));
    await symlink(join(outside, 'secret.txt'), join(working_dir, 'link.txt'));
    await archiveJob(working_dir);
    expect(await unzipped(`${working_dir}.zip`)).toEqual(asBuffers(files));
    expect(await exists(working_dir)).toBe(false);
    expect(await readFile(join(outside, 'secret.txt'), 'utf8')).toBe('secret');
  });

  it('has the dates of the files', async () => {
    const working_dir = await newJob({ 'log.txt': 'x' });
    const time = new Date(2024, 1, 29, 12, 34, 56);
    await utimes(join(working_dir, 'log.txt'), time, time);
    await archiveJob(working_dir);
    const { stdout } = await run('unzip', ['-Z', '-T', `${working_dir}.zip`]);
    expect(stdout).toContain('20240229.123456');
  });

  it('takes the place of an earlier one', async () => {
    const working_dir = await newJob({ 'log.txt': 'first' });
    await archiveJob(working_dir);
    await write(working_dir, { 'log.txt': 'second', 'more.txt': 'more' });
    await archiveJob(working_dir);
    expect(await unzipped(`${working_dir}.zip`)).toEqual(asBuffers({ 'log.txt': 'second', 'more.txt': 'more' }));
  });

  const LEFT: [string, (folder: string) => Promise<unknown>][] = [
    ['half a temporary zip', (folder) => writeFile(`${folder}_tmp.zip`, randomBytes(2 * MIB))],
    ['the zip and the whole folder', (folder) => pythonZip(folder)],
    [
      'the zip and half the folder',
      async (folder) => {
        await pythonZip(folder);
        await rm(join(folder, '1_plain'), { recursive: true });
        await rm(join(folder, 'large.bin'));
      },
    ],
    [
      'the zip and an empty folder',
      async (folder) => {
        await pythonZip(folder);
        await rm(folder, { recursive: true });
        await mkdir(folder);
      },
    ],
    [
      'the zip only, and a temporary one',
      async (folder) => {
        await pythonZip(folder);
        await rm(folder, { recursive: true });
        await writeFile(`${folder}_tmp.zip`, 'half');
      },
    ],
  ];

  it.each(LEFT)('loses nothing when an earlier attempt left %s', async (_, leave) => {
    const files = large();
    const working_dir = await newJob(files);
    await leave(working_dir);
    for (let attempt = 0; attempt < 2; attempt++) {
      await archiveJob(working_dir);
      expect(await unzipped(`${working_dir}.zip`)).toEqual(asBuffers(files));
      expect(await exists(working_dir)).toBe(false);
      expect(await exists(`${working_dir}_tmp.zip`)).toBe(false);
    }
  });

  it('keeps what is only in the zip when the folder began anew', async () => {
    const files = large();
    const working_dir = await newJob(files);
    await archiveJob(working_dir);
    await write(working_dir, { 'workflow.log': 'a line\nrecovered\n' });
    await archiveJob(working_dir);
    expect(await unzipped(`${working_dir}.zip`)).toEqual(
      asBuffers({ ...files, 'workflow.log': 'a line\nrecovered\n' }),
    );
  });

  /** Archives in a process of its own, which says when it begins. */
  const archiveElsewhere = (working_dir: string, wrap: string[] = []) => {
    const module = fileURLToPath(new URL('../../src/jobs/files/archive.ts', import.meta.url));
    const script = `const { archiveJob } = await import(${JSON.stringify(module)}); console.log('begin'); await archiveJob(${JSON.stringify(working_dir)})`;
    const [program, ...args] = [...wrap, process.execPath, '--input-type=module', '-e', script];
    return spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  };

  it('survives being killed at any moment', { timeout: 60_000 }, async () => {
    const files: Files = {};
    for (let unit = 0; unit < 400; unit++) files[`0_task/par-${unit}-log.txt`] = randomBytes(8000);
    const working_dir = await newJob(files);
    for (const delay of [0, 20, 50, 90, 140, 200, 300]) {
      const child = archiveElsewhere(working_dir);
      const closed = once(child, 'close');
      await once(child.stdout, 'data');
      await sleep(delay);
      child.kill('SIGKILL');
      await closed;
      if (await exists(`${working_dir}.zip`)) await unzipped(`${working_dir}.zip`);
    }
    await archiveJob(working_dir);
    expect(await unzipped(`${working_dir}.zip`)).toEqual(asBuffers(files));
    expect(await exists(working_dir)).toBe(false);
    expect(await exists(`${working_dir}_tmp.zip`)).toBe(false);
  });

  it('that finds no room leaves everything as it was', async () => {
    const files = large();
    const working_dir = await newJob(files);
    const child = archiveElsewhere(working_dir, ['sh', '-c', 'ulimit -f 1000; exec "$@"', 'sh']);
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (said += text));
    const [code] = (await once(child, 'close')) as [number];
    expect(code).toBe(1);
    expect(said).toContain('EFBIG');
    expect(await exists(`${working_dir}_tmp.zip`)).toBe(false);
    expect(await exists(`${working_dir}.zip`)).toBe(false);
    expect(await readFile(join(working_dir, 'large.bin'))).toEqual(files['large.bin']);
  });

  it('does not replace a zip that it cannot read', async () => {
    const working_dir = await newJob(ODD);
    await writeFile(`${working_dir}.zip`, 'damaged');
    await expect(archiveJob(working_dir)).rejects.toThrow();
    expect(await readFile(`${working_dir}.zip`, 'utf8')).toBe('damaged');
    expect(await readFile(join(working_dir, 'workflow.log'), 'utf8')).toBe('a line\n');
    expect(await exists(`${working_dir}_tmp.zip`)).toBe(false);
  });

  it('keeps a folder with a file whose name it cannot tell', async () => {
    const working_dir = await newJob(large());
    const odd = Buffer.concat([Buffer.from(`${working_dir}/latin-`), Buffer.from([0xe9])]);
    await writeFile(odd, 'content');
    await archiveJob(working_dir);
    expect(await readFile(odd, 'utf8')).toBe('content');
  });

  it(`takes ${LONG ? '70 000' : '3 000'} files, one at a time`, { timeout: 300_000 }, async () => {
    const count = LONG ? 70_000 : 3_000;
    const working_dir = newPlace();
    await mkdir(join(working_dir, '0_task'), { recursive: true });
    const script =
      'import sys\nfor i in range(int(sys.argv[2])): open(f"{sys.argv[1]}/0_task/par-{i:07d}-log.txt", "w").write(f"unit {i}")';
    await run('python3', ['-c', script, working_dir, String(count)]);
    let most = 0;
    const watch = setInterval(() => {
      void openBelow(working_dir).then((open) => void (most = Math.max(most, open)));
    }, 50);
    await archiveJob(working_dir);
    clearInterval(watch);
    // the file that is read, the zip that is written
    expect(most).toBeLessThanOrEqual(3);
    const list = 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(len(z.infolist()), z.testzip())';
    expect((await run('python3', ['-c', list, `${working_dir}.zip`])).stdout).toBe(`${count} None\n`);
    await rm(working_dir, { recursive: true, force: true });
    const last = join(working_dir, `0_task/par-${String(count - 1).padStart(7, '0')}-log.txt`);
    const begin = Date.now();
    expect(await jobFiles.readLog({ working_dir }, last)).toBe(`unit ${count - 1}`);
    expect(Date.now() - begin).toBeLessThan(2000);
  });
});

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
    ['nothing', 8, async () => newPlace(), '', {}],
    ['a folder', 30, () => newJob(files), '', { removed: 1 }],
    ['a folder with its zip', 31, withZip, '', { removed: 1 }],
    ['a zip', 31, onlyZip, '', { removed: 1 }],
    ['nothing', 31, async () => newPlace(), '', {}],
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
    const working_dir = newPlace();
    await writeFile(`${working_dir}_tmp.zip`, 'half');
    const jobs = [{ working_dir, ended: daysAgo(31) }];
    expect(await applyRetention({ jobs, zipAfterDays: null, removeAfterDays: 30, now })).toMatchObject({ removed: 1 });
    expect(await left(working_dir)).toBe('');
  });

  it('touches nothing that is not called like a job folder', async () => {
    const home = join(root, 'precious');
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
    const working_dir = newPlace();
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
