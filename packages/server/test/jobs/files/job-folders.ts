/** Folders of jobs to try things with, and what other programs see in their zips. */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, readdir, readlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

import { expect } from 'vitest';

import { jobFiles } from '../../../src/jobs/files/index.ts';
import { atFileEnd, temporaryFolder } from '../../support/file-end.ts';

export const run = promisify(execFile);
export const MIB = 1024 * 1024;

// byte by byte, megabytes would take seconds
expect.addEqualityTesters([(a, b) => (Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : undefined)]);

let made: string | undefined;

/** The folder that everything of a test file is in. */
export function root(): string {
  if (made === undefined) {
    made = temporaryFolder('files');
    atFileEnd(() => (made = undefined));
  }
  return made;
}

let jobs = 0;
export const jobName = (id: number) => `proj_v2_0000001_wf_0000002_job_${String(id).padStart(7, '0')}_20261115_003632`;
export const newFolderName = () => join(root(), jobName(++jobs));

/** A place for a zip that is of no folder. */
export const newZip = (kind: string) => join(root(), `${kind}-${++jobs}.zip`);

export type Files = Record<string, string | Buffer>;

export async function write(folder: string, files: Files): Promise<string> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return folder;
}

export const newJob = async (files: Files) => write(newFolderName(), files);
export const exists = async (path: string) => lstat(path).then(...[() => true, () => false]);

/** What Python sees in a zip: the members in their order, with their bytes, after it checked every checksum. */
export async function unzipped(path: string): Promise<Files> {
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

export const asBuffers = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([name, content]) => [name, Buffer.from(content)]));

export async function downloaded(
  working_dir: string | null,
): Promise<{ path: string; headers: Record<string, string> }> {
  const { body, headers } = await jobFiles.download({ working_dir });
  const path = newZip('download');
  await pipeline(body, createWriteStream(path));
  return { path, headers };
}

/** A zip made by Python, as existing deployments have them. */
export const pythonZip = (folder: string) =>
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
export async function openBelow(folder: string): Promise<number> {
  const links = await readdir('/proc/self/fd');
  const targets = await Promise.all(links.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')));
  return targets.filter((target) => target.startsWith(folder)).length;
}

export const ODD: Files = {
  'workflow.log': 'a line\n',
  '0_my_tásk_1_0__beta_/non_par--log.txt': 'é🙂\n',
  '1_plain/par-000000-0000000-args.json': '{}',
  '1_plain/with [brackets] & "quotes" $(id).txt': 'odd',
  '1_plain/back\\slash': 'one name, not two',
  '1_plain/C: drive': 'relative',
  '1_plain/日本語/深い/ファイル': 'deep',
  '2_empty/nothing.txt': '',
};
