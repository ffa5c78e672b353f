/**
 * Hands a script to Slurm exactly once.
 *
 * The job carries a mark that was made before `sbatch` runs: a token in its comment, or a name of its own. When the answer
 * of `sbatch` is lost (the service was killed, the controller did not answer in time), the queue tells by the mark whether
 * the job is there.
 */
import { ServiceError } from '@service/contract/errors';

import { readJobId } from '../engine/slurm/queue.ts';
import { isSlurmAway, refusalWords } from '../engine/slurm/refusals.ts';
import { capture } from '../hosts/index.ts';
import { type Asked, type Asking, untilAnswered } from './away.ts';
import type { SlurmClient } from './client.ts';
import type { Mark } from './queue.ts';

const LONGEST_SBATCH_MS = 120_000;

export interface Submission {
  mark: Mark;
  /** The script itself, or the path of it on the cluster. */
  script: { text: string } | { path: string };
  /** An earlier attempt may have worked. */
  mayBeThere: boolean;
}

/** Slurm does not take the job; the message is for the person whose job it is. */
export class SubmissionRefused extends ServiceError {
  readonly kind = 'submission-refused';
  /** What `sbatch` itself said. */
  readonly said: string;

  constructor(message: string, said: string) {
    super(message);
    this.said = said;
  }
}

/** A name is a line of the script. */
const markWords = (mark: Mark) => ('token' in mark ? [`--comment=${mark.token}`] : []);

async function sbatch({ commands }: SlurmClient, { mark, script }: Submission): Promise<Asked<number>> {
  const command = ['sbatch', '--parsable', ...markWords(mark), ...('path' in script ? [script.path] : [])] as const;
  const { code, stdout, stderr } = await capture(commands, command, {
    ...('text' in script && { input: script.text }),
    timeoutMs: LONGEST_SBATCH_MS,
  });
  if (code !== 0) {
    if (isSlurmAway(stderr)) return { silence: stderr.trim() };
    throw new SubmissionRefused(refusalWords(stderr), stderr.trim() || `sbatch ended with ${code}`);
  }
  const printed = stdout.toString('utf8').trim();
  const id = readJobId(printed);
  if (id === undefined) throw new SubmissionRefused(`Slurm took the job but gave no id for it: ${printed}`, printed);
  return { answer: id };
}

/** The id of the job, whichever attempt it came from. */
export function submitOnce(client: SlurmClient, submission: Submission, asking: Asking): Promise<number> {
  let { mayBeThere } = submission;
  return untilAnswered(async () => {
    const found = mayBeThere ? await client.queue.find(submission.mark) : { ids: [] };
    if ('problem' in found) return { silence: found.problem };
    if (found.ids[0] !== undefined) return { answer: found.ids[0] };
    mayBeThere = true;
    return sbatch(client, submission);
  }, asking);
}
