import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  cleanText,
  endOfLog,
  jobErrorLog,
  unitErrorText,
  unitFailure,
  type UnitOutcome,
  unknownErrorLog,
  workflowLogLine,
} from '../../src/engine/failures.ts';

const outcome = (members: Partial<UnitOutcome>): UnitOutcome => ({
  exit_code: null,
  signal: null,
  out_of_memory: false,
  problem: null,
  stopped: false,
  lost: false,
  output_problem: null,
  tail: '',
  ...members,
});

const TRACEBACK = `reading image
Traceback (most recent call last):
  File "task.py", line 3, in <module>
    raise KeyError('a')
KeyError: 'a'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "task.py", line 5, in <module>
    raise ValueError("no channel\\nat all")
ValueError: no channel
at all
`;

describe('why a process failed', () => {
  it.each<[Partial<UnitOutcome>, string, string]>([
    [{ exit_code: 1, tail: TRACEBACK }, 'error', 'ValueError: no channel\nat all\nExit code 1'],
    [{ exit_code: 3, tail: '' }, 'error', 'Exit code 3'],
    [
      { exit_code: 2, tail: 'start\n\nusage: x\nx: error: no -a\n\n' },
      'error',
      'start\nusage: x\nx: error: no -a\nExit code 2',
    ],
    [{ exit_code: 2, tail: '1\n2\n3\n4\n5\n6\n7' }, 'error', '3\n4\n5\n6\n7\nExit code 2'],
    [{ exit_code: 1, tail: ' 10%\r 99%\r\u001b[31mfailed\u001b[0m\r\n' }, 'error', 'failed\nExit code 1'],
    [
      { exit_code: 1, tail: 'Traceback (most recent call last):\n  File "cut off' },
      'error',
      'Traceback (most recent call last):\n  File "cut off\nExit code 1',
    ],
    [
      { signal: 9, tail: 'working' },
      'signal',
      'Killed by signal 9 (SIGKILL); the machine may have run out of memory\nworking',
    ],
    [{ signal: 15 }, 'signal', 'Killed by signal 15 (SIGTERM)'],
    [{ signal: 40 }, 'signal', 'Killed by signal 40'],
    [{ exit_code: 0, output_problem: 'filters: no' }, 'output', 'The output is not valid. filters: no'],
    [{ problem: 'no such program: x' }, 'start', 'Could not start: no such program: x'],
    [{ stopped: true, signal: 15, tail: 'working' }, 'stopped', 'The job was stopped before this was done.'],
  ])('%j: %s', (members, cause, message) => {
    expect(unitFailure(outcome(members))).toEqual({ cause, message });
  });

  it.each<[Partial<UnitOutcome>, string, RegExp]>([
    [{ signal: 9, out_of_memory: true }, 'memory', /^Out of memory/],
    [{ exit_code: 1, out_of_memory: true, tail: 'MemoryError' }, 'memory', /^Out of memory.*\nMemoryError$/],
    [{ lost: true }, 'lost', /Run the task again/],
    [{}, 'lost', /Run the task again/],
  ])('%j: %s', (members, cause, message) => {
    expect(unitFailure(outcome(members))).toEqual({ cause, message: expect.stringMatching(message) });
  });

  const ended = (kind: NonNullable<UnitOutcome['scheduler']>['kind']) => ({
    scheduler: { kind, words: 'So Slurm says.' },
  });

  it.each<[string, Partial<UnitOutcome>, string, string]>([
    ['without an outcome, at the time limit', { lost: true, ...ended('time_limit') }, 'time_limit', 'So Slurm says.'],
    [
      'killed at the time limit',
      { signal: 15, ...ended('time_limit'), tail: 'working' },
      'time_limit',
      'So Slurm says.\nworking',
    ],
    ['killed with its job for memory', { signal: 9, ...ended('memory') }, 'memory', 'So Slurm says.'],
    ['lost with its node', { lost: true, ...ended('node') }, 'lost', 'So Slurm says.'],
    ['for a more important job', { lost: true, ...ended('preempted') }, 'lost', 'So Slurm says.'],
    ['cancelled by somebody else', { signal: 15, ...ended('cancelled') }, 'stopped', 'So Slurm says.'],
    ['forgotten', { lost: true, ...ended('gone') }, 'lost', 'So Slurm says.'],
    [
      'stopped by its user',
      { stopped: true, ...ended('cancelled') },
      'stopped',
      'The job was stopped before this was done.',
    ],
    ['failed by itself before that', { exit_code: 2, ...ended('time_limit') }, 'error', 'Exit code 2'],
    [
      'crashed by itself before that',
      { signal: 11, ...ended('node') },
      'signal',
      'Killed by signal 11 (SIGSEGV); the program, or a library it uses, has a defect',
    ],
    ['killed in a job that failed', { signal: 15, ...ended('failed') }, 'signal', 'Killed by signal 15 (SIGTERM)'],
  ])('on a cluster, %s', (_, members, cause, message) => {
    expect(unitFailure(outcome(members))).toEqual({ cause, message });
  });

  it('shows the end of a long line, and the beginning of a long exception', () => {
    const line = unitFailure(outcome({ exit_code: 1, tail: `${'x'.repeat(5000)}end` })).message;
    expect(line).toMatch(/^…x+end\nExit code 1$/);
    const exception = unitFailure(outcome({ exit_code: 1, tail: `${TRACEBACK}${'y\n'.repeat(5000)}` })).message;
    expect(exception).toMatch(/^ValueError: no channel\nat all\ny\n/);
    expect(Math.max(line.length, exception.length)).toBeLessThanOrEqual(500 + '\nExit code 1'.length);
  });

  it('can be stored, wherever the text was cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string(),
        fc.integer({ min: 0, max: 600 }),
        (one, other, length) => {
          const tail = `${one}\ud83d${other}${'🔬'.repeat(length)}\0`;
          const { message } = unitFailure(outcome({ exit_code: 1, tail }));
          expect(message.isWellFormed() && !message.includes('\0')).toBe(true);
        },
      ),
    );
  });
});

describe('the text of a failed process', () => {
  const unit = {
    exit_code: 3,
    signal: null,
    log: { text: 'one\ntwo' },
    command: 'python x.py',
    logfile: '/j/0_x/l.txt',
  };

  it.each([
    [{}, 'Task failed with returncode=3.', 'one\ntwo'],
    [{ exit_code: null, signal: 9 }, 'Task failed with returncode=-9.', 'one\ntwo'],
    [
      { exit_code: null, signal: 9, reason: 'Killed by signal 9' },
      'Task failed with returncode=-9.\nKilled by signal 9',
      'one\ntwo',
    ],
    [{ log: { text: '' } }, 'Task failed with returncode=3.', 'The log is empty.'],
    [{ log: { text: 'a\0b\ud800c' } }, 'Task failed with returncode=3.', 'abc'],
    [{ exit_code: 0, problem: 'filters: not known' }, 'filters: not known', 'one\ntwo'],
    [{ exit_code: null, problem: 'Could not start.', log: { text: '' } }, 'Could not start.', 'The log is empty.'],
  ])('%j', (members, ending, log) => {
    expect(unitErrorText({ ...unit, ...members })).toBe(
      `\nCommand: python x.py\nLog file: /j/0_x/l.txt\n${ending}\nLog:\n${log}`,
    );
  });

  it('names the size of a log of which it quotes the end', () => {
    const text = unitErrorText({ ...unit, log: { text: 'the end', bytes: 100_001 } });
    expect(text).toMatch(/returncode=3\.\nLog:\nThe log has 100001 bytes.*\nthe end$/);
  });

  it.each([
    ['whole lines', `${'x'.repeat(9)}\n`.repeat(9000), `${'x'.repeat(9)}\n`.repeat(1999)],
    ['the end of a line that is too long', 'x'.repeat(50_000), `…${'x'.repeat(20_000)}`],
    ['no half characters', `a${'🔬'.repeat(10_000)}b`, `…${'🔬'.repeat(9999)}b`],
    ['no torn bytes', '\uFFFD\uFFFDabc', '…abc'],
  ])('the end of a log has %s', (_, log, end) => {
    expect(endOfLog(log)).toBe(end);
  });
});

describe('the log of a job', () => {
  it('has the markers that clients look for', () => {
    expect(jobErrorLog(7, 'TaskError', '\nA\nB\0').split('\n')).toEqual([
      'JOB ERROR in job 7:',
      'TRACEBACK:',
      'TaskError',
      '',
      'A',
      'B',
    ]);
    expect(unknownErrorLog(7, 'Error: x\n    at y').split('\n')).toEqual([
      'UNKNOWN ERROR in job 7:',
      'TRACEBACK:',
      'Error: x',
      '    at y',
    ]);
  });

  it('has lines with time, workflow, job and level', () => {
    const time = new Date(2026, 0, 31, 4, 5, 6, 7);
    expect(workflowLogLine(time, 3, 12, 'INFO', 'Start')).toBe('2026-01-31 04:05:06,007 - WF3_job12 - INFO - Start');
  });

  it('loses NULs and halves of surrogate pairs, and nothing else', () => {
    const unit = fc.constantFrom('\0', '\ud83d', '\udd2c', '🔬', 'a', '\n', '\u2028');
    fc.assert(
      fc.property(
        fc.array(unit).map((units) => units.join('')),
        (text) => {
          const naive = [...text].filter((one) => one !== '\0' && (one.length === 2 || !/[\ud800-\udfff]/.test(one)));
          expect(cleanText(text)).toBe(naive.join(''));
          expect(cleanText(text).isWellFormed()).toBe(true);
        },
      ),
    );
  });
});
