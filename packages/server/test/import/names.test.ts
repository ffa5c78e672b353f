/** New names where two rows cannot have one. */
import { expect, it } from 'vitest';

import { freeAddresses, freeNames } from '../../src/import/names.ts';

const rows = (...names: string[]) => names.map((name, index) => ({ id: index + 1, scope: 1, name }));

it.each([
  [['a', 'b'], {}],
  [['a', 'a', 'a'], { 2: 'a (2)', 3: 'a (3)' }],
  [['a', 'a (2)', 'a'], { 3: 'a (3)' }],
  [['a', 'a', 'a (2)', 'a (2)'], { 2: 'a (3)', 4: 'a (2) (2)' }],
])('%j: the lowest id keeps its name', (names, changed) => {
  expect(Object.fromEntries(freeNames(rows(...names)))).toEqual(changed);
});

it('names of others are not in the way', () => {
  expect(
    freeNames([
      { id: 1, scope: 1, name: 'a' },
      { id: 2, scope: 2, name: 'a' },
    ]).size,
  ).toBe(0);
});

it('the lowest id counts, not the first row', () => {
  expect([
    ...freeNames([
      { id: 9, scope: 1, name: 'a' },
      { id: 3, scope: 1, name: 'a' },
    ]),
  ]).toEqual([[9, 'a (2)']]);
});

it('ten thousand equal names take no time', () => {
  const many = freeNames(rows(...Array.from({ length: 10_000 }, () => 'a')));
  expect(many.get(10_000)).toBe('a (10000)');
});

const people = (...emails: string[]) =>
  emails.map((email, index) => ({ id: index + 1, email, folded: email.toLowerCase() }));

it.each([
  [['a@x', 'b@x'], {}],
  [['a@x', 'A@X'], { 2: 'A+2@X' }],
  [['a@x', 'A@X', 'a+2@x'], { 2: 'A+2+2@X' }],
  [['"a@b"@x', '"A@b"@x'], { 2: '"A@b"+2@x' }],
  [['none', 'NONE'], { 2: 'NONE+2' }],
])('%j: the lowest id keeps its address', (emails, changed) => {
  expect(Object.fromEntries(freeAddresses(people(...emails)))).toEqual(changed);
});
