import { describe, expect, it } from 'vitest';

import {
  archiveNameParts,
  extrasProblem,
  packageNameProblem,
  pinsProblem,
  versionProblem,
  wheelNameParts,
} from '../../src/tasks/package-names.ts';

/** What would leave a folder, end a command or begin an option, if it ever got that far. */
const DANGEROUS = [
  '',
  ' ',
  '..',
  '.',
  '.hidden',
  'a/b',
  '/a',
  'a\\b',
  'a\u0000b',
  'a b',
  'a\n',
  '\na',
  'a"\necho INJECTED\necho "',
  'a;id',
  'a|id',
  'a&&id',
  '$(id)',
  '`id`',
  '-r',
  '--index-url=http://x',
  'a @ file:///etc/passwd',
  'a#b',
  'a*',
  'é',
];

describe('the name of a wheel', () => {
  it.each([
    ['pkg-1.0-py3-none-any.whl', 'pkg', '1.0'],
    ['my_pkg-1.0.0rc1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl', 'my_pkg', '1.0.0rc1'],
    ['My.Pkg-1.0-2-py3-none-any.whl', 'My.Pkg', '1.0'],
    ['pkg-1!2.0+local.1-py2.py3-none-any.whl', 'pkg', '1!2.0+local.1'],
  ])('%s has its parts', (filename, name, version) => {
    expect(wheelNameParts(filename)).toEqual({ name, version });
  });

  it.each([
    'pkg-1.0.whl',
    'pkg-1.0-py3-none.whl',
    'pkg-1.0-1-2-py3-none-any.whl',
    'pkg-1.0-py3-none-any.zip',
    'pkg-1.0-py3-none-any.whl.txt',
    'pkg-1.0-py3-none-any.WHL',
    '-1.0-py3-none-any.whl',
    'pkg--py3-none-any.whl',
    'pkg-..-py3-none-any.whl',
    '../pkg-1.0-py3-none-any.whl',
    'pkg-../..-py3-none-any.whl',
    'pkg-1.0-py3-none-a/../../b.whl',
    'pkg-1.0-py3-none-any\\b.whl',
    'pkg-1.0-py3-none-any\u0000.whl',
    '.pkg-1.0-py3-none-any.whl',
    'pkg-1.0-py3-none-any;id.whl',
    'pkg-1.0-py3-none-any.whl\n',
    // a folder of this name could not be made, or not be moved aside
    `${'p'.repeat(300)}-1.0-py3-none-any.whl`,
    '',
  ])('is not %j', (filename) => {
    expect(wheelNameParts(filename)).toEqual({ problem: expect.stringContaining('is not the name of a wheel') });
  });
});

describe('the name of an archive', () => {
  it.each([
    ['mock_pixi_tasks-1.2.3.tar.gz', 'mock_pixi_tasks', '1.2.3'],
    ['a-1.tar.gz', 'a', '1'],
    ['A.b-1.0rc1+x.2.tar.gz', 'A.b', '1.0rc1+x.2'],
  ])('%s has its parts', (filename, name, version) => {
    expect(archiveNameParts(filename)).toEqual({ name, version });
  });

  it.each([
    // with these, the folder of all environments was removed once
    'x-../...tar.gz',
    'x-..tar.gz',
    'x-...tar.gz',
    'x-....tar.gz',
    'x-../../..tar.gz',
    'x-1/../../2.tar.gz',
    '../x-1.0.tar.gz',
    '/x-1.0.tar.gz',
    'a/x-1.0.tar.gz',
    'x-1.0/.tar.gz',
    '..\\x-1.0.tar.gz',
    'x-1\\2.tar.gz',
    'x-1\u00002.tar.gz',
    'x-1.0.tar.gz\u0000',
    'x-1.0.tar.gz\n',
    '.x-1.0.tar.gz',
    'x-.1.tar.gz',
    'x-1..0.tar.gz',
    'x..y-1.0.tar.gz',
    'x-1.0..tar.gz',
    '-1.0.tar.gz',
    'x-.tar.gz',
    'x-tar.gz',
    'x.tar.gz',
    '.tar.gz',
    'my-pkg-1.0.tar.gz',
    'x-1.0.tgz',
    'x-1.0.TAR.GZ',
    'x-1.0.zip',
    'x-1;id.tar.gz',
    'x-$(id).tar.gz',
    'x -1.0.tar.gz',
    `${'x'.repeat(300)}-1.0.tar.gz`,
    '',
  ])('is not %j', (filename) => {
    expect(archiveNameParts(filename)).toEqual({ problem: expect.stringContaining('package-version.tar.gz') });
  });
});

describe('names, versions, extras and pins', () => {
  it.each(['a', 'numpy', 'my-pkg', 'my_pkg', 'zope.interface', 'A1', '7zip'])('%s is the name of a package', (name) => {
    expect(packageNameProblem(name)).toBeUndefined();
  });

  it.each([...DANGEROUS, 'a[b]', '-a', 'a-', 'a.'])('%j is not the name of a package', (name) => {
    expect(packageNameProblem(name)).toEqual(expect.any(String));
  });

  it.each(['1', '1.2.3', '1.0rc1', '1!2.0', '1.0+local_1', '1.0.post1', 'v1'])('%s is a version', (version) => {
    expect(versionProblem(version)).toBeUndefined();
    expect(pinsProblem({ a: version })).toBeUndefined();
  });

  it.each([...DANGEROUS, '1.*', '>=1', '1,2'])('%j is not a version', (version) => {
    expect(versionProblem(version)).toEqual(expect.any(String));
    expect(pinsProblem({ a: version })).toContain('is not a version of a');
  });

  it.each(['a', 'a,b', ' a , b-c ', 'extra1,extra2'])('%j are extras', (extras) => {
    expect(extrasProblem(extras)).toBeUndefined();
  });

  it.each([...DANGEROUS.filter((text) => text !== 'a\n' && text !== '\na'), 'a,', ',', '[a]', 'a],b[c'])(
    '%j are not extras',
    (extras) => {
      expect(extrasProblem(extras)).toEqual(expect.any(String));
    },
  );

  it.each(['uvicorn[standard]', 'a[b,c]', 'a[b, c]', 'a'])('%s can be pinned', (name) => {
    expect(pinsProblem({ [name]: '1.0', b: '2' })).toBeUndefined();
  });

  it.each([...DANGEROUS, 'a[b', 'a[b]c', 'a[]', 'a[b]; id', 'a[$(id)]'])('%j cannot be pinned', (name) => {
    expect(pinsProblem({ b: '2', [name]: '1.0' })).toContain('is not the name of a package');
  });
});
