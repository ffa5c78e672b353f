/** What is sent to create and change accounts and groups. */
import { describe, expect, it } from 'vitest';

import {
  UserCreate,
  UserGroupCreate,
  UserGroupUpdate,
  UserUpdate,
  UserUpdateGroups,
  UserUpdateStrict,
} from '../src/index.ts';
import { type Loc, problemsOf, valueOf } from './support/reading.ts';

const ACCOUNT = { email: 'ada@example.org', password: 'secret', project_dirs: ['/data'] };

/** Rules of `slurm-accounts`, wherever such a list is taken. */
const BAD_SLURM_ACCOUNTS: [unknown, Loc, string][] = [
  [null, [], 'list_type'],
  ['lab', [], 'list_type'],
  [{}, [], 'list_type'],
  [['lab', 'lab'], [], 'value_error'],
  [['lab', ''], [1], 'string_too_short'],
  [['lab', ' b'], [1], 'string_pattern_mismatch'],
  [['a b'], [0], 'string_pattern_mismatch'],
  [['a\n'], [0], 'string_pattern_mismatch'],
  [['lâb'], [0], 'string_pattern_mismatch'],
  [['a/b'], [0], 'string_pattern_mismatch'],
  [[5], [0], 'string_type'],
  [[null], [0], 'string_type'],
];
const GOOD_SLURM_ACCOUNTS = [[], ['lab'], ['b', 'a'], ['Lab', 'lab'], ['a_b-c.d', '0', '.', '-']];

/** Rules of fields that registration and update share. */
const BAD_FIELDS: [string, unknown, Loc, string][] = [
  ['email', null, [], 'string_type'],
  ['email', 'ada', [], 'value_error'],
  ['project_dirs', null, [], 'list_type'],
  ['project_dirs', '/data', [], 'list_type'],
  ['project_dirs', [], [], 'too_short'],
  ['project_dirs', ['/data', '/data/'], [], 'value_error'],
  ['project_dirs', ['/a', '/da$ta'], [], 'value_error'],
  ['profile_id', 'x', [], 'int_parsing'],
  ['profile_id', 1.5, [], 'int_from_float'],
  ['profile_id', [], [], 'int_type'],
  ['is_guest', null, [], 'bool_type'],
  ['is_guest', 'maybe', [], 'bool_parsing'],
  ...BAD_SLURM_ACCOUNTS.map(([value, loc, type]): [string, unknown, Loc, string] => [
    'slurm_accounts',
    value,
    loc,
    type,
  ]),
];

describe('registration', () => {
  it('needs an e-mail address, a password and a project folder; the rest has defaults', () => {
    expect(valueOf(UserCreate, ACCOUNT)).toEqual({
      ...ACCOUNT,
      slurm_accounts: [],
      profile_id: null,
      is_guest: false,
    });
  });

  it('names all that is missing, in one go', () => {
    expect(problemsOf(UserCreate, {})).toEqual([
      { loc: ['body', 'email'], type: 'missing' },
      { loc: ['body', 'password'], type: 'missing' },
      { loc: ['body', 'project_dirs'], type: 'missing' },
    ]);
  });

  it.each<[unknown]>([[[]], ['ada'], [5]])('takes an object, not %j', (body) => {
    expect(problemsOf(UserCreate, body)).toEqual([{ loc: ['body'], type: 'model_attributes_type' }]);
  });

  it('ignores keys that it does not know', () => {
    expect(valueOf(UserCreate, { ...ACCOUNT, username: 'ada' })).not.toHaveProperty('username');
  });

  it.each(['  secret ', '', ' ', 'pässwörd'])('takes the password exactly as sent: %j', (password) => {
    expect(valueOf(UserCreate, { ...ACCOUNT, password }).password).toBe(password);
  });

  it.each<[string, unknown, unknown]>([
    ['email', ' Ada <Ada@EXAMPLE.org> ', 'Ada@example.org'],
    ['project_dirs', ['/b/', 's3://bucket/key/'], ['/b', 's3://bucket/key/']],
    ['profile_id', '3', 3],
    ['profile_id', null, null],
    ['is_guest', 'yes', true],
  ])('reads %s %j as %j', (field, value, expected) => {
    expect(valueOf(UserCreate, { ...ACCOUNT, [field]: value })).toMatchObject({ [field]: expected });
  });

  it.each(['is_active', 'is_superuser', 'is_verified'])('takes %s as a flag or null, which changes nothing', (flag) => {
    for (const value of [true, 'false', 0, null])
      expect(problemsOf(UserCreate, { ...ACCOUNT, [flag]: value })).toEqual([]);
    expect(problemsOf(UserCreate, { ...ACCOUNT, [flag]: 'maybe' })).toEqual([
      { loc: ['body', flag], type: 'bool_parsing' },
    ]);
  });

  it.each<[string, unknown, Loc, string]>([
    ...BAD_FIELDS,
    ['password', null, [], 'string_type'],
    ['password', 1234, [], 'string_type'],
    ['password', 'a\u0000b', [], 'value_error'],
  ])('refuses %s %j at %j with %s', (field, value, loc, type) => {
    expect(problemsOf(UserCreate, { ...ACCOUNT, [field]: value })).toEqual([{ loc: ['body', field, ...loc], type }]);
  });

  it.each(GOOD_SLURM_ACCOUNTS.map((list) => [list]))('takes the Slurm accounts %j as they are', (slurm_accounts) => {
    expect(valueOf(UserCreate, { ...ACCOUNT, slurm_accounts })).toMatchObject({ slurm_accounts });
  });
});

describe('the update of an account', () => {
  it.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{}, {}],
    [{ profile_id: null }, { profile_id: null }],
    [{ profile_id: '3' }, { profile_id: 3 }],
    [{ password: ' secret ' }, { password: 'secret' }],
    [{ email: 'ada@EXAMPLE.org' }, { email: 'ada@example.org' }],
    [
      { is_active: 0, is_superuser: 'no' },
      { is_active: false, is_superuser: false },
    ],
    [
      { is_verified: true, is_guest: 'f' },
      { is_verified: true, is_guest: false },
    ],
    [{ project_dirs: ['/b/', '/a'] }, { project_dirs: ['/b', '/a'] }],
    [{ slurm_accounts: [] }, { slurm_accounts: [] }],
  ])('%j reads as %j; what is absent stays absent', (body, expected) => {
    // Strict, because a key that is present but undefined would be a change.
    expect(valueOf(UserUpdate, body)).toStrictEqual(expected);
  });

  it.each<[string, unknown, Loc, string]>([
    ...BAD_FIELDS,
    ['password', null, [], 'string_type'],
    ['password', '', [], 'string_too_short'],
    ['password', '   ', [], 'string_too_short'],
    ['is_active', null, [], 'bool_type'],
    ['is_superuser', null, [], 'bool_type'],
    ['is_verified', null, [], 'bool_type'],
    ['id', 1, [], 'extra_forbidden'],
    ['username', 'ada', [], 'extra_forbidden'],
    ['group_ids_names', null, [], 'extra_forbidden'],
  ])('refuses %s %j at %j with %s', (field, value, loc, type) => {
    expect(problemsOf(UserUpdate, { [field]: value })).toEqual([{ loc: ['body', field, ...loc], type }]);
  });
});

describe('the update of an own account', () => {
  it.each([{}, ...GOOD_SLURM_ACCOUNTS.map((slurm_accounts) => ({ slurm_accounts }))])('takes %j', (body) => {
    expect(valueOf(UserUpdateStrict, body)).toStrictEqual(body);
  });

  it.each(BAD_SLURM_ACCOUNTS)('refuses the Slurm accounts %j at %j with %s', (slurm_accounts, loc, type) => {
    expect(problemsOf(UserUpdateStrict, { slurm_accounts })).toEqual([
      { loc: ['body', 'slurm_accounts', ...loc], type },
    ]);
  });

  it.each<[string, unknown]>([
    ['password', 'secret'],
    ['email', 'ada@example.org'],
    ['is_superuser', true],
    ['profile_id', 1],
    ['project_dirs', ['/data']],
  ])('cannot change %s', (field, value) => {
    expect(problemsOf(UserUpdateStrict, { slurm_accounts: [], [field]: value })).toEqual([
      { loc: ['body', field], type: 'extra_forbidden' },
    ]);
  });
});

describe('the groups of an account', () => {
  it.each<[unknown[], number[]]>([
    [[1], [1]],
    [
      [2, '1', 0],
      [2, 1, 0],
    ],
  ])('are set from %j', (group_ids, expected) => {
    expect(valueOf(UserUpdateGroups, { group_ids })).toEqual({ group_ids: expected });
  });

  it('beyond 32 bits are unknown ones, not a repetition', () => {
    expect(problemsOf(UserUpdateGroups, { group_ids: [3_000_000_000, 3_000_000_001] })).toEqual([]);
  });

  it.each<[unknown, Loc, string]>([
    [{}, ['group_ids'], 'missing'],
    [{ group_ids: null }, ['group_ids'], 'list_type'],
    [{ group_ids: 1 }, ['group_ids'], 'list_type'],
    [{ group_ids: [] }, ['group_ids'], 'too_short'],
    [{ group_ids: [1, 1] }, ['group_ids'], 'value_error'],
    [{ group_ids: [1, '1'] }, ['group_ids'], 'value_error'],
    [{ group_ids: [1, -1] }, ['group_ids', 1], 'greater_than_equal'],
    [{ group_ids: ['x'] }, ['group_ids', 0], 'int_parsing'],
    [{ group_ids: [null] }, ['group_ids', 0], 'int_type'],
    [{ group_ids: [1], user_id: 1 }, ['user_id'], 'extra_forbidden'],
  ])('are refused: %j at %j with %s', (body, loc, type) => {
    expect(problemsOf(UserUpdateGroups, body)).toEqual([{ loc: ['body', ...loc], type }]);
  });
});

describe('a group', () => {
  it('is created with a trimmed name, and renamed where a name is given', () => {
    expect(valueOf(UserGroupCreate, { name: ' Lab ' })).toEqual({ name: 'Lab' });
    expect(valueOf(UserGroupUpdate, { name: ' Lab ' })).toEqual({ name: 'Lab' });
    expect(valueOf(UserGroupUpdate, {})).toStrictEqual({});
    expect(problemsOf(UserGroupCreate, {})).toEqual([{ loc: ['body', 'name'], type: 'missing' }]);
  });

  it.each<[unknown, string, string]>([
    [{ name: ' ' }, 'name', 'string_too_short'],
    [{ name: null }, 'name', 'string_type'],
    [{ name: 5 }, 'name', 'string_type'],
    [{ name: 'a\u0000' }, 'name', 'value_error'],
    [{ name: 'Lab', new_user_ids: [1] }, 'new_user_ids', 'extra_forbidden'],
  ])('is refused: %j at %s with %s', (body, field, type) => {
    expect(problemsOf(UserGroupCreate, body)).toEqual([{ loc: ['body', field], type }]);
    expect(problemsOf(UserGroupUpdate, body)).toEqual([{ loc: ['body', field], type }]);
  });
});
