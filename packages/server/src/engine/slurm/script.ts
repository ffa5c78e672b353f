/**
 * The script that `sbatch` gets: what the job needs, as `#SBATCH` lines, and how a worker is started for each pack.
 *
 *     #!/bin/sh
 *     #SBATCH --partition=main
 *     #SBATCH --ntasks=1
 *     #SBATCH --cpus-per-task=4
 *     …
 *     '/opt/python3' -I -S '/jobs/5/worker.pyz' --pack '/jobs/5' '/home/alice/5' 0 "$((0 + SLURM_ARRAY_TASK_ID))"
 *
 * A job has one worker, which runs `parallel` units at a time, and asks for all of their CPUs and memory on one node. With
 * `nodes` it is one worker and as much of both on each node.
 *
 * Nothing that people or packages chose can become a command or another option: values with control characters are
 * refused, `#SBATCH` lines and the shell each get them as one word. The exceptions are `extra_lines` and `worker_init`,
 * which are lines of the script, written by who configures the resource, the task or the job, and run as the user of the
 * job. Each of them is one line: it cannot bring a second one along.
 */
import type { SlurmOptions } from './options.ts';
import { controlProblem, directive, isDirective, plainPattern, sbatchWord, setsOption, shellWord } from './words.ts';

export interface PacksSubmission {
  options: SlurmOptions;
  /** The one process of a phase that has only one. */
  single: boolean;
  /** How many units run at a time in a job. */
  parallel: number;
  /** The first pack of this array, and how many it has. */
  base: number;
  count: number;
  /** In all packs of this array, where that is known: a single small pack asks for less. */
  units?: number;
  round: number;
  /** The file of the program that runs a pack. */
  worker: string;
  inputs: string;
  outputs: string;
  taskFolder: string;
  python: string;
  /** Where the folders of `user_local_exports` are. */
  cacheDir: string;
}

export function packsScript(submission: PacksSubmission): { text: string; warnings: string[] } | { problem: string } {
  const problem = scriptProblem(submission);
  if (problem !== undefined) return { problem };
  const { options } = submission;
  const lines = [...options.extra_lines, ...options.worker_init];
  const text = [
    options.shebang_line,
    ...request(submission),
    ...lines.filter(isDirective),
    ...ownLines(submission),
    ...lines.filter((line) => !isDirective(line)),
    ...exportLines(submission),
    ...workerLines(submission),
  ];
  return { text: `${text.join('\n')}\n`, warnings: warningsOf(submission) };
}

const TEXTS = [
  'partition',
  'job_name',
  'constraint',
  'gres',
  'gpus',
  'time',
  'account',
  'exclude',
  'nodelist',
] as const;
const PATHS = ['worker', 'inputs', 'outputs', 'taskFolder', 'python'] as const;
const VARIABLE = /^[A-Za-z_]\w*$/;

function scriptProblem(submission: PacksSubmission): string | undefined {
  const { options, cacheDir } = submission;
  const variables = Object.entries(options.user_local_exports);
  const texts = [
    ...TEXTS.map((key) => [key, options[key]] as const),
    ['shebang_line', options.shebang_line] as const,
    ...variables.map(([name, value]) => [`user_local_exports.${name}`, value] as const),
  ];
  for (const [key, value] of texts) {
    const control = controlProblem(value ?? '');
    if (control) return `${key} ${control}. Remove it, and submit the job again.`;
  }
  const folders =
    variables.length > 0 ? [...PATHS.map((key) => submission[key]), cacheDir] : PATHS.map((key) => submission[key]);
  return (
    folders.map(pathProblem).find(Boolean) ??
    [...options.extra_lines, ...options.worker_init].map(lineProblem).find(Boolean) ??
    variables.map(([name]) => variableProblem(name)).find(Boolean) ??
    shebangProblem(options.shebang_line) ??
    patternProblem(submission.taskFolder)
  );
}

function pathProblem(path: string): string | undefined {
  const control = controlProblem(path);
  if (control) return `The path ${JSON.stringify(path)} ${control}. Choose another folder.`;
  return path.startsWith('/') ? undefined : `The path ${path} does not begin with "/". Choose another folder.`;
}

/** A tab is nothing to be afraid of. */
function lineProblem(line: string): string | undefined {
  return controlProblem(line.replaceAll('\t', ' ')) === undefined
    ? undefined
    : `The line ${JSON.stringify(line)} of extra_lines or worker_init has a line break or another control character inside. Make each line an element of its own.`;
}

const variableProblem = (name: string) =>
  VARIABLE.test(name)
    ? undefined
    : `user_local_exports has the name ${JSON.stringify(name)}, which a shell cannot export. Ask an administrator to use letters, digits and "_".`;

const shebangProblem = (line: string) =>
  line.startsWith('#!')
    ? undefined
    : `shebang_line of the resource is "${line}". Ask an administrator to let it begin with "#!", as in #!/bin/sh.`;

/** In the pattern of a file name, a backslash tells Slurm to replace nothing. */
const patternProblem = (folder: string) =>
  folder.includes('\\') ? `Slurm cannot write to the folder ${folder}: its name has a backslash.` : undefined;

/** Nothing for what nobody asks for. */
const asked = (option: string, value: string | number | null): string[] =>
  value === null ? [] : [directive(option, value)];

/** Of one node. */
function unitsAtATime({ options, parallel, units }: PacksSubmission): number {
  return Math.max(1, Math.min(parallel, Math.ceil((units ?? Infinity) / (options.nodes ?? 1))));
}

const isSeveral = (nodes: number | null): nodes is number => nodes !== null && nodes > 1;

function request(submission: PacksSubmission): string[] {
  const { options } = submission;
  const { cpus_per_task: cpus, mem, nodes } = options;
  const running = unitsAtATime(submission);
  // Slurm reads 0 as "all memory of the node"
  const memory = options.use_mem_per_cpu
    ? asked('mem-per-cpu', `${Math.max(1, Math.floor(mem / cpus))}M`)
    : asked('mem', `${running * mem}M`);
  return [
    ...asked('partition', options.partition),
    ...(isSeveral(nodes) ? [...asked('ntasks', nodes), ...asked('ntasks-per-node', 1)] : asked('ntasks', 1)),
    ...asked('cpus-per-task', running * cpus),
    ...memory,
    ...asked('job-name', options.job_name),
    ...asked('constraint', options.constraint),
    ...asked('gres', options.gres),
    ...asked('gpus', options.gpus),
    ...asked('time', options.time),
    ...asked('account', options.account),
    ...asked('exclude', options.exclude),
    ...asked('nodelist', options.nodelist),
    ...asked('nodes', nodes),
  ];
}

const REQUEUE = { long: 'requeue', least: 'requ' };

/** After the lines of others, so that these count: where the job writes is where it is looked for. */
function ownLines(submission: PacksSubmission): string[] {
  const { options, count, taskFolder } = submission;
  const requeues = [...options.extra_lines, ...options.worker_init].some((line) => setsOption(line, REQUEUE));
  const pattern = `${plainPattern(taskFolder)}/${streamPrefix(submission)}-slurm-%j`;
  return [
    ...(requeues ? [] : ['#SBATCH --no-requeue']),
    ...(count > 1 ? asked('array', `0-${count - 1}`) : []),
    ...asked('error', `${pattern}.err`),
    ...asked('output', `${pattern}.out`),
    `#SBATCH -D ${sbatchWord(taskFolder)}`,
  ];
}

const THOUSAND = 1000;
const padded = (value: number, length: number) => String(value).padStart(length, '0');

/** `par-000017` for pack 17. Slurm only knows the index in the array; a thousand packs of an array share the first digits. */
function streamPrefix({ single, base, count }: PacksSubmission): string {
  if (single) return 'non_par';
  if (count === 1) return `par-${padded(base, 6)}`;
  const isThousand = base > 0 && base % THOUSAND === 0 && count <= THOUSAND;
  return isThousand ? `par-${padded(base / THOUSAND, 3)}%3a` : 'par-%6a';
}

const exportLines = ({ options, cacheDir }: PacksSubmission): string[] =>
  Object.entries(options.user_local_exports).map(
    ([name, value]) => `export ${name}=${shellWord(`${cacheDir}/${value}`)}`,
  );

function workerLines(submission: PacksSubmission): string[] {
  const { options, base, count, round, worker, inputs, outputs, python } = submission;
  const several = isSeveral(options.nodes);
  const cpus = unitsAtATime(submission) * options.cpus_per_task;
  const steps = several
    ? `srun --ntasks=${options.nodes} --ntasks-per-node=1 --cpus-per-task=${cpus} --export=ALL --kill-on-bad-exit=0 `
    : '';
  const words = [
    shellWord(python),
    '-I -S',
    shellWord(worker),
    '--pack',
    shellWord(inputs),
    shellWord(outputs),
    String(round),
    count > 1 ? `"$((${base} + SLURM_ARRAY_TASK_ID))"` : String(base),
    ...(several ? ['--nodes'] : []),
  ];
  return [
    `printf 'Host: %s\\nFolder: %s\\n' "$(uname -n)" "$(pwd)"`,
    `date +'Start: ${TIME}'`,
    ...(several ? underSrun(steps + words.join(' ')) : alone(words.join(' '))),
    `date +'End: ${TIME}'`,
    'exit "$code"',
  ];
}

/** Slurm tells the tasks of `srun` itself that the job ends; this shell only has to stay until they have tidied up. */
const underSrun = (command: string) => ['trap : TERM', command, 'code=$?'];

/**
 * Slurm tells nobody but this shell that the job ends, which therefore passes it on, and waits for the worker all the same:
 * also when it hears so before it knows the worker. Its variables have names that no task uses, since the worker comes after.
 */
const alone = (command: string) => [
  'service_worker=',
  'service_ended=',
  `trap 'service_ended=yes; [ -z "$service_worker" ] || kill -TERM "$service_worker" 2>/dev/null' TERM`,
  `${command} &`,
  'service_worker=$!',
  // a moment after its start the worker is still a copy of this shell, and would not heed the signal
  'if [ -n "$service_ended" ]; then sleep 1; kill -TERM "$service_worker" 2>/dev/null; fi',
  'wait "$service_worker"',
  'code=$?',
  'while kill -0 "$service_worker" 2>/dev/null; do',
  '  wait "$service_worker"',
  '  code=$?',
  'done',
];

const TIME = '%Y-%m-%dT%H:%M:%S%z';

/** Units that share a job also share its time. */
const warningsOf = ({ options, parallel }: PacksSubmission): string[] =>
  options.time !== null && parallel > 1
    ? [`The time limit ${options.time} is for a job as a whole, and ${parallel} processes run in it at a time.`]
    : [];
