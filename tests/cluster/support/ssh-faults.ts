/**
 * Programs of Slurm that misbehave for whoever comes by SSH, and for nobody else: something else is mounted over them in the
 * mounts of sshd alone. Undone by unmounting; an sshd that is started anew sees the programs as they are.
 */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Undo } from './faults.ts';
import { BASE, must, real } from './place.ts';

type Program = 'sbatch' | 'squeue';

async function replaceForSsh(program: Program, lines: string[]): Promise<Undo> {
  const folder = join(BASE, 'faults');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  const place = mkdtempSync(join(folder, `ssh-${program}-`));
  chmodSync(place, 0o755);
  const standIn = join(place, program);
  writeFileSync(standIn, ['#!/bin/sh', ...lines, ''].join('\n'));
  chmodSync(standIn, 0o755);
  const pid = (await must(['cat', join(BASE, 'run/sshd.pid')])).trim();
  const there = ['nsenter', `--target=${pid}`, '--mount', '--'];
  await must([...there, 'mount', '--bind', standIn, `/usr/bin/${program}`]);
  return async () => void (await must([...there, 'umount', '-l', `/usr/bin/${program}`]));
}

const said = (message: string) => `echo '${message}' >&2`;

/** It fails without doing anything. */
export const failingForSsh = (program: Program, message: string): Promise<Undo> =>
  replaceForSsh(program, [said(message), 'exit 1']);

/** It does what it should, and then fails as if the answer of the controller had not come back. */
export const losingAnswersForSsh = (program: Program, message: string): Promise<Undo> =>
  replaceForSsh(program, [`${real(program)} "$@" >/dev/null 2>&1`, said(message), 'exit 1']);
