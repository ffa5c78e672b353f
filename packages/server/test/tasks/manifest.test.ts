import { describe, expect, it } from 'vitest';

import { ManifestProblem, readManifest, tasksOfManifest } from '../../src/tasks/manifest.ts';

const entry = (fields: object = {}) => ({ name: 'A task', executable_parallel: 'a.py', ...fields });
const manifestOf = (tasks: object[], fields: object = {}) => ({ manifest_version: '2', task_list: tasks, ...fields });

const problemOf = (manifest: unknown) => {
  const read = readManifest(typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  return 'problem' in read ? read.problem : undefined;
};

function tasksOf(manifest: unknown, place: Partial<Parameters<typeof tasksOfManifest>[1]> = {}) {
  const read = readManifest(typeof manifest === 'string' ? manifest : JSON.stringify(manifest));
  if ('problem' in read) throw new Error(read.problem);
  return tasksOfManifest(read.manifest, {
    python: '/env/bin/python',
    packageRoot: '/env/pkg',
    version: '1.2',
    ...place,
  });
}

describe('reading a manifest', () => {
  it.each([
    ['', 'the manifest: '],
    ['{', 'The manifest is not valid JSON'],
    ['[]', 'the manifest: '],
    ['['.repeat(5000) + ']'.repeat(5000), 'nested too deeply'],
    [{}, 'manifest_version: '],
    [{ manifest_version: '1', task_list: [] }, 'manifest_version: '],
    [{ manifest_version: 2, task_list: [] }, 'manifest_version: '],
    [{ manifest_version: '2' }, 'task_list: '],
    [manifestOf([{ executable_parallel: 'a.py' }]), 'task_list.0.name: '],
    [manifestOf([entry({ name: '  ' })]), 'task_list.0.name: '],
    [manifestOf([entry(), entry({ name: ' A task ' })]), 'task_list: Two tasks have the same name'],
    [manifestOf([entry(), { name: 'b' }]), 'task_list.1: A task needs executable_parallel'],
    [manifestOf([entry({ executable_parallel: 3 })]), 'task_list.0.executable_parallel: '],
    [manifestOf([entry({ meta_non_parallel: { mem: 1 } })]), 'task_list.0.meta_non_parallel: '],
    [manifestOf([entry({ args_schema_non_parallel: {} })]), 'task_list.0.args_schema_non_parallel: '],
    [manifestOf([entry({ type: 'odd' })]), 'task_list.0.type: '],
    [manifestOf([entry({ category: '' })]), 'task_list.0.category: '],
    [manifestOf([entry({ tags: ['a', ' a '] })]), 'task_list.0.tags: '],
    [manifestOf([entry({ tags: ['a', ''] })]), 'task_list.0.tags.1: '],
    [manifestOf([entry({ input_types: { ' ': true } })]), 'task_list.0.input_types: '],
    [manifestOf([entry({ docs_link: 'ftp://x' })]), 'task_list.0.docs_link: '],
    [manifestOf([entry()], { has_args_schemas: true, args_schema_version: 'x' }), 'task_list.0.args_schema_parallel: '],
    [manifestOf([], { has_args_schemas: true }), 'args_schema_version: '],
    [manifestOf([], { authors: ' ' }), 'authors: '],
    [manifestOf([entry({ args_schema_parallel: { a: ['\u0000'] } })]), 'task_list.0.args_schema_parallel.a.0: '],
    [manifestOf([entry({ docs_info: '\ud800' })]), 'task_list.0.docs_info: '],
  ])('says where %j is wrong', (manifest, problem) => {
    expect(problemOf(manifest)).toContain(problem);
  });

  it('says everything that is wrong, a line each', () => {
    const problem = problemOf(manifestOf([entry({ name: '' }), entry({ type: 'odd' })]))!;
    expect(problem.split('\n').map((line) => line.split(':')[0])).toEqual(['task_list.0.name', 'task_list.1.type']);
  });

  it('takes a byte order mark, unknown keys, no tasks, and schemas nobody announced', () => {
    expect(problemOf(`\uFEFF${JSON.stringify(manifestOf([entry({ new: 1 })], { also_new: 1 }))}`)).toBeUndefined();
    expect(tasksOf(manifestOf([]))).toEqual([]);
    const [task] = tasksOf(manifestOf([entry({ args_schema_parallel: { a: 1 } })], { args_schema_version: 'v' }));
    expect(task).toMatchObject({ args_schema_parallel: { a: 1 }, args_schema_version: null });
  });
});

describe('from a manifest to tasks', () => {
  it('gives every field, with commands, version and authors', () => {
    const task = entry({
      executable_non_parallel: 'sub/./init.py',
      type: 'converter_compound',
      input_types: { a: true },
      output_types: { b: false },
      meta_parallel: { mem: 1 },
      args_schema_parallel: { x: 1 },
      args_schema_non_parallel: { y: 1 },
      docs_info: '# Doc',
      docs_link: 'https://example.org',
      category: 'Conversion',
      modality: 'HCS',
      tags: ['3D'],
    });
    const head = { has_args_schemas: true, args_schema_version: 'pydantic_v2', authors: 'A, B' };
    expect(tasksOf(manifestOf([task], head))).toEqual([
      {
        name: 'A task',
        type: 'converter_compound',
        version: '1.2',
        command_non_parallel: '/env/bin/python /env/pkg/sub/init.py',
        command_parallel: '/env/bin/python /env/pkg/a.py',
        meta_non_parallel: {},
        meta_parallel: { mem: 1 },
        args_schema_non_parallel: { y: 1 },
        args_schema_parallel: { x: 1 },
        args_schema_version: 'pydantic_v2',
        docs_info: '# Doc',
        docs_link: 'https://example.org',
        input_types: { a: true },
        output_types: { b: false },
        category: 'Conversion',
        modality: 'HCS',
        authors: 'A, B',
        tags: ['3D'],
      },
    ]);
  });

  it.each([
    ['parallel', { executable_parallel: 'a.py' }],
    ['non_parallel', { executable_parallel: null, executable_non_parallel: 'a.py' }],
    ['compound', { executable_parallel: 'a.py', executable_non_parallel: 'b.py' }],
    ['compound', { executable_parallel: 'a.py', executable_non_parallel: 'b.py', type: null }],
    ['converter_non_parallel', { executable_non_parallel: 'b.py', type: 'converter_non_parallel' }],
  ])('finds out the type %s', (type, fields) => {
    expect(tasksOf(manifestOf([entry(fields)]))[0]!.type).toBe(type);
  });

  it.each([
    ['/other/a.py', {}, '/env/bin/python /other/a.py'],
    ['a//b.py', { packageRoot: '/env/pkg/' }, '/env/bin/python /env/pkg/a/b.py'],
    ['a b.py', {}, `/env/bin/python '/env/pkg/a b.py'`],
    [`o'n.py`, { python: '/a b/python' }, `'/a b/python' '/env/pkg/o'"'"'n.py'`],
  ])('makes the command of %j', (executable_parallel, place, command) => {
    expect(tasksOf(manifestOf([entry({ executable_parallel })]), place)[0]!.command_parallel).toBe(command);
  });

  it.each([
    ['a.py; rm -rf /', {}],
    ['a.py\nrm', {}],
    ['$(x)', {}],
    ['', {}],
    [' ', {}],
    ['a.py', { python: '/env/`x`' }],
    ['a.py', { packageRoot: '/env/{x}' }],
  ])('refuses the command of %j in %j and says where it is', (executable_parallel, place) => {
    const manifest = manifestOf([entry({ name: 'fine', executable_parallel: 'a' }), entry({ executable_parallel })]);
    const only = manifestOf([entry({ executable_parallel })]);
    expect(() => tasksOf(only, place)).toThrow(ManifestProblem);
    expect(() => tasksOf(only, place)).toThrow('task_list.0.executable_parallel: ');
    if (Object.keys(place).length === 0) expect(() => tasksOf(manifest)).toThrow('task_list.1.executable_parallel: ');
  });

  it('keeps numbers as they were written', () => {
    const text = JSON.stringify(manifestOf([entry({ args_schema_parallel: { default: '@' } })])).replace('"@"', '1.0');
    expect(JSON.stringify(tasksOf(text)[0]!.args_schema_parallel)).toBe('{"default":1.0}');
  });
});
