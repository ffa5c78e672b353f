import { describe, expect, it } from 'vitest';

import {
  findLines,
  FOLD,
  isWarning,
  logLines,
  piecesOf,
  rowsOf,
  schedulerError,
  shortError,
  structureOf,
} from '../../src/lib/logs/log.ts';

const TRACEBACK = 'Traceback (most recent call last):';
const FAILED = [
  'TASK ERROR: task 4 (Segment)',
  TRACEBACK,
  '  File "a.py", line 1, in run',
  'KeyError: 1',
  '',
  'During handling of the above exception, another exception occurred:',
  '',
  TRACEBACK,
  '  File "b.py", line 2, in run',
  '    return 1 / 0',
  '',
  'ZeroDivisionError: division by zero',
  'Exit code 1',
];

describe('the structure of a log', () => {
  it.each<[string, string[], boolean, object]>([
    ['of a failure is its first line and the error of the last traceback', FAILED, true, { from: 1, to: 11 }],
    ['keeps any first line', ['Well A02', ...FAILED.slice(1)], true, { from: 1, to: 11 }],
    [
      'finds a header that a logger wrote',
      ['x', `ERROR ${TRACEBACK}`, '  File', 'OSError: 5'],
      true,
      { from: 1, to: 3 },
    ],
  ])('%s', (_, lines, failed, fold) => expect(structureOf(lines, failed)).toMatchObject({ fold }));

  it('marks an error that stands right below', () => {
    expect(structureOf([TRACEBACK, '  File', 'OSError: 5'], true)).toEqual({ error: 2 });
  });

  it.each<[string, string[], boolean]>([
    ['of what went well is plain, whatever it prints', FAILED, false],
    ['without a traceback is plain', ['TASK ERROR', 'TRACEBACK:', 'no such file'], true],
    ['whose traceback was cut off is plain', ['a', 'b', TRACEBACK, '  File "a.py"', '    x = 1'], true],
    ['of nothing is plain', [], true],
  ])('%s', (_, lines, failed) => expect(structureOf(lines, failed)).toEqual({}));
});

describe('the short error', () => {
  it.each<[string, string, string]>([
    ['is the end of the last traceback', FAILED.join('\n'), 'ZeroDivisionError: division by zero\nExit code 1'],
    ['without one is what follows the marker', 'JOB ERROR\nTRACEBACK:\nno such file', 'no such file'],
    ['may stand beside the marker', 'JOB ERROR\nTRACEBACK: no such file', 'no such file'],
    ['prefers a traceback after the marker', `JOB\nTRACEBACK:\na\n${TRACEBACK}\n  File\nOSError: 5\n`, 'OSError: 5'],
    ['is everything where nothing is known', 'no image matched\n', 'no image matched'],
    ['of nothing is nothing', '', ''],
    ['has five lines at most', '1\n2\n3\n4\n5\n6\n7', '1\n2\n3\n4\n5\n…'],
    ['of five lines is whole', '1\n2\n3\n4\n5', '1\n2\n3\n4\n5'],
  ])('%s', (_, text, short) => expect(shortError(text)).toBe(short));
});

describe('the scheduler', () => {
  it.each([
    ['slurmstepd: error: Detected 1 OOM kill event', 'failed', true],
    ['JOB 12 CANCELLED DUE TO TIME LIMIT', 'failed', true],
    ['srun: error: node7: task 0', 'failed', true],
    ['Permission denied', 'failed', true],
    ['module loaded', 'failed', false],
    ['Out of memory', 'done', false],
    [null, 'failed', false],
  ] as const)('%s of a %s job is an error: %s', (executor_error_log, status, is) =>
    expect(schedulerError({ status, executor_error_log })).toBe(is ? executor_error_log : undefined),
  );
});

describe('lines', () => {
  it.each([
    ['a\nb\n', ['a', 'b']],
    ['a\r\nb', ['a', 'b']],
    ['a\n\n\n', ['a']],
    ['', []],
    ['10 %\r50 %\r100 %\ndone', ['100 %', 'done']],
    ['\u001b[31mred\u001b[0m', ['red']],
  ])('of %j are %j', (text, lines) => expect(logLines(text)).toEqual(lines));

  it('with warnings are known in any case', () => {
    expect(['UserWarning: x', 'WARNING', 'warn'].map(isWarning)).toEqual([true, true, false]);
  });

  it('are found by what is in them', () => {
    expect(findLines(['Abc', 'x', 'aBC abc'], 'abc')).toEqual([0, 2]);
    expect(findLines(['a'], '')).toEqual([]);
  });

  it('are taken apart where something is found', () => {
    expect(piecesOf('Abc x abc', 'abc')).toEqual([
      { text: 'Abc', found: true },
      { text: ' x ', found: false },
      { text: 'abc', found: true },
    ]);
    expect(piecesOf('abc', '')).toEqual([{ text: 'abc', found: false }]);
    expect(piecesOf('İstanbul', 'i')).toEqual([{ text: 'İstanbul', found: false }]);
  });

  it('become rows, with the folded ones behind one', () => {
    const structure = { fold: { from: 1, to: 3 }, error: 3 };
    expect(rowsOf(5, structure, false)).toEqual([0, FOLD, 3, 4]);
    expect(rowsOf(5, structure, true)).toEqual([0, FOLD, 1, 2, 3, 4]);
    expect(rowsOf(2, {}, false)).toEqual([0, 1]);
  });
});
