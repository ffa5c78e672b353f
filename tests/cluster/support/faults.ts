/**
 * Ways in which a cluster misbehaves. Each gives back how it is undone, and `cluster.sh up` undoes what a run left behind.
 *
 * - Programs of Slurm answer late, lose their answer or fail: something else is mounted over `/usr/bin/sbatch`, so that sudo,
 *   SSH and everybody find it under its real name. Undone by unmounting; no file of a package is ever touched.
 * - Connections break or freeze: signals to the processes of sshd.
 * - Files appear late, as on a shared file system: one process and what it starts see a folder as it was before. Undone by
 *   unmounting; a service that is started anew sees the folder as it is.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { BASE, must, real, run, script } from './commands.ts';

const FAULTS = join(BASE, 'faults');

type Program = 'sbatch' | 'squeue' | 'scancel';
export type Undo = () => Promise<void>;

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

async function replace(program: Program, lines: string[]): Promise<Undo> {
  mkdirSync(FAULTS, { recursive: true });
  const stand_in = join(mkdtempSync(join(FAULTS, `${program}-`)), program);
  chmodSync(join(stand_in, '..'), 0o755);
  writeFileSync(stand_in, ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  await everywhere(['mount', '--bind', stand_in, `/usr/bin/${program}`]);
  // where mounts travel there are as many over each other as there were namespaces, some of which may be gone by now
  const uncover = `while umount -l /usr/bin/${program} 2>/dev/null; do :; done`;
  return () => everywhere(['sh', '-c', uncover]);
}

/** One process of each mount namespace: the service and sshd have their own, and mounts do not travel on every machine. */
function namespaces(): string[] {
  const found = new Map<string, string>();
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const pid of pids.sort((one, other) => Number(one) - Number(other))) {
    try {
      const namespace = readlinkSync(`/proc/${pid}/ns/mnt`);
      // another root is another machine
      if (readlinkSync(`/proc/${pid}/root`) === '/' && existsSync(`/proc/${pid}/root${BASE}/real`)) {
        // the first one: the last may be a connection that ends at this moment
        if (!found.has(namespace)) found.set(namespace, pid);
      }
    } catch {
      // it has ended meanwhile
    }
  }
  return [...found.values()];
}

/** Where mounts do travel, one of them has done the work for another. */
async function everywhere(command: string[]): Promise<void> {
  for (const pid of namespaces()) {
    await run(['nsenter', `--target=${pid}`, '--mount', '--', ...command]);
  }
}

/** It fails without doing anything, as with a controller that is too busy. */
export const failing = (program: Program, message: string, code = 1): Promise<Undo> =>
  replace(program, [`echo ${quoted(message)} >&2`, `exit ${code}`]);

/** It does what it should, and then fails as if the answer of the controller had not come back. */
export const losingAnswers = (program: Program, message: string): Promise<Undo> =>
  replace(program, [`${real(program)} "$@" >/dev/null 2>&1`, `echo ${quoted(message)} >&2`, 'exit 1']);

/** It shows nothing to whoever asks with this word, as a queue that is behind; else it does what it should. */
export const blindTo = (program: Program, word: string): Promise<Undo> =>
  replace(program, [`case "$*" in *${quoted(word)}*) exit 0 ;; esac`, `exec ${real(program)} "$@"`]);

export interface Held {
  /** How many have done their work and wait to say so. */
  waiting(): number;
  /** Lets them answer, and all that come later answer at once. */
  release: Undo;
}

/** It does what it should, and says so only when it is released: for what happens between an `sbatch` and its answer. */
export async function holdingAnswers(program: Program): Promise<Held> {
  mkdirSync(FAULTS, { recursive: true });
  const folder = mkdtempSync(join(FAULTS, 'hold-'));
  // whoever runs the program says here that it waits
  chmodSync(folder, 0o1777);
  const held = join(folder, 'held');
  writeFileSync(held, '');
  const restore = await replace(program, [
    `out=$(mktemp) err=$(mktemp)`,
    `${real(program)} "$@" >"$out" 2>"$err"; code=$?`,
    `: >${folder}/waits-$$`,
    `while [ -e ${held} ]; do sleep 0.05; done`,
    `cat "$out"; cat "$err" >&2; rm -f "$out" "$err"`,
    'exit $code',
  ]);
  return {
    waiting: () => (existsSync(held) ? readdirSync(folder).length - 1 : 0),
    release: async () => {
      rmSync(held);
      await restore();
    },
  };
}

/** Breaks every SSH connection; the next login works. */
export const killSshConnections = (): Promise<string> => script('sshd', 'signal-connections', 'KILL');

/** No answer on any SSH connection and no word about it, until it is undone; the next login works. */
export async function freezingSshConnections(): Promise<Undo> {
  await script('sshd', 'signal-connections', 'STOP');
  return async () => void (await script('sshd', 'signal-connections', 'CONT'));
}

/** Nobody can log in, and connections break. */
export const stopSshd = (): Promise<string> => script('sshd', 'stop');
export const startSshd = (): Promise<string> => script('sshd', 'start');

/**
 * A process, and whatever it starts, sees the folder as it is now, while others go on writing to it. For a service started by
 * `startService` (its pid), or for whoever comes by SSH (`'ssh'`).
 */
export async function stale(folder: string, from: number | 'ssh'): Promise<Undo> {
  const pid = from === 'ssh' ? (await must(['cat', join(BASE, 'run/sshd.pid')])).trim() : String(from);
  mkdirSync(FAULTS, { recursive: true });
  chmodSync(FAULTS, 0o755);
  const view = join(mkdtempSync(join(FAULTS, 'view-')), 'view');
  chmodSync(join(view, '..'), 0o755);
  await must(['cp', '-a', folder, view]);
  const there = ['nsenter', `--target=${pid}`, '--mount', '--'];
  await must([...there, 'mount', '--bind', view, folder]);
  return async () => void (await must([...there, 'umount', '-l', folder]));
}
