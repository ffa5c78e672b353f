import { describe, expect, it } from 'vitest';

import { readAccounts, readQueue } from '../../../src/engine/slurm/queue.ts';
import { isSlurmAway, refusalWords } from '../../../src/engine/slurm/refusals.ts';
import { type EndKind, endWords, stateKind } from '../../../src/engine/slurm/states.ts';

describe('a state of Slurm', () => {
  it.each<[string, EndKind]>([
    ['COMPLETED', 'completed'],
    ['FAILED', 'failed'],
    ['SPECIAL_EXIT', 'failed'],
    ['TIMEOUT', 'time_limit'],
    ['DEADLINE', 'time_limit'],
    ['OUT_OF_MEMORY', 'memory'],
    ['NODE_FAIL', 'node'],
    ['PREEMPTED', 'preempted'],
    ['CANCELLED', 'cancelled'],
    ['CANCELLED by 1002', 'cancelled'],
    ['CANCELLED+', 'cancelled'],
    ['BOOT_FAIL', 'boot'],
    [' completed ', 'completed'],
  ])('%s is an end: %s', (state, kind) => {
    expect(stateKind(state)).toEqual({ finished: true, kind });
  });

  it.each([
    'PENDING',
    'RUNNING',
    'COMPLETING',
    'CONFIGURING',
    'SUSPENDED',
    'REQUEUED',
    'REQUEUE_HOLD',
    'RESV_DEL_HOLD',
    'STAGE_OUT',
    'STOPPED',
    'COMPLET+',
    'constructor',
    'SOMETHING_NEW',
    '',
  ])('%j is none', (state) => {
    expect(stateKind(state)).toEqual({ finished: false, kind: 'unknown' });
  });

  it.each<[EndKind | 'gone', RegExp]>([
    ['completed', /outcome of this part did not arrive\. Run the task again/],
    ['failed', /failed before this was done\. Look at its error output/],
    ['time_limit', /time limit .* Give the task more time/],
    ['memory', /more memory than it had asked for\. Give the task more memory/],
    ['node', /node failed .* Run the task again/],
    ['preempted', /higher priority\. Run the task again/],
    ['cancelled', /cancelled in Slurm, not by this service\. Run the task again, or ask/],
    ['boot', /did not start\. Run the task again/],
    ['unknown', /does not say how .* Run the task again/],
    ['gone', /no longer knows the job.* Run the task again/],
  ])('people are told what %s means, and what to do', (kind, words) => {
    expect(endWords(kind)).toMatch(words);
  });
});

describe('the queue', () => {
  const element = (jobId: number | null, state: string, reason = '', node = '') => ({ jobId, state, reason, node });
  const only = (text: string) => {
    const jobs = readQueue(text);
    expect([...jobs.keys()]).toEqual([12]);
    return jobs.get(12)!;
  };

  it('has jobs that are no arrays', () => {
    expect(readQueue('7|N/A|7|RUNNING|None|n1\n8|N/A|8|PENDING|Resources|\n')).toEqual(
      new Map([
        [7, { elements: new Map([[0, element(7, 'RUNNING', '', 'n1')]]), rest: null, pendingRest: false, reason: '' }],
        [
          8,
          {
            elements: new Map([[0, element(8, 'PENDING', 'Resources')]]),
            rest: null,
            pendingRest: false,
            reason: 'Resources',
          },
        ],
      ]),
    );
  });

  it('has elements with a line of their own, and a line for all that wait', () => {
    const job = only('12|3-5%4|12|PENDING|JobArrayTaskLimit|\n12|0|13|COMPLETED|None|n1\n12|2|15|RUNNING|None|n[1-2]');
    expect(job.elements).toEqual(
      new Map([
        [0, element(13, 'COMPLETED', '', 'n1')],
        [2, element(15, 'RUNNING', '', 'n[1-2]')],
        ...[3, 4, 5].map((index) => [index, element(12, 'PENDING', 'JobArrayTaskLimit')] as const),
      ]),
    );
    expect(job).toMatchObject({ pendingRest: false, reason: 'JobArrayTaskLimit' });
  });

  it.each<[string, number[], boolean]>([
    ['5', [5], false],
    ['5,7-9', [5, 7, 8, 9], false],
    ['[5,7-9]', [5, 7, 8, 9], false],
    ['0-12:4', [0, 4, 8, 12], false],
    ['0-3%2', [0, 1, 2, 3], false],
    ['1,3,5,...', [1, 3, 5], true],
    ['1,3,5,...%4', [1, 3, 5], true],
    ['1,3,5-1...', [1, 3], true],
    ['...', [], true],
    ['what', [], true],
    ['0-4294967295', [], true],
  ])('reads the list %s of waiting elements', (list, indexes, pendingRest) => {
    const job = only(`12|${list}|12|PENDING|Priority|`);
    expect([...job.elements.keys()]).toEqual(indexes);
    expect(job.pendingRest).toBe(pendingRest);
    expect(job.rest).toEqual(pendingRest ? element(12, 'PENDING', 'Priority') : null);
  });

  it('has elements that were cancelled while they waited', () => {
    expect(only('12|1-2|12|CANCELLED|None|\n12|0|13|RUNNING|None|n1').elements.get(2)?.state).toBe('CANCELLED');
    const cut = only('12|1,3,...|12|CANCELLED|None|');
    expect(cut).toMatchObject({ pendingRest: false, rest: { state: 'CANCELLED' } });
  });

  it.each([
    '12|1-9|12|PENDING|Priority|\n12|4|17|RUNNING|None|n1',
    '12|4|17|RUNNING|None|n1\n12|1-9|12|PENDING|Priority|',
  ])('believes the line of an element rather than a list', (text) => {
    expect(only(text).elements.get(4)).toEqual(element(17, 'RUNNING', '', 'n1'));
    expect(only(text).elements.get(5)?.state).toBe('PENDING');
  });

  it('may give reasons with the sign between two columns', () => {
    expect(only('12|0|13|PENDING|ReqNodeNotAvail|May be reserved|').elements.get(0)).toEqual(
      element(13, 'PENDING', 'ReqNodeNotAvail|May be reserved'),
    );
  });

  it.each(['', '\n\n', 'slurm_load_jobs error: x', '|||', 'x|0|1|RUNNING||', '12|0|13'])('%j has no jobs', (text) => {
    expect(readQueue(text).size).toBe(0);
  });
});

describe('accounting', () => {
  it('knows jobs that the queue has forgotten', () => {
    const jobs = readAccounts(
      [
        '7|COMPLETED|0:0|n1',
        '12_0|FAILED|3:0|n1',
        '12_4|CANCELLED by 1002|0:15|n2',
        '12_[5-6%2]|PENDING|0:0|None assigned',
        '13.batch|COMPLETED|0:0|n1',
        '',
      ].join('\n'),
    );
    const element = (state: string, exit: string, node: string, jobId: number | null = null) => ({
      jobId,
      state,
      reason: '',
      node,
      exit,
    });
    expect([...jobs.keys()]).toEqual([7, 12]);
    expect(jobs.get(7)!.elements).toEqual(new Map([[0, element('COMPLETED', '0:0', 'n1', 7)]]));
    expect(jobs.get(12)!.elements).toEqual(
      new Map([
        [0, element('FAILED', '3:0', 'n1')],
        [4, element('CANCELLED by 1002', '0:15', 'n2')],
        [5, element('PENDING', '0:0', '')],
        [6, element('PENDING', '0:0', '')],
      ]),
    );
  });
});

describe('an error of Slurm', () => {
  it.each([
    'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)',
    'slurm_load_jobs error: Unable to contact slurm controller (connect failure)',
    'slurm_load_jobs error: Socket timed out on send/recv operation',
    'slurm_load_jobs error: Unexpected message received',
    'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation',
    'sbatch: error: Batch job submission failed: Zero Bytes were transmitted or received',
    'sbatch: error: Batch job submission failed: Resource temporarily unavailable',
    'squeue: error: slurm_receive_msg: Transport endpoint is not connected',
    'squeue: error: get_addr_info: getaddrinfo() failed: Temporary failure in name resolution\nsqueue: error: Unable to establish control machine address',
    'scancel: error: Unable to contact slurm controller (connect failure)',
    'sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:localhost:6819: Connection refused',
    'sbatch: error: If munged is up, restart with --num-threads=10\nsbatch: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2"',
    'sbatch: error: Batch job submission failed: Slurm backup controller in standby mode',
  ])('that passes: %s', (stderr) => {
    expect(isSlurmAway(stderr)).toBe(true);
  });

  it.each<[string, RegExp]>([
    [
      'sbatch: error: invalid partition specified: x\nsbatch: error: Batch job submission failed: Invalid partition name specified',
      /does not accept jobs for this partition\. Ask an administrator .* It says: Invalid partition name specified$/,
    ],
    [
      'sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified',
      /does not let you use this account\. Choose another account.*It says: Invalid account or/,
    ],
    ['sbatch: error: Batch job submission failed: Invalid qos specification', /quality of service/],
    [
      'sbatch: error: Batch job submission failed: Requested node configuration is not available',
      /No node of the partition has what the task asks for/,
    ],
    [
      'sbatch: error: Memory specification can not be satisfied\nsbatch: error: Batch job submission failed: Requested node configuration is not available',
      /as much memory as the task asks for.*It says: Requested node configuration is not available$/,
    ],
    ['sbatch: error: CPU count per node can not be satisfied', /has as many CPUs.*It says: CPU count per node/],
    [
      'sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)',
      /does not allow as much time/,
    ],
    ['sbatch: error: Invalid generic resource (gres) specification', /does not have the GPUs/],
    ['sbatch: error: Batch job submission failed: Invalid feature specification', /features/],
    ['sbatch: error: Batch job submission failed: Invalid node name specified', /does not know one of the nodes/],
    ['sbatch: error: Batch job submission failed: Invalid job array specification', /arrays of this size/],
    [
      "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
      /exceeds a limit of the cluster/,
    ],
    [
      "sbatch: error: Batch job submission failed: User's group not permitted to use this partition",
      /does not let this user/,
    ],
    [
      'sbatch: unrecognized option \'--x\'\nTry "sbatch --help" for more information',
      /does not understand a line of the script/,
    ],
    [
      'sbatch: error: Batch job submission failed: Something else',
      /^Slurm did not accept the job\. It says: Something else$/,
    ],
    ['sudo: a password is required', /rules of sudo\. It says: sudo: a password is required$/],
    ['bash: line 1: sbatch: command not found', /^Slurm is not installed where jobs are submitted/],
    ['', /^Slurm did not accept the job\. There was no reason given\.$/],
    [
      'sbatch: error: slurm_receive_msg: Connection refused\nsbatch: error: Batch job submission failed: Invalid partition name specified',
      /partition/,
    ],
    ['slurm_load_jobs error: Invalid job id specified', /It says: slurm_load_jobs error: Invalid job id specified/],
  ])('that does not pass: %s', (stderr, words) => {
    expect(isSlurmAway(stderr)).toBe(false);
    expect(refusalWords(stderr)).toMatch(words);
  });

  it('can be shown and stored, however long it is', () => {
    expect(refusalWords(`sbatch: error: \0${'x'.repeat(9000)}`)).toMatch(
      /^Slurm did not accept the job\. It says: x{499}…$/,
    );
  });
});
