/** The zip of a job: how it is written, downloaded, and takes the place of the folder. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import {
  appendFile,
  type FileHandle,
  mkdir,
  open,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { describe, expect, it, vi } from 'vitest';

import { archiveJob, jobFiles } from '../../../src/jobs/files/index.ts';
import { type Member, zipOf } from '../../../src/jobs/files/zip-write.ts';
import { LONG, oneIn } from '../../support/long.ts';
import { until } from '../../support/until.ts';
import {
  run,
  MIB,
  root,
  newFolderName,
  newZip,
  type Files,
  write,
  newJob,
  exists,
  unzipped,
  asBuffers,
  downloaded,
  pythonZip,
  openBelow,
  ODD,
} from './job-folders.ts';

/** What all open files of this process have in common. */
async function prototypeOfHandles(): Promise<FileHandle> {
  await using file = await open('/dev/null');
  return Object.getPrototypeOf(file) as FileHandle;
}

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
    ['without files', () => newFolderName()],
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
    const path = join(root(), 'grown.zip');
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
    const path = join(root(), 'cut.zip');
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
    const path = newZip('zip');
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
    // with something in it: what is nearly all holes is left out
    const working_dir = await newJob({ '0/large': Buffer.alloc(8 * MIB, 'begin'), '1/behind': 'text' });
    const size = 4 * 1024 * MIB + 5;
    await truncate(join(working_dir, '0/large'), size);
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

  it.each(oneIn(2, LEFT))('loses nothing when an earlier attempt left %s', async (_, leave) => {
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
    const module = fileURLToPath(new URL('../../../src/jobs/files/archive.ts', import.meta.url));
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
    const working_dir = newFolderName();
    await mkdir(join(working_dir, '0_task'), { recursive: true });
    const script =
      'import sys\nfor i in range(int(sys.argv[2])): open(f"{sys.argv[1]}/0_task/par-{i:07d}-log.txt", "w").write(f"unit {i}")';
    await run('python3', ['-c', script, working_dir, String(count)]);
    let most = 0;
    const watch = setInterval(() => {
      void openBelow(working_dir).then((open) => void (most = Math.max(most, open)));
    }, 50);
    const before = Date.now();
    await archiveJob(working_dir);
    const took = Date.now() - before;
    clearInterval(watch);
    // the file that is read, the zip that is written
    expect(most).toBeLessThanOrEqual(3);
    const list = 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(len(z.infolist()), z.testzip())';
    expect((await run('python3', ['-c', list, `${working_dir}.zip`])).stdout).toBe(`${count} None\n`);
    await rm(working_dir, { recursive: true, force: true });
    const last = join(working_dir, `0_task/par-${String(count - 1).padStart(7, '0')}-log.txt`);
    const reads = vi.spyOn(await prototypeOfHandles(), 'read');
    const begin = Date.now();
    expect(await jobFiles.readLog({ working_dir }, last)).toBe(`unit ${count - 1}`);
    expect(Date.now() - begin).toBeLessThan(took);
    // in blocks: with a read for each member of the directory, the last one would come late
    expect(reads.mock.calls.length).toBeLessThan(count / 100);
    expect(reads.mock.calls.length).toBeGreaterThan(0);
    reads.mockRestore();
  });
});
