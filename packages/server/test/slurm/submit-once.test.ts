/** A script is handed to Slurm once, whatever becomes of the answers. */
import { describe, expect, it } from 'vitest';

import { Interrupted } from '../../src/slurm/away.ts';
import { newToken } from '../../src/slurm/queue.ts';
import { SubmissionRefused, submitOnce } from '../../src/slurm/submit-once.ts';
import { standIn } from './support.ts';

const AWAY = 'echo "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation" >&2; exit 1';
/** Keeps the comment of the job and the last line of its script, as the queue will show it. */
const TAKE = `
for word; do case "$word" in --comment=*) mark=\${word#--comment=};; esac; done
case "$2" in /*) mark=$(sed -n 's/^#SBATCH --job-name=//p' "$2");; esac
echo "12|$mark" >> "$FOLDER/queue"`;
const LIST = 'cat "$FOLDER/queue" 2>/dev/null; exit 0';

const asking = (more = {}) => ({
  signal: new AbortController().signal,
  pauses: { firstPauseMs: 10, longestPauseMs: 20 },
  ...more,
});

describe.each(['a token', 'a name'])('found again by %s', (kind) => {
  const markAndScript = (slurm: ReturnType<typeof standIn>) => {
    if (kind === 'a token') return { mark: { token: newToken() }, script: { text: '#!/bin/sh\n' } };
    slurm.add('script.sh', '#!/bin/sh\n#SBATCH --job-name=collect-7\n');
    return { mark: { name: 'collect-7' }, script: { path: `${slurm.folder}/script.sh` } };
  };

  it('a job whose answer was lost is not submitted again', async () => {
    const slurm = standIn({ sbatch: `${TAKE}\n${AWAY}`, squeue: LIST });
    const silences: string[] = [];
    const submission = { ...markAndScript(slurm), mayBeThere: false };
    const onSilence = (why: string) => void silences.push(why);
    expect(await submitOnce(slurm.client, submission, asking({ onSilence }))).toBe(12);
    expect([slurm.asked('sbatch').length, silences.length]).toEqual([1, 1]);
  });

  it('a job that an earlier life of the service may have submitted is looked for first', async () => {
    const slurm = standIn({ sbatch: `${TAKE}\necho 13`, squeue: LIST });
    const submission = { ...markAndScript(slurm), mayBeThere: true };
    expect(await submitOnce(slurm.client, submission, asking())).toBe(13);
    expect(await submitOnce(slurm.client, submission, asking())).toBe(12);
    expect(slurm.asked('sbatch')).toHaveLength(1);
  });

  it('nothing is submitted while the queue does not tell whether the job is there', async () => {
    const slurm = standIn({
      sbatch: `${TAKE}\necho 12`,
      squeue: `test -e "$FOLDER/again" && exit 0; touch "$FOLDER/again"; echo "squeue: error" >&2; exit 1`,
    });
    const submission = { ...markAndScript(slurm), mayBeThere: true };
    expect(await submitOnce(slurm.client, submission, asking())).toBe(12);
    expect([slurm.asked('squeue').length, slurm.asked('sbatch').length]).toEqual([2, 1]);
  });
});

const someJob = () => ({ mark: { token: newToken() }, script: { text: '' }, mayBeThere: false });

it('a refusal is told in words, with what Slurm itself said', async () => {
  const said = 'sbatch: error: Batch job submission failed: Invalid partition name specified';
  const { client, asked } = standIn({ sbatch: `echo "${said}" >&2; exit 1` });
  const refused = await submitOnce(client, someJob(), asking()).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(SubmissionRefused);
  expect(refused).toMatchObject({ said, message: expect.stringContaining('does not accept jobs for this partition') });
  expect(asked('sbatch')).toHaveLength(1);
});

it.each(['', 'Submitted batch job 12', '12 13', '-1'])('%j is the number of no job', async (printed) => {
  const { client } = standIn({ sbatch: `echo "${printed}"` });
  await expect(submitOnce(client, someJob(), asking())).rejects.toThrow('gave no id for it');
});

it.each([
  ['12', 12],
  ['12;cluster', 12],
  ['sbatch: a warning of the site\n 12 ', 12],
])('%j is the number of a job', async (printed, id) => {
  const { client } = standIn({ sbatch: `echo "${printed}"` });
  expect(await submitOnce(client, someJob(), asking())).toBe(id);
});

it('who stops does not wait for a Slurm that is away', async () => {
  const { client } = standIn({ sbatch: AWAY, squeue: 'exit 0' });
  const stop = new AbortController();
  const onSilence = () => stop.abort();
  const submitted = submitOnce(
    client,
    someJob(),
    asking({ signal: stop.signal, pauses: { firstPauseMs: 60_000, longestPauseMs: 60_000 }, onSilence }),
  );
  await expect(submitted).rejects.toBeInstanceOf(Interrupted);
});
