/**
 * What Slurm itself had to say about a job: its error stream, without what always stands there.
 *
 *     executorError('srun: Step created for StepId=7.0\nslurmstepd: error: no such node\n') // 'slurmstepd: error: no such node'
 */
import { cleanText } from '../text.ts';

const IGNORED = [
  'step creation temporarily disabled, retrying',
  'step creation still disabled, retrying',
  'srun: step created for stepid=',
  "srun: warning: can't run 1 processes on ",
];

const isIgnored = (line: string) => IGNORED.some((text) => line.toLowerCase().includes(text));

/** Null when there is nothing to tell. Clients know the empty line between two lines. */
export function executorError(stderr: string): string | null {
  const lines = cleanText(stderr).split(/\r?\n/);
  // what follows the last line break is no line
  if (lines.at(-1) === '') lines.pop();
  const text = lines
    .filter((line) => !isIgnored(line))
    .join('\n\n')
    .trim();
  return text === '' ? null : text;
}
