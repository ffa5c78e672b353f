/** What is offered for an empty workflow. */
import { expect, test } from 'vitest';

import type { TaskGroupSlim, TaskSlim } from '@service/contract';

import { commonChains } from '../../src/lib/tasks/chains.ts';

const task = (name: string, category: string | null, type = 'parallel') => ({ name, category, type }) as TaskSlim;
const group = (...task_list: TaskSlim[]) => ({ task_list }) as TaskGroupSlim;
const chainsOf = (...packages: [string, TaskGroupSlim[]][]) =>
  commonChains(packages).map(({ pkg, tasks }) => [pkg, tasks.map(({ name }) => name)]);

const CONVERT = task('Convert', 'Conversion', 'converter_compound');

test('a chain has the first task of each step, in the order that images go through', () => {
  const newest = group(
    task('Measure', 'Measurement'),
    CONVERT,
    task('Correct', 'Image Processing'),
    task('Project', 'Image Processing'),
    task('Segment', 'segmentation'),
    task('Other', null),
  );
  expect(chainsOf(['core', [newest, group(CONVERT)]])).toEqual([
    ['core', ['Convert', 'Correct', 'Segment', 'Measure']],
  ]);
});

test('a package without a converter, or with nothing after it, offers none', () => {
  expect(
    chainsOf(
      ['only converts', [group(CONVERT)]],
      ['no converter', [group(task('Segment', 'Segmentation'), task('Measure', 'Measurement'))]],
      ['not a converter', [group(task('Rename', 'Conversion'), task('Measure', 'Measurement'))]],
      ['empty', []],
    ),
  ).toEqual([]);
});

test('few are offered, however many packages there are', () => {
  const one = [group(CONVERT, task('Measure', 'Measurement'))];
  const all = Array.from({ length: 10 }, (_, at): [string, TaskGroupSlim[]] => [`package ${at}`, one]);
  expect(chainsOf(...all)).toHaveLength(4);
});
