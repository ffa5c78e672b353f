/** Folders and S3 addresses; which folder covers which. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { cpuTimeOf } from '../../../tests/support/cpu-time.ts';
import { covers, normalisePath, readAbsolutePath, readProjectDir, readZarrUrl } from '../src/index.ts';
import { absolutePath, projectDirs } from '../src/wire/paths.ts';
import { problemsOf, valueOf } from './support/reading.ts';

/** One component of a path; `.` and `..` mean something else. */
const component = fc.stringMatching(/^[\w ~%'-][\w .~%'-]{0,8}$/);
const components = fc.array(component, { minLength: 1, maxLength: 5 });
const folder = fc.tuple(fc.constantFrom('/', '//'), components).map(([root, names]) => root + names.join('/'));
const s3Folder = components.map((names) => `s3://bucket/${names.join('/')}`);

describe('an absolute path', () => {
  it.each([
    ['/a/b', '/a/b'],
    [' /a/b\n', '/a/b'],
    ['/a/b/', '/a/b'],
    ['/a/b///', '/a/b'],
    ['/a//b', '/a/b'],
    ['/a/./b/.', '/a/b'],
    ['/./a', '/a'],
    ['/', '/'],
    ['/.', '/'],
    ['//', '//'],
    ['//a//b/', '//a/b'],
    ['///', '/'],
    ['///a', '/a'],
    ['////a', '/a'],
    ['/..b/c..', '/..b/c..'],
    ['/a/...', '/a/...'],
    ['/a b/c', '/a b/c'],
    ['/é/🙂', '/é/🙂'],
  ])('%j is kept as %j', (input, path) => {
    expect(readAbsolutePath(input)).toEqual({ value: path });
  });

  it.each<[string, unknown, string]>([
    ['a relative path', 'a/b', 'value_error'],
    ['a path from here', './a', 'value_error'],
    ['a path from home', '~/a', 'value_error'],
    ['an S3 address', 's3://bucket/key', 'value_error'],
    ['a step up at the start', '/..', 'value_error'],
    ['a step up in the middle', '/a/../b', 'value_error'],
    ['a step up at the end', '/a/..', 'value_error'],
    ['U+0000', '/a\u0000', 'value_error'],
    ['an empty text', '', 'string_too_short'],
    ['a blank text', '  ', 'string_too_short'],
    ['a number', 1, 'string_type'],
    ['null', null, 'string_type'],
  ])('is refused: %s', (_, input, type) => {
    expect(problemsOf(z.object({ it: absolutePath() }), { it: input })).toEqual([{ loc: ['body', 'it'], type }]);
  });

  it('is normalised once and for all', () => {
    const anyPath = fc.array(fc.oneof(component, fc.constantFrom('/', '//', '.', '..', '/./')));
    fc.assert(
      fc.property(
        fc.oneof(
          anyPath.map((parts) => `/${parts.join('')}`),
          fc.string(),
        ),
        (path) => {
          expect(normalisePath(normalisePath(path))).toBe(normalisePath(path));
        },
      ),
    );
  });

  it('that is accepted starts with a slash and has no empty, "." or ".." component', () => {
    const parts = fc.array(fc.oneof(component, fc.constantFrom('', '.', '..', '..b')));
    fc.assert(
      fc.property(parts, (names) => {
        const reading = readAbsolutePath(`/${names.join('/')}`);
        expect('problem' in reading).toBe(names.includes('..'));
        if ('problem' in reading) return;
        const kept = reading.value.replace(/^\/{1,2}/, '');
        expect(reading.value).toMatch(/^\//);
        if (kept !== '') expect(kept.split('/').filter((name) => ['', '.', '..'].includes(name))).toEqual([]);
      }),
    );
  });
});

describe('an S3 address', () => {
  const bucket = (name: string) => readProjectDir(`s3://${name}/key`);

  it.each([
    's3://bucket/key',
    's3://bucket/key/',
    's3://bucket/a//b/./c/..',
    's3://bucket//',
    's3://bucket/é 🙂',
    `s3://bucket/${'k'.repeat(1024)}`,
    `s3://bucket/${'é'.repeat(512)}`,
  ])('is stored as given: %s', (url) => {
    expect(readProjectDir(url)).toEqual({ value: url });
  });

  it('is trimmed first', () => {
    expect(readProjectDir('  s3://bucket/key ')).toEqual({ value: 's3://bucket/key' });
  });

  it.each([
    ['has no key', 's3://bucket'],
    ['has an empty key', 's3://bucket/'],
    ['has a blank key, once trimmed', 's3://bucket/ '],
    ['has no bucket', 's3:///key'],
    ['has nothing', 's3://'],
    ['is written in upper case', 'S3://bucket/key'],
    ['has another scheme', 'https://bucket/key'],
    ['has a key of 1025 bytes', `s3://bucket/${'k'.repeat(1025)}`],
    ['has a key of 1026 bytes in 513 characters', `s3://bucket/${'é'.repeat(513)}`],
    ['has a key that is not UTF-8', 's3://bucket/a\ud800'],
  ])('is refused when it %s', (_, url) => {
    expect(readProjectDir(url)).toMatchObject({ problem: { type: 'value_error' } });
  });

  it.each([
    ...['abc', 'a1c', '123', 'my-bucket.2', 'a--b', 'a'.repeat(63)],
    ...['1.2.3', '1.2.3.4.5', '1234.1.1.1'],
    ...['xn-a', 'my-xn--a', 'sthree', 'amzn-s3-demo', 's3alias', 'mrap'],
  ])('may have the bucket %s', (name) => {
    expect(bucket(name)).toEqual({ value: `s3://${name}/key` });
  });

  it.each([
    ['too short', 'ab'],
    ['too long', 'a'.repeat(64)],
    ['an upper-case letter', 'Bucket'],
    ['an underscore', 'my_bucket'],
    ['a space', 'my bucket'],
    ['a letter beyond ASCII', 'bücket'],
    ['a hyphen first', '-bucket'],
    ['a hyphen last', 'bucket-'],
    ['a dot first', '.bucket'],
    ['a dot last', 'bucket.'],
    ['two dots in a row', 'my..bucket'],
    ['an IPv4 address', '192.168.5.4'],
    ['the form of an IPv4 address', '999.999.999.999'],
    ['a reserved start', 'xn--bucket'],
    ['a reserved start', 'sthree-bucket'],
    ['a reserved start', 'amzn-s3-demo-bucket'],
    ['a reserved end', 'bucket-s3alias'],
    ['a reserved end', 'bucket--ol-s3'],
    ['a reserved end', 'bucket.mrap'],
    ['a reserved end', 'bucket--x-s3'],
    ['a reserved end', 'bucket--table-s3'],
  ])('may not have a bucket with %s: %s', (_, name) => {
    expect(bucket(name)).toMatchObject({ problem: { type: 'value_error' } });
  });
});

describe('a project folder', () => {
  it.each([
    ['an absolute path, normalised', ' /a//b/', { value: '/a/b' }],
    ['an S3 address as given', 's3://bucket/a//b/', { value: 's3://bucket/a//b/' }],
  ])('is %s', (_, input, reading) => {
    expect(readProjectDir(input)).toEqual(reading);
  });

  it.each<[unknown, string]>([
    ['a/b', 'value_error'],
    ['', 'string_too_short'],
    [5, 'string_type'],
  ])('is not %j', (input, type) => {
    expect(readProjectDir(input)).toMatchObject({ problem: { type } });
  });
});

describe('project folders', () => {
  const schema = z.object({ dirs: projectDirs() });
  const problems = (dirs: unknown) => problemsOf(schema, { dirs });

  it('keep their order, because the first one is the default', () => {
    expect(valueOf(schema, { dirs: ['/z/', '/a', 's3://bucket/key/'] })).toEqual({
      dirs: ['/z', '/a', 's3://bucket/key/'],
    });
  });

  it.each<[string, unknown, string]>([
    ['an empty list', [], 'too_short'],
    ['null', null, 'list_type'],
    ['a text', '/a', 'list_type'],
    ['an object', { 0: '/a' }, 'list_type'],
    ['a repetition', ['/a', '/b', '/a'], 'value_error'],
    ['a repetition once normalised', ['/a/b', ' /a//b/. '], 'value_error'],
  ])('are refused as a whole: %s', (_, dirs, type) => {
    expect(problems(dirs)).toEqual([{ loc: ['body', 'dirs'], type }]);
  });

  it('of S3 differ when their text differs, since S3 addresses are not normalised', () => {
    const dirs = ['s3://bucket/key', 's3://bucket/key/'];
    expect(valueOf(schema, { dirs })).toEqual({ dirs });
  });

  it.each<[unknown]>([['relative'], ['/a/../b'], ['s3://B/key'], ['s3://bucket/'], [''], [5], [null]])(
    'name the item that is wrong: %j',
    (dir) => {
      // Behind the index there may be a label of the alternative that was tried.
      const places = problems(['/fine', dir]).map(({ loc }) => loc.slice(0, 3));
      expect(places[0]).toEqual(['body', 'dirs', 1]);
      expect(new Set(places.map(String)).size).toBe(1);
    },
  );

  it.each([...'`#$&*()\\|[]{};<>?!'])('have no shell character: %s', (character) => {
    const whole = [{ loc: ['body', 'dirs'], type: 'value_error' }];
    expect(problems(['/fine', `/a${character}b`])).toEqual(whole);
    expect(problems([`s3://bucket/a${character}b`])).toEqual(whole);
  });

  it.each([' ', '"', "'", '%', '~', ',', '@', '=', '+', ':', '^'])('may have the character %j', (character) => {
    const dirs = [`/a${character}b`];
    expect(valueOf(schema, { dirs })).toEqual({ dirs });
  });
});

describe('covers', () => {
  it.each([
    ['/test', '/test', true],
    ['/test', '/test/data', true],
    ['/test/data', '/test', false],
    ['/d', '/dir1', false],
    ['/dir', '/dir1/dir', false],
    ['/', '/a', true],
    ['/a/', '/a', true],
    ['/a', '/a/', true],
    ['/a//b/.', '/a/b/c', true],
    ['//a', '/a/b', false],
    ['//a', '//a/b', true],
    ['s3://bucket/key', 's3://bucket/key', true],
    ['s3://bucket/key/', 's3://bucket/key', true],
    ['s3://bucket/key', 's3://bucket/key///', true],
    ['s3://bucket/key/', 's3://bucket/key/data', true],
    ['s3://bucket/key', 's3://bucket/key1', false],
    ['s3://bucket/key', 's3://other/key', false],
    ['/', 's3://bucket/key', false],
    ['s3://bucket/key', '/bucket/key', false],
  ])('(%j, %j) is %s', (base, path, expected) => {
    expect(covers(base, path)).toBe(expected);
  });

  it('everything below a folder, and not the other way round', () => {
    fc.assert(
      fc.property(fc.oneof(folder, s3Folder), components, (base, below) => {
        const path = `${base}/${below.join('/')}`;
        expect(covers(base, base)).toBe(true);
        expect(covers(base, path)).toBe(true);
        expect(covers(path, base)).toBe(false);
      }),
    );
  });

  it('never a sibling whose name starts the same', () => {
    fc.assert(
      fc.property(fc.oneof(folder, s3Folder), component, fc.array(component), (base, suffix, below) => {
        expect(covers(base, [base + suffix, ...below].join('/'))).toBe(false);
      }),
    );
  });
});

it('ten thousand addresses that are mostly slashes are read in no time', () => {
  const address = `s3://bucket${'/'.repeat(1980)}x`;
  expect(readZarrUrl(address)).toEqual({ value: address });
  expect(covers('s3://bucket', address)).toBe(true);
  const took = cpuTimeOf(() => {
    for (let index = 0; index < 10_000; index++) {
      readZarrUrl(address);
      covers('s3://bucket', address);
    }
  });
  expect(took).toBeLessThan(5000);
});
