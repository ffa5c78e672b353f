import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { compareVersions, isPrerelease, isVersion } from '../../src/engine/pep440.ts';

const ASCENDING = [
  ['0.1.dev27+g1458b59'],
  ['0.1.2'],
  ['0.2.0a0'],
  ['0.10.0a0', '0.10.0alpha0', '0.10.0alpha', '0.10.0a'],
  ['0.10.0a2'],
  ['0.10.0alpha3'],
  ['0.10.0b4'],
  ['0.10.0beta5'],
  ['0.10.0c0'],
  ['0.10.0'],
  ['1.0.0rc4.dev7'],
  ['1.0.0'],
  ['2'],
];

/** From the specification, with its spelling variants. */
const SPECIFICATION = [
  ['1.0.dev456', '1.0dev456', '1.0-DEV-456'],
  ['1.0a1'],
  ['1.0a2.dev456'],
  ['1.0a12.dev456'],
  ['1.0a12', '1.0.ALPHA.12', 'v1.0-a_12'],
  ['1.0b1.dev456'],
  ['1.0b2'],
  ['1.0b2.post345.dev456'],
  ['1.0b2.post345', '1.0b2-345', '1.0b2.rev345', '1.0b2r345'],
  ['1.0rc1.dev456'],
  ['1.0rc1', '1.0c1', '1.0pre1', '1.0.preview-1'],
  ['1.0', '1', '1.0.0', 'V1.0', ' 1.0 '],
  ['1.0+abc.5'],
  ['1.0+abc.7'],
  ['1.0+5', '1.0.0+05'],
  ['1.0+5.1', '1.0+5-1', '1.0+5_1'],
  ['1.0.post456.dev34'],
  ['1.0.post456'],
  ['1.0.15'],
  ['1.1.dev1'],
  ['1!0.1'],
];

describe.each([
  ['the versions of deployments', ASCENDING],
  ['the versions of the specification', SPECIFICATION],
])('%s', (_, classes) => {
  const all = classes.flatMap((versions, place) => versions.map((version) => ({ version, place })));

  it('are in order, each against each', () => {
    for (const one of all) {
      for (const other of all) {
        const sign = Math.sign(compareVersions(one.version, other.version));
        expect([one.version, other.version, sign]).toEqual([
          one.version,
          other.version,
          Math.sign(one.place - other.place),
        ]);
      }
    }
  });
});

it.each(['', 'weird', '1.0.', '1..0', '1.0-', '1.0+', '1.0+a..b', 'x1.0', '1.0 0', '1!', '1.0.foo', '1,0', '1.0a1b1'])(
  '%j is no version',
  (version) => {
    expect(isVersion(version)).toBe(false);
  },
);

it.each([
  ['1.0a1', true],
  ['1.0rc1.post2', true],
  ['1.0.dev0', true],
  ['1.0.post1.dev3', true],
  ['1.0', false],
  ['1.0.post1', false],
  ['1!1.0+local.a1', false],
])('%s is a pre-release: %s', (version, expected) => {
  expect([isVersion(version), isPrerelease(version)]).toEqual([true, expected]);
});

it('what is no version is no pre-release either', () => {
  expect([isVersion('weird-dev'), isPrerelease('weird-dev')]).toEqual([false, false]);
});

it('puts what is no version below every version, and nothing below that', () => {
  expect(compareVersions(null, null)).toBe(0);
  expect(compareVersions(null, 'weird')).toBeLessThan(0);
  expect(compareVersions('weird', null)).toBeGreaterThan(0);
  expect(compareVersions('weird', '0.dev0')).toBeLessThan(0);
  expect(compareVersions('0.dev0', 'weird')).toBeGreaterThan(0);
  expect(compareVersions('a', 'b')).toBeLessThan(0);
  expect(compareVersions('b', 'b')).toBe(0);
});

it('reads every text in no time, and compares both ways alike', () => {
  const part = fc.constantFrom('0', '1', '10', '.', '-', '_', '+', '!', 'a', 'b', 'rc', 'dev', 'post', 'v', ' ', 'x');
  const version = fc.array(part, { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(version, version, (one, other) => {
      expect(Math.sign(compareVersions(one, other)) + Math.sign(compareVersions(other, one))).toBe(0);
    }),
    { numRuns: 2000 },
  );
  expect(isVersion('9'.repeat(1_000_000))).toBe(false);
  expect(compareVersions('9'.repeat(1_000_000), '1')).toBeLessThan(0);
});
