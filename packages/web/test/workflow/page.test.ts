import type { HistoryRun, WorkflowTask } from '@service/contract';
import { describe, expect, test } from 'vitest';

import { importable } from '../../src/lib/form/exchange.ts';
import { rightsOf } from '../../src/lib/rights.ts';
import { readShown, withoutLists } from '../../src/lib/workflow/address.ts';
import { chooseDataset, rememberDataset, rememberedDataset } from '../../src/lib/workflow/dataset.ts';
import { imageName, lockedTypes, nextImage } from '../../src/lib/workflow/images.ts';
import { metaBlocks } from '../../src/lib/workflow/memory.ts';
import { runFigures, runState, taskThen } from '../../src/lib/workflow/runs.ts';
import { filtersOf, rowProblems, rowsOf, sameFilters, typeRow, withFilter } from '../../src/lib/workflow/types.ts';

describe('the dataset of the page', () => {
  const datasets = [
    { id: 1, timestamp_created: '2026-01-03T00:00:00Z' },
    { id: 2, timestamp_created: '2026-01-05T00:00:00Z' },
    { id: 3, timestamp_created: '2026-01-04T00:00:00Z' },
  ];
  const chosen = (wishes: Partial<Parameters<typeof chooseDataset>[1]>) =>
    chooseDataset(datasets, { last: null, ...wishes })?.id;

  test('address, then choice of before, then newest job, then newest', () => {
    expect(chosen({ wanted: '1', remembered: 2, last: 3 })).toBe(1);
    expect(chosen({ remembered: 1, last: 3 })).toBe(1);
    expect(chosen({ last: 3 })).toBe(3);
    expect(chosen({})).toBe(2);
    expect(chooseDataset([], { last: null })).toBeUndefined();
  });

  test('what is gone does not count, and what the address asks for is replaced by nothing else', () => {
    expect(chosen({ remembered: 8, last: 3 })).toBe(3);
    expect(chosen({ last: 7 })).toBe(2);
    expect(chosen({ wanted: '9', remembered: 1, last: 3 })).toBeUndefined();
    expect(chosen({ wanted: 'x', last: 3 })).toBeUndefined();
  });

  test('a choice is remembered for one workflow of one project', () => {
    const kept = new Map<string, string>();
    const storage = {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => void kept.set(key, value),
      removeItem: (key: string) => void kept.delete(key),
    };
    rememberDataset(storage, 1, 2, 30);
    expect(rememberedDataset(storage, 1, 2)).toBe(30);
    expect(rememberedDataset(storage, 1, 3)).toBeUndefined();
    rememberDataset(storage, 1, 2, undefined);
    expect(rememberedDataset(storage, 1, 2)).toBeUndefined();
  });
});

describe('the address', () => {
  const usual = { task: 5, tab: 'arguments' as const };
  test('what it names', () => {
    expect(readShown('?task=8&tab=runs&run=3&unit=4', usual)).toEqual({
      task: 8,
      tab: 'runs',
      run: 3,
      image: undefined,
      unit: 4,
    });
  });
  test('what is usual stands in; nonsense is nothing', () => {
    expect(readShown('', usual)).toMatchObject({ task: 5, tab: 'arguments' });
    expect(readShown('?task=x&tab=y', usual)).toMatchObject({ task: 5, tab: 'arguments' });
  });
  test('filters of a list go, the rest stays', () => {
    expect(withoutLists('?dataset=1&task=2&status=failed&a.well=A01&t.is_3D=true&page=2&image=x')).toBe(
      '?dataset=1&task=2',
    );
  });
});

describe('rights', () => {
  const owner_email = 'anna@example.org';
  test('what is allowed has no reason', () => {
    expect(rightsOf({ permissions: 'rwx', owner_email }, false)).toEqual({ edit: undefined, run: undefined });
  });
  test('what is not says whom to ask', () => {
    expect(rightsOf({ permissions: 'rw', owner_email }, false)).toEqual({
      edit: undefined,
      run: 'You can read and edit this project. Ask anna@example.org for permission to run.',
    });
    expect(rightsOf({ permissions: 'r', owner_email }, false).edit).toBe(
      'You can read this project. Ask anna@example.org for permission to edit.',
    );
  });
  test('guest accounts only read', () => {
    expect(rightsOf({ permissions: 'rwx', owner_email }, true).run).toContain('Guest');
  });
});

describe('type filters', () => {
  test('a name is needed, once, and not one the task decides about', () => {
    const rows = [typeRow(''), typeRow('is_3D'), typeRow('is_3D '), typeRow('corrected')];
    const problems = rowProblems(rows, { corrected: true });
    expect(rows.map(({ id }) => problems.get(id))).toEqual([
      'Enter a name.',
      undefined,
      '“is_3D” exists already.',
      'The task decides about “corrected” itself.',
    ]);
  });
  test('one of the same name is replaced', () => {
    const rows = rowsOf({ is_3D: true, corrected: false });
    expect(filtersOf(withFilter(rows, 'is_3D', false))).toEqual({ is_3D: false, corrected: false });
    expect(filtersOf(withFilter(rows, 'new', true))).toEqual({ is_3D: true, corrected: false, new: true });
  });
  test('order does not count', () => {
    expect(sameFilters({ a: true, b: false }, { b: false, a: true })).toBe(true);
    expect(sameFilters({ a: true }, { a: false })).toBe(false);
    expect(sameFilters({ a: true }, { b: true })).toBe(false);
  });
});

describe('images', () => {
  const image = (zarr_url: string, status: string, attributes = {}) => ({
    zarr_url,
    origin: null,
    attributes: { __wftask_dataset_image_status__: status, ...attributes },
    types: {},
  });

  test('a count leads to as many images, whatever their types', () => {
    expect(lockedTypes({ is_3D: true }, ['failed'])).toEqual({});
    expect(lockedTypes({ is_3D: true }, [])).toEqual({ is_3D: true });
    expect(lockedTypes({ is_3D: true }, ['failed', 'unset'])).toEqual({ is_3D: true });
  });
  test('called by the well, else by the path', () => {
    expect(imageName(image('/data/p.zarr/K/17/0', 'done', { well: 'K17', plate: 'p.zarr' }), '/data')).toEqual({
      name: 'K17',
      place: 'p.zarr',
    });
    expect(imageName(image('/data/a/0', 'done'), '/data')).toEqual({ name: 'a/0', place: undefined });
  });
  test('the next failed one, else the next', () => {
    const items = [image('a', 'failed'), image('b', 'done'), image('c', 'failed')];
    expect(nextImage(items, 'a', 1)?.zarr_url).toBe('c');
    expect(nextImage(items, 'c', -1)?.zarr_url).toBe('a');
    expect(nextImage(items, 'c', 1)).toBeUndefined();
    expect(nextImage([image('a', 'done'), image('b', 'done')], 'a', 1)?.zarr_url).toBe('b');
  });
});

describe('runs', () => {
  const counts = (given: object) =>
    ({
      status: 'done',
      num_submitted_units: 0,
      num_done_units: 0,
      num_failed_units: 0,
      num_units_with_warnings: 0,
      ...given,
    }) as HistoryRun;

  test('numbers for tasks with many units, a word for one', () => {
    const failed = counts({ status: 'failed', num_failed_units: 6, num_done_units: 1530 });
    expect(runFigures(failed, 'parallel')).toBe('6 failed, 1\u202f530 done');
    expect(runFigures(counts({ num_done_units: 1 }), 'non_parallel')).toBe('done');
    expect(runFigures(counts({}), 'parallel')).toBe('no images');
    expect(runState(counts({ num_units_with_warnings: 2 }))).toEqual({
      look: 'warning',
      word: 'Done, 2 with warnings',
    });
  });

  test('the task as it was', () => {
    const run = counts({
      version: '2.0.0',
      args_schema_parallel: { properties: {} },
      workflowtask_dump: {
        alias: 'Old name',
        task_type: 'parallel',
        args_parallel: { size: 1 },
        meta_parallel: { mem: 1 },
        type_filters: { is_3D: true },
        task: { name: 'Segment', version: '1.0.0', type: 'parallel' },
      },
    });
    const now = { task_type: 'compound', task: { name: 'Now', args_schema_version: 'pydantic_v2' } } as WorkflowTask;
    expect(taskThen(run, now)).toMatchObject({
      alias: 'Old name',
      version: '1.0.0',
      name: 'Segment',
      task_type: 'parallel',
      args_parallel: { size: 1 },
      type_filters: { is_3D: true },
      schemas: { type: 'parallel', args_schema_parallel: { properties: {} } },
    });
  });
});

test('resources: the blocks a task has', () => {
  expect(metaBlocks('parallel')).toEqual(['meta_parallel']);
  expect(metaBlocks('converter_non_parallel')).toEqual(['meta_non_parallel']);
  expect(metaBlocks('compound')).toEqual(['meta_non_parallel', 'meta_parallel']);
});

test('import takes the blocks that the task has', () => {
  const values = { args_parallel: { a: 1 }, args_non_parallel: null };
  expect(importable(values, 'parallel')).toEqual({ args_parallel: { a: 1 } });
  expect(importable(values, 'compound')).toEqual(values);
  expect(importable({ args_parallel: {} }, 'non_parallel')).toBeUndefined();
});
