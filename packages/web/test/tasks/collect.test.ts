import { describe, expect, test } from 'vitest';

import { ofPhase, phasesIn, phasesOf } from '../../src/lib/phases.ts';
import {
  customBody,
  type CustomFields,
  customProblems,
  emptyPackage,
  fieldOfRefusal,
  packageForm,
  packageProblems,
  pinProblem,
  pixiForm,
  pixiProblems,
} from '../../src/lib/tasks/collect.ts';
import { detectDialect } from '../../src/lib/tasks/dialects.ts';
import { initialSharing, sharingProblem, sharingQuery } from '../../src/lib/tasks/groups.ts';
import { readManifest } from '../../src/lib/tasks/manifest.ts';
import { detected, emptySingle, singleBody, singleProblems } from '../../src/lib/tasks/single.ts';

const file = (name: string) => new File(['x'], name);
const entries = (form: FormData) =>
  Object.fromEntries([...form].map(([name, value]) => [name, typeof value === 'string' ? value : value.name]));

describe('a package of the index', () => {
  test('needs a name', () => {
    const empty = emptyPackage('index');
    expect(packageProblems(empty)).toEqual({ package: 'Enter a package name.' });
    expect(packageProblems({ ...empty, package: 'a b' })['package']).toMatch(/letters, digits/);
    expect(packageProblems({ ...empty, package: ' cellseg-tasks ' })).toEqual({});
  });

  test('is sent without what is empty, pins as JSON by their time', () => {
    const pins = [
      { name: 'numpy', version: '2.1.3', when: 'pre' as const },
      { name: 'dask', version: '1', when: 'pre' as const },
    ];
    expect(
      entries(packageForm({ ...emptyPackage('index'), package: ' cellseg ', python_version: '3.12', pins })),
    ).toEqual({
      package: 'cellseg',
      python_version: '3.12',
      pinned_package_versions_pre: '{"numpy":"2.1.3","dask":"1"}',
    });
  });

  test('a pin has a name and a version', () => {
    expect(pinProblem({ name: 'num py', version: '1' })).toMatch(/package name/);
    expect(pinProblem({ name: 'numpy', version: ' ' })).toMatch(/version/);
    expect(pinProblem({ name: 'numpy', version: '2.1.3' })).toBeUndefined();
  });
});

describe('files', () => {
  test('a wheel ends in .whl and takes no name beside it', () => {
    const empty = emptyPackage('wheel');
    expect(packageProblems(empty)).toEqual({ file: 'Choose a wheel file.' });
    expect(packageProblems({ ...empty, file: file('a.zip') })['file']).toMatch(/\.whl/);
    expect(entries(packageForm({ ...empty, package: 'left over', file: file('a-1-py3-none-any.whl') }))).toEqual({
      file: 'a-1-py3-none-any.whl',
    });
  });

  test('a pixi project ends in .tar.gz and says whether its lock file counts', () => {
    const fields = { file: undefined, pixi_version: '', use_pixi_lockfile: true };
    expect(pixiProblems(fields)['file']).toMatch(/pixi project/);
    expect(pixiProblems({ ...fields, file: file('a.zip') })['file']).toMatch(/\.tar\.gz/);
    expect(entries(pixiForm({ ...fields, file: file('a-1.tar.gz') }))).toEqual({
      file: 'a-1.tar.gz',
      use_pixi_lockfile: 'true',
    });
  });
});

describe('an environment of one’s own', () => {
  const good: CustomFields = {
    python_interpreter: '/envs/a/bin/python',
    manifest: { manifest_version: '2' },
    label: 'cellseg',
    version: '1',
    package_name: 'cellseg',
    package_root: '',
  };

  test('has a whole path, a manifest, a name, a version, and one way to the package', () => {
    expect(customProblems(good)).toEqual({});
    expect(customProblems({ ...good, python_interpreter: 'bin/python' })).toHaveProperty('python_interpreter');
    expect(customProblems({ ...good, package_root: '/envs/a/cellseg' })).toEqual({
      package_root: 'Enter the name or the folder, not both.',
    });
    expect(customProblems({ ...good, package_name: '' })).toHaveProperty('package_name');
    expect(customProblems({ ...good, package_name: '', package_root: 'lib' })).toHaveProperty('package_root');
    expect(Object.keys(customProblems({ ...good, manifest: undefined, label: '', version: ' ' })).sort()).toEqual([
      'label',
      'manifest',
      'version',
    ]);
  });

  test('sends the one that was given', () => {
    expect(customBody(good)).toEqual({
      python_interpreter: '/envs/a/bin/python',
      label: 'cellseg',
      version: '1',
      package_name: 'cellseg',
      manifest: good.manifest,
    });
    expect(customBody({ ...good, package_name: '', package_root: '/envs/a/cellseg' })).not.toHaveProperty(
      'package_name',
    );
  });
});

describe('a manifest', () => {
  const task = { name: 'Segment', executable_parallel: 'segment.py' };
  const written = (fields: object) => JSON.stringify({ manifest_version: '2', task_list: [task], ...fields });
  const problem = (fields: object) => {
    const read = readManifest(written(fields));
    return 'problem' in read ? read.problem : undefined;
  };

  test('is read with the names of its tasks', () => {
    expect(readManifest(written({}))).toMatchObject({ tasks: ['Segment'] });
  });

  test.each([
    ['what is no JSON', '{', /not JSON.*Line 1/],
    ['what is no object', '[]', /no JSON object/],
    ['another file', '{}', /manifest_version is missing/],
  ])('refuses %s', (_, text, words) => {
    const read = readManifest(text);
    expect('problem' in read && read.problem).toMatch(words);
  });

  test.each([
    ['an older version', { manifest_version: '1' }, /version 1/],
    ['a version that is a number', { manifest_version: 2 }, /written as "2"/],
    ['an unknown kind of schemas', { args_schema_version: 'pydantic_v9' }, /pydantic_v9 are not supported/],
    ['schemas without their kind', { has_args_schemas: true }, /args_schema_version/],
    ['no tasks', { task_list: [] }, /no tasks/],
    ['a task without a name', { task_list: [{ executable_parallel: 'a.py' }] }, /Task number 1 has no name/],
    ['a task that cannot be started', { task_list: [{ name: 'A' }] }, /Task A has no executable/],
    ['an unknown kind of task', { task_list: [{ ...task, type: 'sideways' }] }, /unknown type, sideways/],
    [
      'a missing schema',
      { has_args_schemas: true, args_schema_version: 'pydantic_v2' },
      /Segment has no args_schema_parallel/,
    ],
    [
      'a schema without its program',
      { task_list: [{ ...task, args_schema_non_parallel: {} }] },
      /no executable_non_par/,
    ],
    ['two of one name', { task_list: [task, task] }, /Two tasks have the name Segment/],
  ])('refuses %s', (_, fields, words) => {
    expect(problem(fields)).toMatch(words);
  });
});

describe('dialects of schemas', () => {
  const properties = { size: { type: 'integer', default: 3 } };
  test('2020-12 is pydantic 2', () => {
    expect(detectDialect([{ type: 'object', properties, $defs: { A: { prefixItems: [{ type: 'string' }] } } }])).toBe(
      'pydantic_v2',
    );
  });

  test('lists of schemas as items are draft 7, pydantic 1', () => {
    expect(
      detectDialect([{ type: 'object', properties: { pair: { type: 'array', items: [{ type: 'number' }] } } }]),
    ).toBe('pydantic_v1');
  });

  test('both parts count', () => {
    const older = { properties: { pair: { items: [{ type: 'number' }] } } };
    expect(detectDialect([{ type: 'object', properties }, older])).toBe('pydantic_v1');
  });

  test('anything else is neither', () => {
    expect(detectDialect([{ type: 'thing' }])).toBeUndefined();
    expect(detectDialect([{ properties: [] }])).toBeUndefined();
    expect(detectDialect([{ properties: { a: { minimum: true } } }])).toBeUndefined();
  });
});

describe('what belongs to a phase', () => {
  test.each([
    ['compound', ['Init command', 'Compute command']],
    ['converter_compound', ['Init command', 'Compute command']],
    ['parallel', ['Command']],
    ['non_parallel', ['Command']],
    ['converter_non_parallel', ['Command']],
  ] as const)('of a task of the type %s is %j', (type, names) => {
    const phases = phasesOf(type);
    expect(phases.map((phase) => ofPhase('Command', phase, phases))).toEqual(names);
  });

  test('in a file is known by what is set', () => {
    const nothing = { args_non_parallel: null, args_parallel: null, meta_non_parallel: null, meta_parallel: null };
    expect(phasesIn(nothing)).toEqual([]);
    expect(phasesIn({ ...nothing, args_non_parallel: {} })).toEqual(['non_parallel']);
    expect(phasesIn({ ...nothing, meta_parallel: {} }, { ...nothing, args_non_parallel: {} })).toEqual([
      'non_parallel',
      'parallel',
    ]);
  });
});

describe('one task by hand', () => {
  const named = { ...emptySingle(), name: 'Segment', version: '1' };

  test.each([
    ['parallel', ['parallel']],
    ['non_parallel', ['non_parallel']],
    ['compound', ['non_parallel', 'parallel']],
    ['converter_non_parallel', ['non_parallel']],
    ['converter_compound', ['non_parallel', 'parallel']],
  ] as const)('%s has its commands', (type, phases) => {
    expect(phasesOf(type)).toEqual(phases);
    const problems = singleProblems({ ...named, type });
    expect(Object.keys(problems)).toEqual(phases.map((phase) => `command_${phase}`));
    const commands = { non_parallel: 'python init.py', parallel: 'python run.py' };
    const body = singleBody({ ...named, type, commands });
    expect(Object.keys(body).filter((key) => key.startsWith('command'))).toEqual(
      phases.map((phase) => `command_${phase}`),
    );
    expect(body).toMatchObject({ name: 'Segment', version: '1', type });
  });

  test('says at the field what is wrong', () => {
    expect(Object.keys(singleProblems(emptySingle()))).toEqual(['name', 'version', 'command_parallel']);
    const commands = { non_parallel: '', parallel: 'python run.py' };
    expect(singleProblems({ ...named, commands, docs_link: 'example.org' })).toHaveProperty('docs_link');
    expect(singleProblems({ ...named, commands, input_types: [{ key: ' ', value: true }] })).toHaveProperty(
      'input_types',
    );
    const twice = [
      { key: '3D', value: true },
      { key: '3D', value: false },
    ];
    expect(singleProblems({ ...named, commands, output_types: twice })['output_types']).toBe('3D is listed twice.');
    expect(singleProblems({ ...named, commands, schemas: { parallel: { type: 'thing' } } })).toHaveProperty(
      'args_schema_parallel',
    );
  });

  test('the kind of its schemas is detected and can be changed', () => {
    const commands = { non_parallel: '', parallel: 'python run.py' };
    const fields = { ...named, commands, schemas: { parallel: { type: 'object' } } };
    expect(detected(named)).toBeUndefined();
    expect(detected(fields)).toBe('pydantic_v2');
    expect(singleBody(fields)).toMatchObject({
      args_schema_version: 'pydantic_v2',
      args_schema_parallel: { type: 'object' },
    });
    expect(singleBody({ ...fields, dialect: 'pydantic_v1' })).toMatchObject({ args_schema_version: 'pydantic_v1' });
    expect(singleBody(named)).not.toHaveProperty('args_schema_version');
  });

  test('converters take no images, and what another kind had is not sent', () => {
    const fields = {
      ...named,
      type: 'converter_non_parallel' as const,
      commands: { non_parallel: 'python a.py', parallel: 'left over' },
      input_types: [{ key: '3D', value: true }],
      output_types: [{ key: ' 3D ', value: false }],
      metas: { parallel: { cpus: 2 } },
    };
    expect(singleBody(fields)).toEqual({
      name: 'Segment',
      version: '1',
      type: 'converter_non_parallel',
      command_non_parallel: 'python a.py',
      output_types: { '3D': false },
    });
  });
});

describe('who can use it', () => {
  const groups = [
    [1, 'All'],
    [2, 'Facility'],
  ] as const;

  test('begins with the default group, else with the only one', () => {
    expect(initialSharing(groups, 'All')).toEqual({ private: false, user_group_id: 1 });
    expect(initialSharing([[2, 'Facility']], undefined)).toEqual({ private: false, user_group_id: 2 });
    expect(initialSharing(groups, undefined)).toEqual({ private: false, user_group_id: null });
    expect(initialSharing([], 'All')).toEqual({ private: true, user_group_id: null });
  });

  test('a group must be chosen, unless nobody else gets it', () => {
    expect(sharingProblem({ private: false, user_group_id: null })).toMatch(/Choose a group/);
    expect(sharingProblem({ private: true, user_group_id: null })).toBeUndefined();
    expect(sharingQuery({ private: true, user_group_id: 2 })).toEqual({ private: true });
    expect(sharingQuery({ private: false, user_group_id: 2 })).toEqual({ private: false, user_group_id: 2 });
  });
});

test('refusals that name a field stand at it', () => {
  const fields = ['package', 'package_version', 'file'];
  expect(fieldOfRefusal('package_version: Use digits.', fields)).toEqual({ package_version: 'Use digits.' });
  expect(fieldOfRefusal('The package index does not know zebra. Check the name.', fields)).toHaveProperty('package');
  expect(fieldOfRefusal('a has no version 9. The newest is 2.', fields)).toHaveProperty('package_version');
  expect(fieldOfRefusal('The uploaded file is not a wheel.', fields)).toHaveProperty('file');
  expect(fieldOfRefusal('This user group has cellseg 1 already.', fields)).toBeUndefined();
});
