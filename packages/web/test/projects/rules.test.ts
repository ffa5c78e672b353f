import { describe, expect, test } from 'vitest';

import { about, ApiProblem } from '../../src/lib/api/problem.ts';
import { copyName, emptyAsNull, hasName, shortened, sortProjects, withoutEmpty } from '../../src/lib/projects/lists.ts';
import {
  isComplete,
  matchesOf,
  type Match,
  newestVersions,
  offered,
  versionNote,
  withVersions,
} from '../../src/lib/projects/matches.ts';
import { lastJobs, percentDone, recent } from '../../src/lib/projects/recent.ts';
import { whyNotChange, whyNotEdit, whyNotStar } from '../../src/lib/rights.ts';
import { addressQuery, chosenOf, CLEARED, filtersOf, isFiltered } from '../../src/lib/templates/filters.ts';
import { forgetProject } from '../../src/lib/workflow/dataset.ts';
import { rememberDataset, rememberedDataset } from '../../src/lib/workflow/dataset.ts';

describe('names and texts', () => {
  test('copies are numbered, and a copy of a copy is one of the first', () => {
    expect(copyName('Nuclei', ['Nuclei'])).toBe('Nuclei_copy');
    expect(copyName('Nuclei_copy', ['Nuclei', 'Nuclei_copy'])).toBe('Nuclei_copy_1');
    expect(copyName('Nuclei_copy_1', ['Nuclei_copy', 'Nuclei_copy_1'])).toBe('Nuclei_copy_2');
  });

  test('a description is cut when it is much too long', () => {
    expect(shortened('x'.repeat(60))).toBeUndefined();
    expect(shortened('x'.repeat(61))).toBe(`${'x'.repeat(50)}…`);
  });

  test('what is left empty is not sent, or taken away', () => {
    expect(withoutEmpty({ name: 'a', description: ' ' })).toEqual({ name: 'a' });
    expect(emptyAsNull('  ')).toBeNull();
    expect(emptyAsNull('a')).toBe('a');
  });
});

describe('lists', () => {
  const project = (name: string, is_starred: boolean, created: number, ran?: number) => ({
    name,
    is_starred,
    timestamp_created: new Date(created).toISOString(),
    last_job: ran === undefined ? null : ({ timestamp: new Date(ran).toISOString() } as never),
  });
  const list = [project('b', false, 1, 9), project('c', true, 2), project('a', false, 5)];

  test.each([
    ['activity', ['c', 'b', 'a']],
    ['name', ['c', 'a', 'b']],
    ['created', ['c', 'a', 'b']],
  ] as const)('starred first, then by %s', (order, names) => {
    expect(sortProjects(list, order).map(({ name }) => name)).toEqual(names);
  });

  test('search ignores case and blanks around', () => {
    expect(hasName('Screen 7', ' scREEN ')).toBe(true);
    expect(hasName('Screen 7', '8')).toBe(false);
  });

  test('the newest job of each workflow; of one job the first news', () => {
    const jobs = [
      { id: 3, workflow_id: 1, status: 'done' },
      { id: 4, workflow_id: 2, status: 'done' },
      { id: 2, workflow_id: 1, status: 'failed' },
      { id: 4, workflow_id: 2, status: 'submitted' },
      { id: 9, workflow_id: null, status: 'done' },
    ];
    expect([...lastJobs(jobs).values()].map(({ id, status }) => `${id} ${status}`)).toEqual(['3 done', '4 done']);
  });
});

describe('what the reader may do', () => {
  const project = { is_owner: false, permissions: 'r' as const, owner_email: 'anna@example.org' };

  test('readers are told whom to ask', () => {
    expect(whyNotEdit(project, { is_guest: false })).toBe(
      'You can read this project. Ask anna@example.org for permission to edit.',
    );
    expect(whyNotStar(project, { is_guest: false })).toMatch(/Everyone in the project sees stars/);
    expect(whyNotEdit({ ...project, permissions: 'rw' }, { is_guest: false })).toBeUndefined();
  });

  test('guests change nothing, whatever the project says', () => {
    expect(whyNotEdit({ ...project, permissions: 'rwx' }, { is_guest: true })).toMatch(/^Guest accounts are read-only/);
    expect(whyNotChange({ is_guest: true })).toMatch(/^Guest accounts are read-only/);
    expect(whyNotChange({ is_guest: false })).toBeUndefined();
  });
});

describe('versions of imported tasks', () => {
  const task = (version: string, more = {}) => ({
    version,
    active: true,
    older_than_target: false,
    is_core: false,
    ...more,
  });
  const fail: Match = {
    outcome: 'fail',
    pkg_name: 'p',
    task_name: 't',
    version: '1.5',
    available_tasks: [
      task('3.0', { active: false }),
      task('2.0', { is_core: true, active: false }),
      task('2.0', { is_core: true }),
      task('1.0', { older_than_target: true }),
    ],
  };
  const success: Match = { outcome: 'success', pkg_name: 'p', task_name: 'u', version: '1.0' };

  test('are read from the refusal', () => {
    const body = { detail: '[HAS_ERROR_DATA]', data: [fail] };
    expect(matchesOf(new ApiProblem(422, '', [], body))).toEqual([fail]);
    expect(matchesOf(new ApiProblem(422, 'x', [], { detail: 'x' }))).toBeUndefined();
    expect(matchesOf(new Error('x'))).toBeUndefined();
  });

  test('older ones are offered on request, or when none was wanted', () => {
    expect(offered(fail, false).map(({ version }) => version)).toEqual(['3.0', '2.0']);
    expect(offered(fail, true).map(({ version }) => version)).toEqual(['3.0', '2.0', '1.0']);
    expect(offered({ ...fail, version: null }, false)).toHaveLength(3);
    expect(offered(fail, true).map(versionNote)).toEqual(['not active', 'core', 'older']);
  });

  test('the newest active one of each', () => {
    expect(newestVersions([success, fail], false)).toEqual({ 1: '2.0' });
    expect(newestVersions([success, fail], false, { 1: '3.0' })).toEqual({ 1: '3.0' });
    expect(newestVersions([{ ...fail, available_tasks: [] }], true)).toEqual({});
  });

  test('all have to be chosen', () => {
    expect(isComplete([success, fail], {})).toBe(false);
    expect(isComplete([success, fail], { 1: '2.0' })).toBe(true);
  });

  test('replace those in the file', () => {
    const file = {
      name: 'w',
      task_list: [{ task: { name: 'u', version: '1.0' } }, { task: { name: 't', version: '1.5' } }],
    };
    expect(withVersions(file, { 1: '2.0' })['task_list']).toEqual([
      { task: { name: 'u', version: '1.0' } },
      { task: { name: 't', version: '2.0' } },
    ]);
  });
});

test('a name that is taken is told at the name', async () => {
  const refused = (message: string) => Promise.reject(new ApiProblem(422, message));
  await expect(about('name', refused('There is a project with this name already.'))).rejects.toMatchObject({
    fields: [{ path: ['name'], message: 'There is a project with this name already.' }],
  });
  await expect(about('name', refused('The profile is broken.'))).rejects.toMatchObject({ fields: [] });
});

describe('recent', () => {
  const NOW = Date.parse('2026-01-01T12:00:00Z');
  const job = (id: number, more: object) => ({
    id,
    project_id: 1,
    project_dump: { id: 1, name: 'Atlas', timestamp_created: '' },
    dataset_dump: { id: 1, name: 'Plate 11', project_id: 1, timestamp_created: '', zarr_dir: '' },
    user_email: 'anna@example.org',
    start_timestamp: '2026-01-01T10:00:00Z',
    end_timestamp: '2026-01-01T10:38:00Z',
    status: 'done' as const,
    failure: null,
    stop_requested_at: null,
    stop_requested_by: null,
    timestamp_first_unit: '2026-01-01T10:00:00Z',
    ...more,
  });
  const activity = {
    id: 1,
    timestamp_started: '2026-01-01T11:00:00Z',
    timestamp_ended: '2026-01-01T11:30:00Z',
    pkg_name: 'plate-tasks',
    version: '2.2.0',
    status: 'OK' as const,
    action: 'collect' as const,
  };
  const lines = (jobs: ReturnType<typeof job>[], activities: (typeof activity)[] = []) =>
    recent(jobs, activities, 'anna@example.org', NOW).map(
      ({ subject, words, detail }) => `${subject} ${words} (${detail})`,
    );

  test('jobs and packages, newest first', () => {
    const stopped = {
      end_timestamp: '2026-01-01T09:00:00Z',
      status: 'failed',
      failure: { kind: 'stopped', workflowtask_id: null, message: '', num_images: 0 },
      stop_requested_at: '2026-01-01T08:59:00Z',
      stop_requested_by: 'anna@example.org',
      start_timestamp: '2026-01-01T08:58:00Z',
    };
    expect(lines([job(1873, {}), job(1859, stopped)], [activity])).toEqual([
      'plate-tasks 2.2.0 collected (task package, 30 minutes ago)',
      'Job 1873 done on Plate 11 (Atlas, 1 hour ago, 38:00)',
      'Job 1859 stopped by you (Atlas, 3 hours ago, 2:00)',
    ]);
  });

  test('jobs of others say whose they are, and what runs has no duration', () => {
    expect(lines([job(5, { user_email: 't.rossi@example.org', status: 'submitted', end_timestamp: null })])).toEqual([
      'Job 5 runs on Plate 11 (Atlas, by t.rossi, 2 hours ago)',
    ]);
  });

  test('how much is done', () => {
    expect(percentDone({ progress: { waiting: 1, running: 1, done: 3, failed: 1 } })).toBe('66 %');
    expect(percentDone({ progress: { waiting: 0, running: 0, done: 0, failed: 0 } })).toBeUndefined();
    expect(percentDone({ progress: null })).toBeUndefined();
  });
});

describe('filters of templates', () => {
  test('go to the address and back', () => {
    const search = new URLSearchParams('name=nuclei&is_owner=true&version=2&page=3&template_id=x');
    const filters = filtersOf(search);
    expect(filters).toMatchObject({ name: 'nuclei', is_owner: true, version: 2, page: 3, page_size: 10 });
    expect(filters.template_id).toBeUndefined();
    expect(addressQuery({ ...filters, page: 1 })).toMatchObject({
      name: 'nuclei',
      page: undefined,
      page_size: undefined,
    });
    expect(addressQuery({ name: 'spots' })).toEqual({ name: 'spots' });
  });

  test('can be cleared', () => {
    const filters = filtersOf(new URLSearchParams('name=a&page=2&page_size=50'));
    expect(isFiltered(filters)).toBe(true);
    expect(isFiltered({ ...filters, ...CLEARED })).toBe(false);
    expect({ ...filters, ...CLEARED }).toMatchObject({ page: 1, page_size: 50 });
  });

  test('buttons act on the picked version, else on the newest', () => {
    const row = {
      user_email: 'a@b.c',
      template_name: 'T',
      templates: [
        { template_id: 8, template_version: 2 },
        { template_id: 5, template_version: 1 },
      ],
    };
    expect(chosenOf(row, undefined)).toEqual({ id: 8, version: 2, name: 'T', user_email: 'a@b.c' });
    expect(chosenOf(row, 5).version).toBe(1);
    expect(chosenOf(row, 99).id).toBe(8);
  });
});

test('a project that is gone is forgotten, others are not', () => {
  const kept = new Map<string, string>();
  const storage = {
    get length() {
      return kept.size;
    },
    key: (index: number) => [...kept.keys()][index] ?? null,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
  for (const [project, workflow] of [
    [1, 1],
    [1, 2],
    [12, 3],
  ] as const)
    rememberDataset(storage, project, workflow, 7);
  forgetProject(storage, 1);
  expect([rememberedDataset(storage, 1, 1), rememberedDataset(storage, 1, 2)]).toEqual([undefined, undefined]);
  expect(rememberedDataset(storage, 12, 3)).toBe(7);
});
