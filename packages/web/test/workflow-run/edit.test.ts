/** What is sent for added, copied and updated tasks, and how a workflow differs from its template. */
import type { WorkflowExport } from '@service/contract';
import { describe, expect, test } from 'vitest';

import { parseJson, writeJson } from '#lib/json.ts';
import { copyOf, defaultArguments, newTask, versionChange } from '#lib/workflow/edit/arguments.ts';
import { compareTasks, comparisonWords } from '#lib/workflow/edit/compare.ts';
import { differences, valueText } from '#lib/workflow/edit/differences.ts';
import { lockedBy, moved, sameOrder, templateDefaults } from '../../src/lib/workflow/edit/dialogs.ts';
import { isPreRelease, proposed, updatable, versionOptions } from '#lib/workflow/edit/versions.ts';

import { step, task } from './things.ts';

const schema = (properties: object, required: string[] = []) => ({ type: 'object', properties, required });

describe('arguments of a new task', () => {
  const properties = {
    diameter: { type: 'integer', default: 30 },
    label: { type: 'string' },
    zarr_url: { type: 'string' },
  };

  test('legacy dialects leave out what is not set', () => {
    const legacy = task({ args_schema_parallel: schema(properties), args_schema_version: 'pydantic_v2' });
    expect(defaultArguments(legacy)).toEqual({ args_parallel: { diameter: 30 } });
  });

  test('the newest dialect keeps null', () => {
    const strict = task({ args_schema_parallel: schema(properties), args_schema_version: 'fractal_schema_v1' });
    expect(defaultArguments(strict)).toEqual({ args_parallel: { diameter: 30, label: null } });
  });

  test('both blocks of a compound task; nothing without a schema', () => {
    const compound = task({
      type: 'compound',
      args_schema_version: 'pydantic_v2',
      args_schema_non_parallel: schema({ size: { type: 'number', default: 1 } }),
    });
    expect(newTask(compound)).toMatchObject({ args_non_parallel: { size: 1 }, args_parallel: null });
    expect(defaultArguments(task())).toEqual({});
  });
});

test('a copy of a task has everything that was set on it', () => {
  const original = step(4, {
    task_id: 9,
    alias: 'Nuclei',
    description: 'Of all channels',
    args_parallel: parseJson('{"size":1.0}') as Record<string, unknown>,
    meta_parallel: { mem: 4000 },
    type_filters: { is_3D: true },
  });
  expect(writeJson(copyOf(original))).toBe(
    '{"task_id":9,"args_non_parallel":null,"args_parallel":{"size":1.0},"meta_non_parallel":null,' +
      '"meta_parallel":{"mem":4000},"type_filters":{"is_3D":true},"alias":"Nuclei","description":"Of all channels"}',
  );
});

describe('another version', () => {
  const newer = task({
    version: '2.0.0',
    args_schema_version: 'pydantic_v2',
    args_schema_parallel: schema(
      {
        diameter: { type: 'integer', default: 30 },
        channels: { type: 'array', items: { type: 'integer' }, default: [1, 2, 3] },
        mode: { type: 'string', default: 'fast' },
      },
      ['diameter'],
    ),
  });

  test('old values stay, lists as one value; new arguments get their default', () => {
    const {
      args,
      differences: found,
      problems,
    } = versionChange(step(1, { args_parallel: { diameter: 12, channels: [9] } }), newer);
    expect(args.args_parallel).toEqual({ diameter: 12, channels: [9], mode: 'fast' });
    expect(found).toEqual([{ block: 'Arguments', list: [{ path: 'mode', kind: 'added', after: 'fast' }] }]);
    expect(problems).toEqual([]);
  });

  test('values that do not fit are kept and named', () => {
    const { args, problems } = versionChange(step(1, { args_parallel: { diameter: 'x' } }), newer);
    expect(args.args_parallel).toMatchObject({ diameter: 'x' });
    expect(problems).toEqual(['diameter: Enter a whole number.']);
  });

  test('arguments that were never saved stay so', () => {
    expect(versionChange(step(1), newer).args).toEqual({ args_non_parallel: null, args_parallel: null });
  });

  test('the newest finished version is proposed', () => {
    const candidates = [
      { task_id: 2, version: '1.1.0' },
      { task_id: 3, version: '2.0.0' },
      { task_id: 4, version: '2.0.0' },
      { task_id: 5, version: '2.1.0rc1' },
    ];
    expect(proposed(candidates)?.task_id).toBe(4);
    expect(proposed(candidates.slice(3))?.task_id).toBe(5);
    expect(versionOptions(candidates).map(({ name, note }) => [name, note])).toEqual([
      ['2.1.0rc1', 'pre-release'],
      ['2.0.0 (task 4)', undefined],
      ['2.0.0 (task 3)', undefined],
      ['1.1.0', undefined],
    ]);
    expect(['1.0', '2.0.0.post1', '1.0b2', '3.0.dev4'].map(isPreRelease)).toEqual([false, false, true, true]);
  });

  test('only tasks with candidates are offered, with their number', () => {
    const list = updatable([step(1), step(2), step(3)], [[], [{ task_id: 5, version: '2' }]]);
    expect(list.map(({ number, step: { id } }) => [number, id])).toEqual([[2, 2]]);
  });
});

describe('differences', () => {
  test('place by place, whatever the order of keys', () => {
    expect(differences({ a: 1, b: { c: 2, e: [1, 2] } }, { b: { e: [1, 3], c: 2 }, d: 4 })).toEqual([
      { path: 'a', kind: 'removed', before: 1 },
      { path: 'b › e › 2', kind: 'changed', before: 2, after: 3 },
      { path: 'd', kind: 'added', after: 4 },
    ]);
    expect(differences({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([]);
  });

  test('lists of different length are one value; numbers count as written', () => {
    expect(differences([1], [1, 2])).toEqual([{ path: '', kind: 'changed', before: [1], after: [1, 2] }]);
    expect(differences(parseJson('{"a":1.0}'), parseJson('{"a":1}'))).toHaveLength(1);
  });

  test('long values are cut', () => {
    expect(valueText('x'.repeat(300))).toHaveLength(120);
  });
});

describe('compare with a template', () => {
  type Item = WorkflowExport['task_list'][number];
  const item = (given: Partial<Item> = {}): Item => ({
    meta_non_parallel: null,
    meta_parallel: null,
    args_non_parallel: null,
    args_parallel: null,
    type_filters: {},
    description: null,
    alias: null,
    task: { pkg_name: 'cells', name: 'Segment', version: '1.0.0' },
    ...given,
  });

  test('key order and the difference of null and {} do not count', () => {
    const [one] = compareTasks(
      [item({ args_parallel: { a: 1, b: 2 }, args_non_parallel: {} })],
      [item({ args_parallel: { b: 2, a: 1 } })],
    );
    expect(one).toMatchObject({ kind: 'same', blocks: [], notes: [] });
  });

  test('other arguments, other versions, tasks on one side only', () => {
    const found = compareTasks(
      [item({ args_parallel: { a: 1 } }), item(), item()],
      [item({ args_parallel: { a: 2 } }), item({ task: { pkg_name: 'cells', name: 'Segment', version: '2.0.0' } })],
    );
    expect(found.map(({ kind }) => kind)).toEqual(['arguments', 'other', 'only-template']);
    expect(found[1]!.unlike).toEqual(['version']);
    expect(comparisonWords(found)).toBe('1 with other arguments, 1 another task or version, 1 only in the template');
  });

  test('alias, resources and type filters are notes', () => {
    const [one] = compareTasks(
      [item()],
      [item({ alias: 'Nuclei', meta_parallel: { mem: 1 }, type_filters: { is_3D: true } })],
    );
    expect(one!.kind).toBe('same');
    expect(one!.notes.map(({ what }) => what)).toEqual(['Alias', 'Resources', 'Type filters']);
  });

  test('the phases of a compound task are told apart', () => {
    const set = { args_non_parallel: { a: 1 }, args_parallel: { b: 1 }, meta_parallel: { mem: 1 } };
    const [one] = compareTasks([item(set)], [item({ ...set, args_non_parallel: { a: 2 }, meta_parallel: { mem: 2 } })]);
    expect(one!.blocks.map(({ block }) => block)).toEqual(['Init arguments']);
    expect(one!.notes.map(({ what }) => what)).toEqual(['Compute resources']);
  });
});

describe('order', () => {
  test('moves one, the others keep theirs', () => {
    expect(moved([1, 2, 3, 4], 0, 2)).toEqual([2, 3, 1, 4]);
    expect(moved([1, 2, 3], 2, 0)).toEqual([3, 1, 2]);
    expect(moved([1, 2, 3], 1, 9)).toEqual([1, 3, 2]);
    expect(sameOrder([1, 2], [1, 2])).toBe(true);
    expect(sameOrder([1, 2], [2, 1])).toBe(false);
  });

  test('is locked while a job runs', () => {
    expect(lockedBy(0)).toBeUndefined();
    expect(lockedBy(1)).toContain('A job');
    expect(lockedBy(2)).toContain('2 jobs');
  });
});

test('a new template begins with the one the workflow came from', () => {
  const workflow = { name: 'Nuclei', description: 'Mine' };
  const template = { name: 'Screen', version: 3, description: null, user_email: 'anna@example.org' };
  expect(templateDefaults(workflow, undefined, 'anna@example.org')).toEqual({
    name: 'Nuclei',
    version: 1,
    description: 'Mine',
  });
  expect(templateDefaults(workflow, template, 'anna@example.org')).toEqual({
    name: 'Screen',
    version: 4,
    description: 'Mine',
  });
  expect(templateDefaults(workflow, template, 'bob@example.org').version).toBe(1);
});
