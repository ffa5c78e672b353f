/**
 * Why `sbatch`, `squeue` or `scancel` failed: Slurm is away and may be asked again, or it says no.
 *
 *     isSlurmAway('sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)') // true
 *     refusalWords('sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid partition name specified')
 *     // 'Slurm does not accept jobs for this partition. Ask an administrator … It says: Invalid partition name specified'
 */
import { cleanText, cutEnd } from '../text.ts';

const AWAY = [
  'unable to contact slurm controller',
  'unable to establish control machine address',
  'unable to establish configuration source',
  'socket timed out on send/recv operation',
  'zero bytes were transmitted or received',
  'transport endpoint is not connected',
  'resource temporarily unavailable',
  'temporarily unable to accept job',
  'temporary failure in name resolution',
  'backup controller in standby mode',
  'connection refused',
  'connection reset by peer',
  'connection timed out',
  'communication connection failure',
  'network is unreachable',
  'no route to host',
  'broken pipe',
  'unable to connect to database',
  'failed to open persistent connection',
  'munge encode failed',
  'munge decode failed',
  'protocol authentication error',
];

/** Told by the controller itself, so it is not away. */
const NO = /invalid job id|invalid user id|access\/permission denied|invalid job array/;

const lines = (stderr: string) =>
  cleanText(stderr)
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The line that says how it ended; those before it may tell of attempts. */
const failureLine = (stderr: string) =>
  lines(stderr).findLast((line) => /submission failed|allocation failure/i.test(line));

export function isSlurmAway(stderr: string): boolean {
  const text = (failureLine(stderr) ?? stderr).toLowerCase();
  if (NO.test(text)) return false;
  return AWAY.some((words) => text.includes(words)) || text.includes('slurm_load_jobs error');
}

/** What says more comes first: Slurm may tell of several lines about one refusal. */
const REFUSALS: [RegExp, string][] = [
  [
    /^sudo: /m,
    'The service has no permission to run commands as the user of this job. Ask an administrator to check the rules of sudo.',
  ],
  [
    /command not found|no such file or directory/i,
    'Slurm is not installed where jobs are submitted. Ask an administrator.',
  ],
  [
    /accounting\/qos policy|assoc\w*limit|qos\w*limit/i,
    'This exceeds a limit of the cluster. Wait until other jobs have ended, or ask the administrators of the cluster.',
  ],
  [
    /invalid partition|partition.*(not available|down|inactive)|required partition/i,
    'Slurm does not accept jobs for this partition. Ask an administrator to check the partition of the resource.',
  ],
  [
    /invalid account/i,
    'Slurm does not let you use this account. Choose another account, or ask the administrators of the cluster.',
  ],
  [/invalid qos/i, 'Slurm does not let you use this quality of service (qos). Ask the administrators of the cluster.'],
  [
    /memory specification|memory required by task/i,
    'No node of the partition has as much memory as the task asks for. Give the task less memory (mem), or run fewer units at a time.',
  ],
  [
    /cpu count|more processors requested/i,
    'No node of the partition has as many CPUs as the task asks for. Give the task fewer CPUs (cpus_per_task), or run fewer units at a time.',
  ],
  [
    /node configuration is not available|node count specification/i,
    'No node of the partition has what the task asks for. Ask for less (CPUs, memory, GPUs, nodes), or for another constraint.',
  ],
  [/time limit/i, 'The partition does not allow as much time as the task asks for. Give the task less time.'],
  [
    /gres|generic resource|gpu/i,
    'The partition does not have the GPUs or other resources (gres) that the task asks for. Change gres or gpus in the settings of the task.',
  ],
  [
    /feature/i,
    'No node of the partition has the features that the task asks for. Change constraint in the settings of the task.',
  ],
  [
    /invalid node name|node.*(exclude|nodelist)/i,
    'Slurm does not know one of the nodes. Change nodelist or exclude in the settings of the task.',
  ],
  [
    /job array/i,
    'The cluster does not take arrays of this size. Ask an administrator to lower max_num_jobs of the resource.',
  ],
  [
    /not permitted|permission denied|invalid user/i,
    'Slurm does not let this user submit jobs. Ask the administrators of the cluster.',
  ],
  [
    /unrecognized option|invalid directive|invalid --?|option requires|unmatched/i,
    'Slurm does not understand a line of the script. Check extra_lines of the task and of the resource, and worker_init of the job.',
  ],
];

const LONGEST = 500;

/** For the person whose job it is. */
export function refusalWords(stderr: string): string {
  const said = lines(stderr).map((line) => line.replace(/^(sbatch|squeue|scancel|srun): (error|fatal): /, ''));
  const told = (failureLine(stderr) ?? said.at(-1) ?? '').replace(/^.*?(submission failed|allocation failure): /i, '');
  const words = REFUSALS.find(([pattern]) => pattern.test(said.join('\n')))?.[1];
  const quoted = told === '' ? 'There was no reason given.' : `It says: ${cutEnd(told, LONGEST)}`;
  return `${words ?? 'Slurm did not accept the job.'} ${quoted}`;
}
