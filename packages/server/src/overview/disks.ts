/** How full the file systems are that the service writes to. */
import { dirname } from 'node:path';

import type { DiskSeen } from '@service/contract';

import { capture, localHost } from '../hosts/index.ts';
import type { Seen } from './background.ts';

const LONGEST_MS = 10_000;

export interface Disk {
  mount: string;
  total_bytes: number;
  free_bytes: number;
}

/** Of `df -Pk`: names may have blanks, numbers have none. */
const LINE = /\s(?<total>\d+)\s+\d+\s+(?<free>\d+)\s+(?:\d+%|-)\s+(?<mount>\/.*)$/m;

export function readDisk(printed: string): Disk | undefined {
  const { total, free, mount } = LINE.exec(printed)?.groups ?? {};
  return mount === undefined
    ? undefined
    : { mount, total_bytes: Number(total) * 1024, free_bytes: Number(free) * 1024 };
}

/**
 * Asked by a command, since a mount that hangs would keep a thread of this process for ever. A folder that is yet to be made
 * will be where the nearest one above it is.
 */
export async function diskOf(folder: string): Promise<Disk> {
  const { code, stdout, stderr } = await capture(localHost, ['df', '-Pk', '--', folder], {
    timeoutMs: LONGEST_MS,
    env: { LC_ALL: 'C' },
  });
  if (code !== 0 && /No such file/.test(stderr) && folder !== dirname(folder)) return diskOf(dirname(folder));
  const disk = code === 0 ? readDisk(stdout.toString('utf8')) : undefined;
  if (disk === undefined) throw new Error(stderr.trim() || `df says nothing about ${folder}.`);
  return disk;
}

export interface UsedFolder {
  folder: string;
  /** What is kept there: "Jobs of Cluster". */
  purpose: string;
}

const keyOf = ({ folder }: UsedFolder, { state, answer }: Seen<Disk>) =>
  state === 'unreachable' ? `folder ${folder}` : `mount ${answer?.mount ?? 'unknown'}`;

/** One line for each file system, and one for what is not known yet; what cannot be reached stands by itself. */
export function byFileSystem(folders: readonly { used: UsedFolder; seen: Seen<Disk> }[]): DiskSeen[] {
  const disks = new Map<string, DiskSeen>();
  for (const { used, seen } of folders) {
    const { state, since, problem, answer } = seen;
    const key = keyOf(used, seen);
    const disk = disks.get(key) ?? {
      state,
      since: since?.toISOString() ?? null,
      problem,
      mount: answer?.mount ?? null,
      folders: [],
      total_bytes: answer?.total_bytes ?? null,
      free_bytes: answer?.free_bytes ?? null,
    };
    disk.folders.push(used);
    disks.set(key, disk);
  }
  return [...disks.values()];
}
