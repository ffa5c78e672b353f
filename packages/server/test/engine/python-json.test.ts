import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { NumberAsWritten, plain } from '@service/contract';

import { objectOf, parsePythonJson, writeMembers, writePythonJson } from '../../src/engine/python-json.ts';

describe('JSON as Python writes it', () => {
  it.each([
    'null',
    '1',
    '1.0',
    '-0',
    '-0.0',
    '12345678901234567890',
    '1e-07',
    'NaN',
    'Infinity',
    '-Infinity',
    '[NaN,[-Infinity,Infinity],"NaN"]',
    '{"NaN":NaN,"a\\\\":NaN,"b\\"NaN":[1.0,"Infinity"]}',
    '{"a":[],"b":{},"c":[{}],"__proto__":1.0}',
    '"\\ud800"',
    '[0e7000001,NaN]',
  ])('%s comes back as it was', (text) => {
    expect(writePythonJson(parsePythonJson(text))).toBe(text);
  });

  it('gives the tokens as numbers', () => {
    const [nan, infinity, negative] = parsePythonJson(' [NaN , Infinity,\n-Infinity] ') as unknown[];
    expect([nan, infinity, negative].map(plain)).toEqual([NaN, Infinity, -Infinity]);
    expect(nan).toBeInstanceOf(NumberAsWritten);
  });

  it.each([
    '',
    ' ',
    '\ufeff{}',
    '{',
    '[1,]',
    '1 2',
    'nan',
    'NaN NaN',
    '[1NaN]',
    '[-NaN]',
    '[NaN1]',
    '[InfinityNaN]',
    '[--Infinity]',
    '{NaN: 1}',
    '{"a: NaN}',
    "{'a': NaN}",
    '"\n NaN"',
  ])('%j is refused', (text) => {
    expect(() => parsePythonJson(text)).toThrow(SyntaxError);
  });

  it.each([
    ['lists', '['.repeat(2_000_000) + ']'.repeat(2_000_000)],
    ['lists around a number as written', '['.repeat(1_000_000) + '1.0' + ']'.repeat(1_000_000)],
    ['objects around a token', '{"a":'.repeat(100_000) + 'NaN' + '}'.repeat(100_000)],
    ['one level too many', '['.repeat(1001) + ']'.repeat(1001)],
  ])('%s nested too deeply are refused', (_, text) => {
    expect(() => parsePythonJson(text)).toThrow(/nested/);
  });

  it('takes what is as deep as Python goes, and writes it again', () => {
    const text = '['.repeat(1000) + 'NaN' + ']'.repeat(1000);
    expect(() => parsePythonJson(`[${text}]`)).toThrow(/nested/);
    expect(writePythonJson(parsePythonJson(text))).toBe(text);
  });

  it('refuses to write what has no end', () => {
    const value: unknown[] = [];
    value.push(value);
    expect(() => writePythonJson(value)).toThrow(/nested/);
  });

  it('is indented like JSON.stringify does it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 4 }), (value, indent) => {
        const clean: unknown = JSON.parse(JSON.stringify(value));
        expect(writePythonJson(clean, indent)).toBe(JSON.stringify(clean, null, indent));
      }),
    );
  });

  const number = fc.constantFrom(
    '0',
    '1.0',
    '-0.0',
    '1e5',
    '2.50',
    '99999999999999999999',
    'NaN',
    'Infinity',
    '-Infinity',
  );
  const text = fc.oneof(fc.string(), fc.constantFrom('NaN', 'a"NaN', '\\', '\\"Infinity', '\ud800'));
  // digits would go in front of other keys, and V8 can mistake one key with a backslash in its text for another
  const key = fc.oneof(fc.string(), fc.constantFrom('NaN', 'Infinity')).map((name) => `k${name.replace(/["\\]/g, '')}`);
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(
        number,
        text.map((value) => JSON.stringify(value)),
        fc.constantFrom('null', 'true'),
      ),
      fc.array(tie('json')).map((items) => `[${items.join(',')}]`),
      fc
        .uniqueArray(fc.tuple(key, tie('json')), { selector: ([name]) => name })
        .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join(',')}}`),
    ),
  }));

  it('is the same after reading and writing, whatever is in it', () => {
    fc.assert(
      fc.property(json, (written) => {
        expect(writePythonJson(parsePythonJson(written))).toBe(written);
      }),
    );
  });

  it('reads what is indented', () => {
    fc.assert(
      fc.property(json, (written) => {
        const indented = writePythonJson(parsePythonJson(written), 2);
        expect(writePythonJson(parsePythonJson(indented))).toBe(written);
      }),
    );
  });

  it.each([0, 2])('puts objects together from parts, indented by %i', (indent) => {
    const [one, two] = [{ a: 1, b: { c: [1] } }, { d: 'x' }];
    const parts = [writeMembers(one, indent), writeMembers({}, indent), writeMembers(two, indent)];
    expect(objectOf(parts, indent)).toBe(JSON.stringify({ ...one, ...two }, null, indent));
    expect(objectOf(['', ''], indent)).toBe('{}');
  });
});
