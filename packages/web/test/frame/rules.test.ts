/** What the frame shows and says, without a browser. */
import { describe, expect, it } from 'vitest';

import { failureOf } from '../../src/lib/frame/failure.ts';
import { addressOfFound, type Found, groupsOf, pagesNamed } from '../../src/lib/frame/find.ts';
import { helpPath, isOwnGuide, minimalAddress } from '../../src/lib/frame/help.ts';
import { isFind } from '../../src/lib/frame/keys.ts';
import { stepStates, testTaskIn } from '../../src/routes/healthcheck/steps.ts';
import { curlExample, untilWords } from '../../src/routes/profile/tokens.ts';

const found = (fields: Partial<Found>): Found => ({
  kind: 'project',
  id: 3,
  name: 'Screen',
  project_id: 7,
  project_name: 'Neurites',
  ...fields,
});

describe('what Ctrl K finds', () => {
  it.each<[Found['kind'], string]>([
    ['project', '/v2/projects/3'],
    ['dataset', '/v2/projects/7/datasets/3'],
    ['workflow', '/v2/projects/7/workflows/3'],
    ['job', '/v2/projects/7/jobs/3'],
    ['task', '/v2/tasks?text=Screen'],
    ['template', '/v2/templates?template_id=3'],
  ])('a %s is at %s', (kind, address) => expect(addressOfFound(found({ kind }))).toBe(address));

  it('is grouped by kind, in a fixed order, without empty groups', () => {
    const groups = groupsOf([
      found({ kind: 'task' }),
      found({ kind: 'dataset' }),
      found({ kind: 'task', id: 4, name: 'Other' }),
    ]);
    expect(groups.map(({ name, hits }) => [name, hits.length])).toEqual([
      ['Datasets', 1],
      ['Tasks', 2],
    ]);
  });

  it('a job is named by its number, and says what it ran', () =>
    expect(groupsOf([found({ kind: 'job', id: 12, name: 'Nuclei' })])[0]!.hits[0]).toMatchObject({
      name: 'Job 12',
      note: 'Nuclei, Neurites',
    }));

  it('shows versions of a task once', () =>
    expect(groupsOf([found({ kind: 'task' }), found({ kind: 'task', id: 4 })])[0]!.hits).toHaveLength(1));

  it('names no project twice', () =>
    expect(groupsOf([found({ name: 'Neurites' })])[0]!.hits[0]).toMatchObject({ name: 'Neurites', note: '' }));

  it('pages are found by a part of their name or note, the admin area only by administrators', () => {
    const names = (text: string, isAdmin: boolean) =>
      pagesNamed(text, { isAdmin, isGuest: false, hasGuide: true }).flatMap(({ hits }) => hits.map(({ name }) => name));
    expect(names('TOKEN', false)).toEqual(['My profile']);
    expect(names('admin', false)).toEqual([]);
    expect(names('admin', true)).toEqual(['Admin area']);
    expect(names('', true)).toContain('User guide');
  });
});

describe('help', () => {
  it.each([
    ['/v2/projects', '/reference/project-overview/'],
    ['/v2/projects/[id]', '/reference/project/'],
    ['/v2/datasets', '/reference/dataset/'],
    ['/v2/projects/[project_id]/workflows/[workflow_id]', '/reference/workflow/'],
    ['/v2/jobs', '/reference/jobs/'],
    ['/v2/tasks/management', '/reference/task-collection/'],
    ['/v2/templates', '/reference/templates/'],
    ['/v2/admin', undefined],
    [null, undefined],
  ])('of %s is %s', (route, path) => expect(helpPath(route)).toBe(path));

  it('is asked for with the version of the client', () =>
    expect(minimalAddress('/help', '/reference/jobs/', '1.2.0 a')).toBe('/help/minimal/reference/jobs/?v=1.2.0%20a'));

  it('is our own below a path, and framed from another site', () =>
    expect([isOwnGuide('/help'), isOwnGuide('https://guide.example')]).toEqual([true, false]));
});

it.each([
  [{ key: 'k', ctrlKey: true }, true],
  [{ key: 'K', metaKey: true }, true],
  [{ key: 'k' }, false],
  [{ key: 'k', ctrlKey: true, shiftKey: true }, false],
])('%j asks to find something: %s', (pressed, finds) =>
  expect(isFind({ ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...pressed })).toBe(finds),
);

describe('the error page', () => {
  const member = { is_superuser: false, profile_id: 1 };
  const at = (status: number, route: string | null, pathname: string, user: typeof member | null = member) =>
    failureOf({ status, route, pathname, user });

  it('names what is missing and the way up', () =>
    expect(at(404, '/v2/projects/[project_id]/datasets/[dataset_id]', '/v2/projects/7/datasets/1')).toEqual({
      title: 'This dataset was not found',
      retry: false,
      up: { name: 'the project', href: '/v2/projects/7' },
    }));

  it('tells an unknown address from a thing that is gone', () =>
    expect(at(404, null, '/nothing')).toEqual({ title: 'There is no page at this address', retry: false }));

  it('offers to try again what may go better, and not what will not', () => {
    expect(at(500, '/v2/projects', '/v2/projects')).toMatchObject({ retry: true });
    expect(at(503, '/v2/projects', '/v2/projects').title).toBe('The service does not answer');
    expect(at(403, '/v2/projects/[project_id]', '/v2/projects/7').retry).toBe(false);
  });

  it('tells an administrator without a profile where to get one', () =>
    expect(
      failureOf({
        status: 403,
        route: '/v2/projects',
        pathname: '/v2/projects',
        user: { is_superuser: true, profile_id: null },
      }),
    ).toMatchObject({ hint: expect.stringContaining('profile'), up: { href: '/v2/admin/users' } }));
});

describe('the token', () => {
  it('is used in an example with the names of this site', () =>
    expect(curlExample('https://lab.example', 'session')).toBe(
      'curl --cookie "session=$TOKEN" https://lab.example/api/v2/project/',
    ));

  it.each([
    [3 * 86_400, 'in 3 days'],
    [26 * 3600, 'in 26 hours'],
    [3600, 'in 60 minutes'],
    [70, 'in 1 minute'],
    [10, 'now'],
    [-5, 'now'],
  ])('that is valid for %i seconds ends %s', (seconds, words) =>
    expect(untilWords(new Date(1000 * seconds).toISOString(), 0)).toBe(words),
  );
});

describe('the submission test', () => {
  it.each([
    [undefined, undefined, 'unset unset unset unset unset unset unset'],
    ['workflow', 'running', 'done done running waiting waiting waiting waiting'],
    ['task', 'failed', 'done done done failed unset unset unset'],
    ['run', 'done', 'done done done done done done done'],
  ] as const)('at %s, %s: %s', (step, outcome, states) => expect(stepStates(step, outcome).join(' ')).toBe(states));

  it('uses the test task that is there', () => {
    const group = (pkg_name: string, ...ids: number[]) => [
      pkg_name,
      [{ pkg_name, task_list: ids.map((id) => ({ id })) }],
    ];
    const groups = [group('other', 1), group('__TEST_ECHO_TASK__', 5, 6)] as Parameters<typeof testTaskIn>[0];
    expect(testTaskIn(groups)).toBe(5);
    expect(testTaskIn(groups.slice(0, 1))).toBeUndefined();
  });
});
