/**
 * A Slurm job that carries out the commands of a step, in words: its name, its script, and what Slurm says of it. No I/O.
 *
 *     submissionScript({ config, name: 'collect-7-lq3k2', folder: '/tasks/3/pkg/1.0/scripts', prefix: '1700000000_collect', commands })
 *
 * What is configured or uploaded becomes words of the script, never a part of its language; only the preamble is shell text,
 * written by the operator for this purpose.
 */
import { join } from 'node:path';

import type { PixiConfig } from '@service/contract';
import type { z } from 'zod';

import { readJobId } from '../../engine/slurm/states.ts';
import { controlProblem, sbatchWord, shellWord } from '../../engine/slurm/words.ts';
import { shown, StepFailed } from './run.ts';

/** A command of a script. */
export interface ScriptCommand {
  command: readonly [string, ...string[]];
  env?: Record<string, string>;
  /** What it prints goes to this file instead of the log. */
  output?: string;
}

export type SlurmConfig = NonNullable<z.output<typeof PixiConfig>['SLURM_CONFIG']>;

export interface Submission {
  config: SlurmConfig;
  name: string;
  /** Where script, output and marker are. */
  folder: string;
  prefix: string;
  commands: ScriptCommand[];
}

/** The same for every attempt of an activity, and for no other activity, also of another service. */
export const jobName = (activity: { id: number; action: string; timestamp_started: string }) =>
  `${activity.action}-${activity.id}-${new Date(activity.timestamp_started).getTime().toString(36)}`;

export function filesOf({ folder, prefix }: Pick<Submission, 'folder' | 'prefix'>) {
  const file = (end: string) => join(folder, `${prefix}-${end}`);
  return { script: file('submit.sh'), out: file('out.txt'), err: file('err.txt'), success: file('success.txt') };
}

/** A line for sbatch, which reads quotes in its own way. */
function directive(option: string, value: string): string {
  const problem = controlProblem(value);
  if (problem !== undefined) throw new StepFailed(`The option ${option} of the Slurm job ${problem}.`);
  return `#SBATCH ${option}=${sbatchWord(value)}`;
}

/** Names of files may hold patterns such as %j. */
const plainName = (path: string) => path.replaceAll('%', '%%');

function commandLine({ command, env = {}, output }: ScriptCommand): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const words = [...(variables.length > 0 ? ['env', ...variables] : []), ...command].map(shellWord);
  return words.join(' ') + (output === undefined ? '' : ` > ${shellWord(output)}`);
}

/** The script ends at the first command that fails, and leaves its marker only after the last one. */
export function submissionScript({ config, name, folder, prefix, commands }: Submission): string {
  const files = filesOf({ folder, prefix });
  const { partition, cpus, mem, mem_per_cpu, time, preamble } = config;
  return [
    '#!/bin/bash',
    directive('--job-name', name),
    directive('--partition', partition),
    directive('--cpus-per-task', String(cpus)),
    mem == null ? directive('--mem-per-cpu', mem_per_cpu ?? '') : directive('--mem', mem),
    directive('--time', time),
    directive('--error', plainName(files.err)),
    directive('--output', plainName(files.out)),
    // when Slurm starts the job again on another node, what the first one wrote stays
    directive('--open-mode', 'append'),
    directive('--chdir', folder),
    'set -e',
    ...(preamble ?? []),
    ...commands.flatMap((one) => [`echo ${shellWord(`$ ${shown(one.command)}`)}`, commandLine(one)]),
    `touch ${shellWord(files.success)}`,
    '',
  ].join('\n');
}

export function jobIdOf(printed: string): string {
  const id = readJobId(printed);
  if (id === undefined) throw new StepFailed(`sbatch did not answer with the number of a job: ${printed.trim()}`);
  return String(id);
}

export interface Answer {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** What the queue knows of a job; an answer that cannot be had says nothing about it. */
export type Sighting = { is: 'there'; state: string } | { is: 'gone' } | { is: 'unknown'; why: string };

export const lastLine = (text: string) =>
  text
    .trim()
    .split(/[\n\r]+/)
    .at(-1)!
    .trim();

/** Reads what `squeue --noheader --format='%i %T' --states=all --jobs=<id>` answered. */
export function sightingIn({ code, stdout, stderr }: Answer, id: string): Sighting {
  if (code !== 0) {
    // Slurm forgets jobs some minutes after their end
    if (/invalid job id/i.test(stderr)) return { is: 'gone' };
    return { is: 'unknown', why: lastLine(stderr) || `squeue ended with ${code}` };
  }
  const line = stdout.split('\n').find((one) => one.trim().split(/\s+/)[0] === id);
  const state = line?.trim().split(/\s+/)[1];
  return state === undefined ? { is: 'gone' } : { is: 'there', state };
}
