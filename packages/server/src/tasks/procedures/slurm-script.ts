/**
 * A Slurm job that carries out the commands of a step, in words: its name and its script. No I/O.
 *
 *     stepScript({ config, name: 'collect-7-lq3k2', folder: '/tasks/3/pkg/1.0/scripts', prefix: '1700000000_collect', commands })
 *
 * What is configured or uploaded becomes words of the script, never a part of its language; only the preamble is shell text,
 * written by the operator for this purpose.
 */
import { join } from 'node:path';

import type { PixiConfig } from '@service/contract';
import type { z } from 'zod';

import { controlProblem, directive, plainPattern, shellWord } from '../../engine/slurm/words.ts';
import { shown, StepFailed } from './procedure-run.ts';

/** A command of a script. */
export interface ScriptCommand {
  command: readonly [string, ...string[]];
  env?: Record<string, string>;
  /** What it prints goes to this file instead of the log. */
  output?: string;
}

export type SlurmConfig = NonNullable<z.output<typeof PixiConfig>['SLURM_CONFIG']>;

interface StepSubmission {
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

export function filesOf({ folder, prefix }: Pick<StepSubmission, 'folder' | 'prefix'>) {
  const file = (end: string) => join(folder, `${prefix}-${end}`);
  return { script: file('submit.sh'), out: file('out.txt'), err: file('err.txt'), success: file('success.txt') };
}

/** A value that would end its line is refused. */
function option(name: string, value: string): string {
  const problem = controlProblem(value);
  if (problem !== undefined) throw new StepFailed(`The option --${name} of the Slurm job ${problem}.`);
  return directive(name, value);
}

function commandLine({ command, env = {}, output }: ScriptCommand): string {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const words = [...(variables.length > 0 ? ['env', ...variables] : []), ...command].map(shellWord);
  return words.join(' ') + (output === undefined ? '' : ` > ${shellWord(output)}`);
}

/** The script ends at the first command that fails, and leaves its marker only after the last one. */
export function stepScript({ config, name, folder, prefix, commands }: StepSubmission): string {
  const files = filesOf({ folder, prefix });
  const { partition, cpus, mem, mem_per_cpu, time, preamble } = config;
  return [
    '#!/bin/bash',
    option('job-name', name),
    option('partition', partition),
    option('cpus-per-task', String(cpus)),
    mem == null ? option('mem-per-cpu', mem_per_cpu ?? '') : option('mem', mem),
    option('time', time),
    option('error', plainPattern(files.err)),
    option('output', plainPattern(files.out)),
    // when Slurm starts the job again on another node, what the first one wrote stays
    option('open-mode', 'append'),
    option('chdir', folder),
    'set -e',
    ...(preamble ?? []),
    ...commands.flatMap((one) => [`echo ${shellWord(`$ ${shown(one.command)}`)}`, commandLine(one)]),
    `touch ${shellWord(files.success)}`,
    '',
  ].join('\n');
}

export const lastLine = (text: string) =>
  text
    .trim()
    .split(/[\n\r]+/)
    .at(-1)!
    .trim();
