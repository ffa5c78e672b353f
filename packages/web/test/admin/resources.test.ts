/** The form of a resource: it has a place for everything the service takes, and says refusals there. */
import { describe, expect, test } from 'vitest';

import { accounts, openapiDocument, type Resource, ResourceWrite } from '@service/contract';

import { resourceSections } from '../../src/lib/admin/resource-fields.ts';
import {
  blank,
  bodyOf,
  editable,
  foreignKind,
  isSameResource,
  placeProblems,
  shownText,
  typedValue,
  valueAt,
  withValue,
} from '../../src/lib/admin/resources.ts';

const KINDS = { local: 'Local', slurm_sudo: 'SlurmSudo', slurm_ssh: 'SlurmSSH' } as const;
const kinds = Object.keys(KINDS) as (keyof typeof KINDS)[];
const FILLED = { name: 'Here', jobs_local_dir: '/jobs', tasks_local_dir: '/tasks', host: 'login.example.org' };

type Schema = Record<string, unknown>;
const { schemas } = openapiDocument([accounts.createResource], { title: '', version: '' })['components'] as {
  schemas: Record<string, Schema>;
};

/** The paths of all values that a schema describes. */
function pathsOf(schema: Schema): string[] {
  const { $ref, anyOf, properties } = schema as {
    $ref?: string;
    anyOf?: Schema[];
    properties?: Record<string, Schema>;
  };
  if ($ref !== undefined) return pathsOf(schemas[$ref.split('/').at(-1)!]!);
  if (anyOf !== undefined) return pathsOf(anyOf.find(({ type }) => type !== 'null')!);
  if (properties === undefined) return [''];
  return Object.entries(properties).flatMap(([key, part]) =>
    part['type'] === 'null' ? [] : pathsOf(part).map((path) => (path === '' ? key : `${key}.${path}`)),
  );
}

/** Set by buttons of the page, by its address, or for a kind of resource that has no use for it. */
const ELSEWHERE = ['type', 'prevent_new_submissions', 'shebang_line', 'jobs_poll_interval'];
/** Whoever signs in by SSH runs what people bring. */
const isElsewhere = (kind: (typeof kinds)[number], path: string) =>
  ELSEWHERE.includes(path) || (kind === 'slurm_ssh' && path === 'tasks_python_config.account');

test.each(kinds)('the form of %s has a field for every value of the contract', (kind) => {
  const shown = resourceSections(kind).flatMap(({ fields }) => fields.map(({ path }) => path.join('.')));
  const described = pathsOf(schemas[`ValidResource${KINDS[kind]}Request`]!).filter((path) => !isElsewhere(kind, path));
  expect(described.filter((path) => !shown.some((field) => path === field || path.startsWith(`${field}.`)))).toEqual([
    // any values may be in it, so its fields are not described one by one
    'tasks_pixi_config',
  ]);
});

test.each(kinds)('what a new %s begins with is taken, once it has a name and folders', (kind) => {
  const body = bodyOf({ ...blank(kind), ...FILLED, host: kind === 'slurm_ssh' ? FILLED.host : null });
  expect(ResourceWrite.safeParse(body).error).toBeUndefined();
});

test('only the kind that this deployment runs jobs on can be made or changed', () => {
  expect(foreignKind('local', 'local')).toBeUndefined();
  expect(foreignKind('slurm_ssh', 'local')).toContain('This resource is “Slurm, through SSH”.');
  expect(foreignKind('quantum', 'slurm_sudo')).toContain('of an unknown kind');
});

describe('values', () => {
  const field = (is: 'text' | 'number' | 'memory' | 'lines') => ({ path: ['x'], label: 'X', kind: { is } });

  test.each([
    ['memory', 8000, '8G'],
    ['memory', 2_000_000, '2T'],
    ['memory', 1500, '1500M'],
    ['memory', '4G', '4G'],
    ['number', 0, '0'],
    ['text', null, ''],
    ['lines', ['a', 'b'], 'a\nb'],
  ] as const)('%s %j is shown as %j', (is, value, text) => {
    expect(shownText(field(is), value)).toBe(text);
  });

  test.each([
    ['number', '12', 12],
    ['number', '1 2', '1 2'],
    ['number', ' ', undefined],
    ['memory', '4G', '4G'],
    ['lines', 'a\n', ['a', '']],
  ] as const)('%s typed as %j is %j', (is, text, value) => {
    expect(typedValue(field(is), text)).toEqual(value);
  });

  test('a value is set and taken away where it is, and nothing else changes', () => {
    const data = withValue({ name: 'a' }, ['jobs_runner_config', 'batching_config', 'max_num_jobs'], 3);
    expect(valueAt(data, ['jobs_runner_config', 'batching_config', 'max_num_jobs'])).toBe(3);
    const without = withValue(data, ['jobs_runner_config', 'batching_config', 'max_num_jobs'], undefined);
    expect(without).toEqual({ name: 'a', jobs_runner_config: { batching_config: {} } });
  });

  test('what was typed and taken back is no change; empty lines are not sent', () => {
    const stored = { id: 1, timestamp_created: '2026', name: 'a', host: null } as Resource;
    expect(isSameResource({ name: 'a', host: '' }, editable(stored))).toBe(true);
    expect(isSameResource({ name: 'b' }, editable(stored))).toBe(false);
    expect(bodyOf({ jobs_runner_config: { extra_lines: ['a', ''] } })['jobs_runner_config']).toEqual({
      extra_lines: ['a'],
    });
  });
});

describe('refusals of the service', () => {
  const problems = placeProblems(
    {
      'local.name': 'Enter at least one character.',
      'local.tasks_python_config': 'default_version 3.12 is not one of versions.',
      'local.tasks_python_config.versions.3.99.[key]': 'Choose one of: 3.9.',
      'local.tasks_python_config.versions.3.9': 'Enter an absolute path.',
      'local.jobs_runner_config.x': 'This field is not known here.',
    },
    'local',
  );

  test('stand at the fields that they are about', () => {
    expect(problems.at(['name'])).toBe('Enter at least one character.');
    expect(problems.at(['tasks_python_config'])).toContain('default_version 3.12');
    expect(problems.at(['jobs_local_dir'])).toBeUndefined();
  });

  test('stand at the entry of a map', () => {
    expect(problems.inMap(['tasks_python_config', 'versions'])).toEqual({
      '3.99': 'Choose one of: 3.9.',
      '3.9': 'Enter an absolute path.',
    });
  });

  test('stand above the form where it has no field', () => {
    expect(problems.others).toEqual(['jobs_runner_config.x: This field is not known here.']);
  });

  test('stand at the list whose line they are about', () => {
    const path = ['jobs_runner_config', 'default_slurm_config', 'extra_lines'];
    const told = placeProblems({ [`slurm_sudo.${path.join('.')}.1`]: 'Enter text.' }, 'slurm_sudo');
    expect([told.at(path), told.others]).toEqual(['Enter text.', []]);
  });
});
