/** Numbers stay as they were written, and reading them so costs little. */
import { isDeepStrictEqual } from 'node:util';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { NotJson, NumberAsWritten, parseJson, parseLongJson, type Pieces } from '../src/index.ts';

interface WithSource {
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}

/** The same by the language's own means, which tell the source of every number. */
const bySource = (text: string) =>
  (JSON as unknown as WithSource).parse(text, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? new NumberAsWritten(source) : value,
  );

const outcome = (read: (text: string) => unknown, text: string) => {
  try {
    return { value: read(text) };
  } catch (error) {
    return { error: (error as Error).message };
  }
};

const digits = fc.stringMatching(/^\d{1,20}$/);
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      digits.map((text) => text.replace(/^0+(?=\d)/, '')),
    ),
    fc.oneof(
      fc.constant(''),
      digits.map((text) => `.${text}`),
    ),
    fc.constantFrom('', '', 'e3', 'E-2', 'e+400', 'e0'),
  )
  .map((parts) => parts.join(''));
// JSON.parse of Node 24 reads the key "\\"" as "\\" where an object before had that one, so there is nothing to compare
const key = fc
  .oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'a', '1', '0', '"', 'é', '😀'))
  .filter((name) => !name.includes('\\'));
const space = fc.constantFrom('', ' ', '\n\t', '\r\n');

const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    number,
    fc.oneof(fc.string(), fc.string({ unit: 'binary' })).map((text) => JSON.stringify(text)),
    fc.constantFrom('true', 'false', 'null', '"\\u0041\\n\\/\\ud83d"', '"1.0"', '""'),
    fc.tuple(space, fc.array(tie('value'), { maxLength: 4 })).map(([gap, items]) => `[${gap}${items.join(`${gap},`)}]`),
    fc
      .tuple(space, fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }))
      .map(
        ([gap, fields]) =>
          `{${gap}${fields.map(([name, item]) => `${JSON.stringify(name)}${gap}:${gap}${item}`).join(`,${gap}`)}}`,
      ),
  ),
}));

describe('parseJson', () => {
  it.each([
    ['1', 1],
    ['1.5', 1.5],
    ['-12', -12],
    ['123456789012345', 123456789012345],
    ['[1.0]', [new NumberAsWritten('1.0')]],
    ['{"a":1e3}', { a: new NumberAsWritten('1e3') }],
    ['[-0]', [new NumberAsWritten('-0')]],
    ['[12345678901234567890]', [new NumberAsWritten('12345678901234567890')]],
    ['{"a":1.0,"a":2}', { a: 2 }],
    ['[0.000001]', [0.000001]],
    ['[-0.0000001]', [new NumberAsWritten('-0.0000001')]],
    ['[1234567890.12345678]', [new NumberAsWritten('1234567890.12345678')]],
  ])('reads %s', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  it.each([
    ['by the exact reader, since another number in front needs it', '1.0'],
    ['by whichever reader it chooses', '1'],
  ])('gives what the language gives with the source of every number, %s', (_, before) => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const whole = `[${before},${text}]`;
        const [exact, native] = [parseJson(whole), bySource(whole)];
        expect(isDeepStrictEqual(exact, native)).toBe(true);
        expect(JSON.stringify(exact)).toBe(JSON.stringify(native));
      }),
      { numRuns: 3000 },
    );
  });

  it('says of what is not JSON the same as JSON.parse', () => {
    const damage = fc.record({
      text: jsonText,
      place: fc.nat(),
      drop: fc.integer({ min: 0, max: 3 }),
      put: fc.oneof(
        fc.string({ maxLength: 2 }),
        fc.constantFrom('\\', '"', '01', '.', '-', '}', ']', ',', '\n', '\\x'),
      ),
    });
    fc.assert(
      fc.property(damage, ({ text, place, drop, put }) => {
        const whole = `[1.0,${text}]`;
        const cut = place % (whole.length + 1);
        const broken = `${whole.slice(0, cut)}${put}${whole.slice(cut + drop)}`;
        expect(isDeepStrictEqual(outcome(parseJson, broken), outcome(bySource, broken))).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });
});

/** A text of ASCII and escapes, so many codes at a time. */
function inPieces(text: string, size: number): Pieces {
  const codes = Buffer.from(text, 'latin1');
  let position = 0;
  return (left) => {
    if (position === codes.length) return undefined;
    const next = Buffer.concat([left as Uint8Array, codes.subarray(position, (position += size)), Buffer.of(0)]);
    position = Math.min(position, codes.length);
    return { codes: next, text: next.toString('latin1', 0, next.length - 1) };
  };
}

const asciiOnly = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

describe('parseLongJson', () => {
  it('makes the same of pieces as of the whole, wherever they are cut', () => {
    fc.assert(
      fc.property(jsonText, fc.integer({ min: 1, max: 40 }), (written, size) => {
        const text = ` [1.0,${asciiOnly(written)}]\n`;
        const escaped: string[] = [];
        const value = parseLongJson(inPieces(text, size), (source) => escaped.push(source));
        expect(isDeepStrictEqual(value, parseJson(text))).toBe(true);
        expect(escaped).toEqual(
          [...text.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(String).filter((one) => one.includes('\\')),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('refuses in pieces what it refuses as a whole, and says where', () => {
    const broken = [
      '',
      '[',
      '[1.0',
      '{"a"',
      '"a',
      '"a\\',
      '[1.0,]',
      '[01]',
      '1.0.0',
      'tru',
      '[1.0 2]',
      '"\n"',
      '"\\x"',
      '[-]',
      '[1e]',
    ];
    for (const text of broken)
      for (const size of [1, 2, 100]) {
        expect(() => JSON.parse(text) as unknown, text).toThrow(SyntaxError);
        expect(() => parseLongJson(inPieces(text, size), () => undefined), text).toThrow(NotJson);
      }
  });
});
