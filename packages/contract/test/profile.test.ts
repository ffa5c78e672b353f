/** What a profile may be, by the type of its resource. */
import { describe, expect, it } from 'vitest';

import { ProfileWrite } from '../src/index.ts';
import { changed, problemsOf, valueOf } from './support/reading.ts';

const EXAMPLES = {
  local: { resource_type: 'local', name: 'Local profile' },
  slurm_sudo: { resource_type: 'slurm_sudo', name: 'By sudo', username: 'ada' },
  slurm_ssh: {
    resource_type: 'slurm_ssh',
    name: 'By SSH',
    username: 'ada',
    ssh_key_path: '/keys/ada',
    jobs_remote_dir: '/home/ada/jobs',
    tasks_remote_dir: '/home/ada/tasks',
  },
};
type Kind = keyof typeof EXAMPLES;
const KINDS = Object.keys(EXAMPLES) as Kind[];

const EMPTY = {
  username: null,
  ssh_key_path: null,
  jobs_remote_dir: null,
  tasks_remote_dir: null,
  pixi_cache_dir: null,
};

const problemsWith = (kind: Kind, field: string, value: unknown) =>
  problemsOf(ProfileWrite, changed(EXAMPLES[kind], [field], value));
const storedWith = (kind: Kind, field: string, value: unknown) =>
  valueOf(ProfileWrite, changed(EXAMPLES[kind], [field], value)) as unknown as Record<string, unknown>;

describe('a profile', () => {
  it.each(KINDS)('of %s is stored with null for all that it does not have', (kind) => {
    expect(valueOf(ProfileWrite, EXAMPLES[kind])).toEqual({ ...EMPTY, ...EXAMPLES[kind] });
  });

  it.each(KINDS)('of %s may be sent back as it was read', (kind) => {
    const read = { ...EMPTY, ...EXAMPLES[kind], id: 3, resource_id: 4 };
    expect(valueOf(ProfileWrite, read)).toEqual({ ...EMPTY, ...EXAMPLES[kind] });
  });

  it.each<[string, unknown, string]>([
    ['absent', undefined, 'union_tag_not_found'],
    ['null', null, 'union_tag_not_found'],
    ['unknown', 'slurm', 'union_tag_invalid'],
    ['a number', 0, 'union_tag_invalid'],
  ])('is refused as a whole when its resource_type is %s', (_, value, type) => {
    expect(problemsWith('local', 'resource_type', value)).toEqual([{ loc: ['body'], type }]);
  });

  it.each<[unknown]>([[[]], ['local'], [5]])('is an object, not %j', (body) => {
    expect(problemsOf(ProfileWrite, body)).toEqual([{ loc: ['body'], type: 'union_tag_not_found' }]);
  });

  it.each<[unknown, string]>([
    [undefined, 'missing'],
    [null, 'string_type'],
    [5, 'string_type'],
    [' ', 'string_too_short'],
    ['a\u0000', 'value_error'],
  ])('needs a name; %j is refused with %s', (value, type) => {
    for (const kind of KINDS) {
      expect(problemsWith(kind, 'name', value)).toEqual([{ loc: ['body', kind, 'name'], type }]);
    }
  });

  it.each<[Kind, string, unknown, string]>([
    ['local', 'username', 'ada', 'none_required'],
    ['local', 'username', '', 'none_required'],
    ['local', 'ssh_key_path', '/keys/ada', 'none_required'],
    ['local', 'jobs_remote_dir', '/jobs', 'none_required'],
    ['local', 'tasks_remote_dir', '/tasks', 'none_required'],
    ['local', 'pixi_cache_dir', '/cache', 'none_required'],
    ['slurm_sudo', 'username', undefined, 'missing'],
    ['slurm_sudo', 'username', null, 'string_type'],
    ['slurm_sudo', 'username', ' ', 'string_too_short'],
    ['slurm_sudo', 'ssh_key_path', '/keys/ada', 'none_required'],
    ['slurm_sudo', 'jobs_remote_dir', '/jobs', 'none_required'],
    ['slurm_sudo', 'tasks_remote_dir', '/tasks', 'none_required'],
    ['slurm_sudo', 'pixi_cache_dir', '/cache', 'none_required'],
    ['slurm_ssh', 'username', undefined, 'missing'],
    ['slurm_ssh', 'username', null, 'string_type'],
    ['slurm_ssh', 'ssh_key_path', undefined, 'missing'],
    ['slurm_ssh', 'ssh_key_path', null, 'string_type'],
    ['slurm_ssh', 'ssh_key_path', 'keys/ada', 'value_error'],
    ['slurm_ssh', 'jobs_remote_dir', undefined, 'missing'],
    ['slurm_ssh', 'jobs_remote_dir', '/home/../jobs', 'value_error'],
    ['slurm_ssh', 'tasks_remote_dir', undefined, 'missing'],
    ['slurm_ssh', 'tasks_remote_dir', '', 'string_too_short'],
    ['slurm_ssh', 'pixi_cache_dir', 'cache', 'value_error'],
    ['slurm_ssh', 'pixi_cache_dir', '', 'string_too_short'],
    ['slurm_ssh', 'pixi_cache_dir', 5, 'string_type'],
  ])('of %s: %s %j is refused with %s', (kind, field, value, type) => {
    expect(problemsWith(kind, field, value)).toEqual([{ loc: ['body', kind, field], type }]);
  });

  it.each<[Kind, string, unknown, unknown]>([
    ['local', 'name', ' a ', 'a'],
    ['slurm_sudo', 'username', ' ada ', 'ada'],
    ['slurm_ssh', 'ssh_key_path', ' /keys//ada ', '/keys/ada'],
    ['slurm_ssh', 'jobs_remote_dir', '/jobs/', '/jobs'],
    ['slurm_ssh', 'tasks_remote_dir', '//tasks/.', '//tasks'],
    ['slurm_ssh', 'pixi_cache_dir', null, null],
    ['slurm_ssh', 'pixi_cache_dir', '/cache/', '/cache'],
  ])('of %s: %s %j is stored as %j', (kind, field, value, expected) => {
    expect(storedWith(kind, field, value)[field]).toBe(expected);
  });

  it('says all that is wrong in one go', () => {
    const problems = problemsOf(ProfileWrite, { resource_type: 'slurm_ssh' });
    expect(problems.map(({ loc }) => loc.at(-1)).sort()).toEqual(
      ['name', 'username', 'ssh_key_path', 'jobs_remote_dir', 'tasks_remote_dir'].sort(),
    );
    expect(problems.every(({ type, loc }) => type === 'missing' && loc[1] === 'slurm_ssh')).toBe(true);
  });
});
