import type { TaskGroupSlim, TaskInfo } from '@service/contract';
import { describe, expect, test } from 'vitest';

import { tasksAsCsv, usersOf } from '../../src/lib/tasks/admin-tasks.ts';
import {
  effect,
  factsOf,
  madeFrom,
  ownersOf,
  sharedWith,
  shownPackages,
  usedIn,
  whyNot,
} from '../../src/lib/tasks/groups.ts';
import { isResetOn, pinsOfGroup, resetBody, whyNoReset } from '../../src/lib/tasks/reset.ts';
import {
  ACTIVITY_FILTERS,
  filterQuery,
  GROUP_FILTERS,
  isSearched,
  pageOf,
  searchQuery,
  TASK_FILTERS,
  utcOf,
  withOptions,
} from '../../src/lib/tasks/search.ts';

const group = (fields: Partial<TaskGroupSlim> = {}): TaskGroupSlim => ({
  id: 1,
  user_email: 'anna@example.org',
  user_group_id: null,
  origin: 'pypi',
  pkg_name: 'cellseg',
  version: '0.8.1',
  python_version: '3.12',
  pixi_version: null,
  path: '/tasks/cellseg',
  venv_path: '/tasks/cellseg/venv',
  archive_path: null,
  pip_extras: null,
  pinned_package_versions_pre: {},
  pinned_package_versions_post: {},
  in_use: false,
  active: true,
  timestamp_created: '2026-11-01T00:00:00Z',
  timestamp_last_used: '2026-11-02T00:00:00Z',
  num_workflows: 0,
  num_submitted_jobs: 0,
  task_list: [],
  ...fields,
});
const anna = { email: 'anna@example.org', is_guest: false };
const tasks = (...names: string[]) => names.map((name) => ({ name })) as TaskGroupSlim['task_list'];

describe('packages', () => {
  const packages = [
    ['cellseg', [group({ id: 1, task_list: tasks('Segment') }), group({ id: 2, user_email: 'ben@example.org' })]],
    ['plate', [group({ id: 3, pkg_name: 'plate', version: '2.0' })]],
  ] as [string, TaskGroupSlim[]][];
  const ids = (text: string, owner = '') =>
    shownPackages(packages, { text, owner }).flatMap(({ groups }) => groups.map(({ id }) => id));

  test('the same version of two owners is there twice', () => {
    expect(ids('cellseg')).toEqual([1, 2]);
  });

  test('are found by package, task and owner', () => {
    expect(ids('')).toEqual([1, 2, 3]);
    expect(ids('SEGMENT')).toEqual([1]);
    expect(ids('ben')).toEqual([2]);
    expect(ids('', 'anna@example.org')).toEqual([1, 3]);
    expect(ids('zebra')).toEqual([]);
    expect(ownersOf(packages)).toEqual(['anna@example.org', 'ben@example.org']);
  });

  test('say where they come from and who has them', () => {
    expect(madeFrom(group())).toBe('from PyPI, Python 3.12');
    expect(madeFrom(group({ origin: 'pixi', python_version: null, pixi_version: '0.54' }))).toBe(
      'from a pixi project, pixi 0.54',
    );
    expect(sharedWith(null, new Map())).toBe('Only the owner');
    expect(sharedWith(4, new Map([[4, 'Imaging facility']]))).toBe('Imaging facility');
    expect(usedIn(group())).toBe('not used');
    expect(usedIn(group({ num_workflows: 4, num_submitted_jobs: 1 }))).toBe('4 workflows, 1 running job');
  });

  test('tell all that is known and nothing that is not', () => {
    const facts = factsOf(group({ pinned_package_versions_pre: { numpy: '2.1.3' } }), new Map());
    expect(facts).toContainEqual(['Pinned before', 'numpy 2.1.3']);
    expect(facts.map(([name]) => name)).not.toContain('Extras');
  });
});

describe('what can be done with a task group', () => {
  test('its owner does it, guests and others do not', () => {
    expect(whyNot('deactivate', group(), anna)).toBeUndefined();
    expect(whyNot('delete', group(), { ...anna, email: 'ben@example.org' })).toMatch(/owner, anna@example.org/);
    expect(whyNot('reactivate', group(), { ...anna, is_guest: true })).toMatch(/Guest accounts/);
  });

  test('administrators do it for others', () => {
    expect(whyNot('delete', group(), { email: '', is_guest: false, asAdmin: true })).toBeUndefined();
  });

  test('not while jobs run, not while workflows have it, not while something is done', () => {
    expect(whyNot('deactivate', group({ num_submitted_jobs: 2 }), anna)).toMatch(/2 running jobs use it/);
    expect(whyNot('deactivate', group({ num_workflows: 3 }), anna)).toBeUndefined();
    expect(whyNot('delete', group({ num_workflows: 1 }), anna)).toMatch(/1 workflow uses its tasks/);
    expect(whyNot('deactivate', group(), anna, true)).toMatch(/right now/);
  });

  test('what comes of it is said before', () => {
    const two = { task_list: tasks('A', 'B'), num_workflows: 4 };
    expect(effect('deactivate', { origin: 'pypi', ...two })).toMatch(/removed from disk.*4 workflows cannot run/);
    expect(effect('deactivate', { origin: 'other', ...two })).toMatch(/your own and stays/);
    expect(effect('delete', { origin: 'pypi', ...two })).toMatch(/^2 tasks are removed, along with the environment/);
    expect(effect('delete', { origin: 'other', ...two })).toMatch(/^2 tasks are removed from the service/);
    expect(effect('reactivate', { origin: 'pypi', ...two })).toMatch(/rebuilt/);
  });
});

describe('reset', () => {
  test('is for inactive environments of the service, where it is switched on', () => {
    expect(whyNoReset({ origin: 'pypi', active: false }, true)).toBeUndefined();
    expect(whyNoReset({ origin: 'pypi', active: false }, false)).toMatch(/switched off/);
    expect(whyNoReset({ origin: 'other', active: false }, true)).toMatch(/not made by the service/);
    expect(whyNoReset({ origin: 'pixi', active: true }, true)).toMatch(/Deactivate it first/);
  });

  test('is on when the service says so, in its words', () => {
    const on = (value: unknown) => isResetOn({ SERVICE_ENABLE_TASK_GROUP_RESET: value });
    expect(['true', true, 'false', false, undefined].map(on)).toEqual([true, true, false, false, false]);
  });

  test('sends pins as they are now, also that there are none', () => {
    const pins = pinsOfGroup({ pinned_package_versions_pre: { numpy: '2' }, pinned_package_versions_post: {} });
    expect(pins).toEqual([{ name: 'numpy', version: '2', when: 'pre' }]);
    expect(resetBody({ python: '3.12', changeExtras: false, extras: 'x', pins })).toEqual({
      python_version: '3.12',
      pinned_package_versions_pre: { numpy: '2' },
      pinned_package_versions_post: {},
    });
    expect(resetBody({ python: '', changeExtras: true, extras: ' gpu ', pins: [] })).toEqual({
      pip_extras: 'gpu',
      pinned_package_versions_pre: {},
      pinned_package_versions_post: {},
    });
  });
});

describe('filters in the address', () => {
  const search = (text: string) => new URLSearchParams(text);

  test('become what the service is asked', () => {
    expect(searchQuery(GROUP_FILTERS, search('package=cell&active=false&origin=pixi&id=7&page=3'), 50)).toEqual({
      pkg_name: 'cell',
      active: false,
      origin: 'pixi',
      task_group_id: 7,
      page: 3,
      page_size: 50,
    });
    expect(filterQuery(TASK_FILTERS, search('name=nuclei&core=true&type=parallel'))).toEqual({
      name: 'nuclei',
      core: true,
      task_type: 'parallel',
    });
  });

  test('what cannot be asked is left out', () => {
    expect(filterQuery(ACTIVITY_FILTERS, search('status=odd&group=x&activity_id=&since=yesterday'))).toEqual({});
    expect(pageOf(search('page=-1&page_size=many'), 10)).toEqual({ page: 1, page_size: 10 });
  });

  test('reset is an action like the others', () => {
    expect(filterQuery(ACTIVITY_FILTERS, search('action=reset'))).toEqual({ action: 'reset' });
  });

  test('people are offered by the page', () => {
    const fields = withOptions(TASK_FILTERS, { owner: [{ value: '5', name: 'anna@example.org' }] });
    expect(filterQuery(fields, search('owner=5'))).toEqual({ owner_id: '5' });
    expect(filterQuery(fields, search('owner=6'))).toEqual({});
  });

  test('days begin at midnight where the reader is', () => {
    expect(utcOf('2026-11-15')).toBe(new Date(2026, 10, 15).toISOString());
    expect(utcOf('2026-11-15T10:30')).toBe(new Date(2026, 10, 15, 10, 30).toISOString());
    expect(utcOf('2026-13-45')).toBeUndefined();
  });

  test('any value counts as a filter', () => {
    expect(isSearched(ACTIVITY_FILTERS, search('page=2'))).toBe(false);
    expect(isSearched(ACTIVITY_FILTERS, search('activity_id=4'))).toBe(true);
  });
});

describe('tasks for administrators', () => {
  const user = (email: string) => ({ id: 1, email });
  const info = {
    task: {
      id: 4,
      name: 'Say "hi", twice',
      type: 'parallel',
      pkg_name: 'p',
      version: '1',
      owner: '=cmd()',
      user_group: null,
    },
    relationships: [
      { workflow_id: 1, project_users: [user('b@x.org'), user('a@x.org')] },
      { workflow_id: 2, project_users: [user('a@x.org')] },
    ],
  } as unknown as TaskInfo;

  test('people count once', () => {
    expect(usersOf(info)).toEqual(['a@x.org', 'b@x.org']);
  });

  test('as a file: quoted where needed, and never a formula', () => {
    const [head, row] = tasksAsCsv([{ ...info, task: { ...info.task, is_core: true, active: false } }]).split('\r\n');
    expect(head).toBe('id,name,type,package,version,core,active,owner,group,users,workflows');
    expect(row).toBe(`4,"Say ""hi"", twice",parallel,p,1,true,false,'=cmd(),,2,2`);
  });
});
