import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { directiveWords } from '../../src/engine/slurm/words.ts';
import {
  filesOf,
  jobName,
  type ScriptCommand,
  type SlurmConfig,
  stepScript,
} from '../../src/tasks/procedures/slurm-script.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-slurm-script-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CONFIG: SlurmConfig = {
  partition: 'main',
  cpus: 4,
  mem: '8G',
  mem_per_cpu: null,
  time: '1:00:00',
  preamble: [],
};

const scriptOf = (commands: ScriptCommand[], config: Partial<SlurmConfig> = {}, prefix = '1700000000_collect') =>
  stepScript({ config: { ...CONFIG, ...config }, name: 'collect-7-x', folder, prefix, commands });

const options = (script: string) =>
  script
    .split('\n')
    .filter((line) => line.startsWith('#SBATCH'))
    .flatMap((line) => directiveWords(line));

/** Runs a script as a node would, without Slurm. */
function ran(script: string): { code: number; out: string; err: string } {
  const file = join(folder, 'script.sh');
  writeFileSync(file, script);
  try {
    return { code: 0, out: execFileSync('bash', [file], { encoding: 'utf8', stdio: 'pipe' }), err: '' };
  } catch (error) {
    const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
    return { code: status, out: stdout, err: stderr };
  }
}

const isThere = (path: string) => {
  try {
    readFileSync(path);
    return true;
  } catch {
    return false;
  }
};

describe('the script of a job', () => {
  it('asks for what the resource says, and writes beside itself', () => {
    expect(options(scriptOf([]))).toEqual([
      '--job-name=collect-7-x',
      '--partition=main',
      '--cpus-per-task=4',
      '--mem=8G',
      '--time=1:00:00',
      `--error=${folder}/1700000000_collect-err.txt`,
      `--output=${folder}/1700000000_collect-out.txt`,
      '--open-mode=append',
      `--chdir=${folder}`,
    ]);
    expect(options(scriptOf([], { mem: null, mem_per_cpu: '2G' }))).toContain('--mem-per-cpu=2G');
  });

  it('takes a stored configuration without a preamble', () => {
    const { preamble: _, ...stored } = CONFIG;
    const script = stepScript({
      config: stored as SlurmConfig,
      name: 'n',
      folder,
      prefix: 'p',
      commands: [{ command: ['true'] }],
    });
    expect(ran(script).code).toBe(0);
  });

  it('has the preamble before the first command, in its own language', () => {
    const preamble = ['export GREETING="hello there"', 'greet() {\n  echo "$GREETING"\n}', 'greet'];
    const { code, out } = ran(scriptOf([{ command: ['sh', '-c', 'echo $GREETING'] }], { preamble }));
    expect([code, out]).toEqual([0, 'hello there\n$ sh -c "echo $GREETING"\nhello there\n']);
  });

  it.each([
    ['a blank', 'my folder'],
    ['quotes', `it's "so"`],
    ['a command', '$(touch INJECTED) `id` ; exit 3 & # !'],
    ['a line break', 'one\necho two'],
    ['a backslash', 'a\\b'],
    ['nothing', ''],
  ])('hands on a word with %s as it is', (_, word) => {
    const output = join(folder, 'printed text.txt');
    const command = ['sh', '-c', 'printf "%s|%s" "$1" "$VALUE"', '-', word] as const;
    expect(ran(scriptOf([{ command, env: { VALUE: word }, output }])).code).toBe(0);
    expect(readFileSync(output, 'utf8')).toBe(`${word}|${word}`);
  });

  it.each(['partition', 'mem', 'time'] as const)('is refused for a %s with a line break', (field) => {
    expect(() => scriptOf([], { [field]: 'main\n#SBATCH --uid=0' })).toThrow(/^The option --\w+ .* has a line break/);
  });

  it('keeps a configured value in its place, whatever it holds', () => {
    expect(options(scriptOf([], { partition: 'a b" --uid=0 #' }))).toContain('--partition=a b" --uid=0 #');
  });

  it('names files by what they are called, where Slurm knows patterns', () => {
    const script = stepScript({ config: CONFIG, name: 'n', folder: '/t/100%j', prefix: 'p', commands: [] });
    expect(options(script)).toContain('--output=/t/100%%j/p-out.txt');
  });

  it('leaves its marker after the last command, and none when one fails', () => {
    for (const [prefix, command, left] of [
      ['1_collect', 'true', true],
      ['2_collect', 'false', false],
    ] as const) {
      const { out } = ran(scriptOf([{ command: [command] }, { command: ['echo', 'after'] }], {}, prefix));
      expect([isThere(filesOf({ folder, prefix }).success), out.includes('\nafter\n')]).toEqual([left, left]);
    }
  });
});

describe('the name of a job', () => {
  const activity = { id: 7, action: 'collect', timestamp_started: '2026-01-01T00:00:00.123+00:00' };

  it('is the same for each attempt of an activity, and no other', () => {
    expect(jobName(activity)).toMatch(/^collect-7-[a-z0-9]+$/);
    expect(jobName({ ...activity })).toBe(jobName(activity));
    // an activity of another service may have the same number
    const other = { ...activity, timestamp_started: '2026-01-01T00:00:00.124+00:00' };
    expect(jobName(other)).not.toBe(jobName(activity));
  });
});
