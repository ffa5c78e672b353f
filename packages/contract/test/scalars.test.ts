/** What existing clients send for numbers, flags, texts and times. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { boolean, datetime, id, integer, smallInteger, text, trimmedText } from '../src/wire/scalars.ts';
import { problemsOf, valueOf } from './support/reading.ts';

const field = <T>(schema: z.ZodType<T>) => {
  const object = z.object({ it: schema });
  return {
    reads: (it: unknown): unknown => valueOf<{ it: unknown }>(object, { it }).it,
    refuses: (it: unknown) => problemsOf(object, { it }),
    refusesAbsent: () => problemsOf(object, {}),
  };
};

const refusal = (type: string) => [{ loc: ['body', 'it'], type }];

const BLANK = fc.stringMatching(/^[ \t\n]{0,3}$/);

describe('an integer', () => {
  const { reads, refuses, refusesAbsent } = field(integer());

  it.each<[string, unknown, number]>([
    ['a JSON integer', 1, 1],
    ['a negative JSON integer', -7, -7],
    ['a float without fraction', JSON.parse('1.0'), 1],
    ['a numeric text', '1', 1],
    ['a negative numeric text', '-1', -1],
    ['a text with an empty fraction', '1.0', 1],
    ['a text with spaces around', ' 1 ', 1],
    ['a text with a plus sign', '+1', 1],
    ['a text with a leading zero', '01', 1],
    ['a text with an underscore between digits', '1_0', 10],
    ['true', true, 1],
    ['false', false, 0],
  ])('is read from %s', (_, input, value) => {
    expect(reads(input)).toBe(value);
  });

  it.each<[string, unknown, string]>([
    ['an empty text', '', 'int_parsing'],
    ['a blank text', ' ', 'int_parsing'],
    ['a text with a fraction', '1.5', 'int_parsing'],
    ['a text with an exponent', '1e0', 'int_parsing'],
    ['Arabic-Indic digits', '١٢', 'int_parsing'],
    ['full-width digits', '１', 'int_parsing'],
    ['a word', 'abc', 'int_parsing'],
    ['a float with a fraction', 1.5, 'int_from_float'],
    ['null', null, 'int_type'],
    ['a list', [1], 'int_type'],
    ['an object', {}, 'int_type'],
  ])('is not read from %s', (_, input, type) => {
    expect(refuses(input)).toEqual(refusal(type));
  });

  it('is missing when the key is absent', () => {
    expect(refusesAbsent()).toEqual(refusal('missing'));
  });

  it('reads as n, whatever the sign, zeros, empty fraction and blanks around its digits', () => {
    const spelling = fc.record({
      n: fc.maxSafeInteger(),
      plus: fc.boolean(),
      zeros: fc.nat(4),
      fraction: fc.constantFrom('', '.0', '.000'),
      before: BLANK,
      after: BLANK,
    });
    fc.assert(
      fc.property(spelling, ({ n, plus, zeros, fraction, before, after }) => {
        const sign = n < 0 ? '-' : plus ? '+' : '';
        const written = before + sign + '0'.repeat(zeros) + Math.abs(n) + fraction + after;
        expect(reads(written)).toBe(n);
      }),
    );
  });

  it('is never read from a text with a fraction that is not zero', () => {
    fc.assert(
      fc.property(fc.integer(), fc.integer({ min: 1, max: 999 }), (whole, fraction) => {
        expect(refuses(`${whole}.${fraction}`)).toEqual(refusal('int_parsing'));
      }),
    );
  });

  it.each<[string, { least?: number; above?: number }, number, string]>([
    ['> 0', { above: 0 }, 0, 'greater_than'],
    ['> 0', { above: 0 }, -1, 'greater_than'],
    ['≥ 0', { least: 0 }, -1, 'greater_than_equal'],
  ])('that must be %s (%j) refuses %d with %s', (_, bounds, input, type) => {
    expect(field(integer(bounds)).refuses(input)).toEqual(refusal(type));
    expect(field(smallInteger(bounds)).refuses(input)).toEqual(refusal(type));
  });

  it('takes the bound itself where it is inclusive, and the next number where it is not', () => {
    expect(field(integer({ least: 0 })).reads(0)).toBe(0);
    expect(field(integer({ above: 0 })).reads('1')).toBe(1);
  });

  it('that cannot be kept exactly is refused, not rounded', () => {
    expect(refuses(2 ** 64)).toEqual(refusal('value_error'));
    expect(refuses('9'.repeat(400))).toEqual(refusal('value_error'));
  });

  it('for a column of 32 bits is refused beyond them', () => {
    expect(field(smallInteger()).reads(2 ** 31 - 1)).toBe(2 ** 31 - 1);
    expect(field(smallInteger()).refuses(2 ** 31)).toEqual(refusal('value_error'));
  });
});

describe('an id', () => {
  const { reads, refuses } = field(id());

  it('is read like every integer: the command line client sends it as a text', () => {
    expect([reads('3'), reads(' 3 '), reads(3)]).toEqual([3, 3, 3]);
    expect([refuses('x'), refuses(null)]).toEqual([refusal('int_parsing'), refusal('int_type')]);
  });

  it.each([2 ** 31, '2147483648', 2 ** 63, -(2 ** 40), '9'.repeat(400)])(
    'beyond 32 bits is an unknown id, not an error: %s',
    (input) => {
      // Rows count from 1, so this is the id of none.
      expect(reads(input)).toBeLessThan(1);
    },
  );

  it('is kept up to the largest one', () => {
    expect(reads('2147483647')).toBe(2_147_483_647);
  });
});

describe('a boolean', () => {
  const { reads, refuses, refusesAbsent } = field(boolean());
  const spellings = (word: string) => [word, word.toUpperCase(), word[0]!.toUpperCase() + word.slice(1)];

  it.each([true, 1, ...['true', '1', 'on', 't', 'y', 'yes'].flatMap(spellings)])('is true: %j', (input) => {
    expect(reads(input)).toBe(true);
  });

  it.each([false, 0, ...['false', '0', 'off', 'f', 'n', 'no'].flatMap(spellings)])('is false: %j', (input) => {
    expect(reads(input)).toBe(false);
  });

  it.each<[unknown, string]>([
    ['', 'bool_parsing'],
    [' true', 'bool_parsing'],
    ['no ', 'bool_parsing'],
    ['enabled', 'bool_parsing'],
    ['null', 'bool_parsing'],
    [2, 'bool_parsing'],
    [-1, 'bool_parsing'],
    [0.5, 'bool_parsing'],
    [null, 'bool_type'],
    [[true], 'bool_type'],
    [{}, 'bool_type'],
  ])('is not read from %j: %s', (input, type) => {
    expect(refuses(input)).toEqual(refusal(type));
  });

  it('is missing when the key is absent', () => {
    expect(refusesAbsent()).toEqual(refusal('missing'));
  });
});

describe('a text', () => {
  it.each([[1], [1.5], [true], [null], [['a']], [{}]])('is never built from %j', (input) => {
    expect(field(text()).refuses(input)).toEqual(refusal('string_type'));
    expect(field(trimmedText()).refuses(input)).toEqual(refusal('string_type'));
  });

  it('keeps the spaces around it, unless it is a str*', () => {
    expect(field(text()).reads(' a b ')).toBe(' a b ');
    expect(field(trimmedText()).reads(' a b\n')).toBe('a b');
  });

  it.each(['', ' ', '\t\n'])('that is a str* needs a character besides blanks: %j', (input) => {
    expect(field(text()).reads(input)).toBe(input);
    expect(field(trimmedText()).refuses(input)).toEqual(refusal('string_too_short'));
  });

  it.each([
    ['U+0000', 'a\u0000b'],
    ['a lone surrogate', 'a\ud800b'],
  ])('with %s is refused, because no database keeps it', (_, input) => {
    expect(field(text()).refuses(input)).toEqual(refusal('value_error'));
    expect(field(trimmedText()).refuses(input)).toEqual(refusal('value_error'));
  });
});

describe('a datetime', () => {
  const { reads, refuses, refusesAbsent } = field(datetime());
  const moment = (input: unknown) => new Date(String(reads(input))).getTime();
  const NOON = Date.UTC(2026, 0, 31, 12);

  it.each<[string, unknown]>([
    ['ISO 8601 with Z', '2026-01-31T12:00:00Z'],
    ['ISO 8601 with an offset', '2026-01-31T13:30:00+01:30'],
    ['ISO 8601 with a negative offset', '2026-01-31T07:00:00-05:00'],
    ['ISO 8601 with an offset without colon', '2026-01-31T13:00:00+0100'],
    ['ISO 8601 with a space for the T', '2026-01-31 12:00:00Z'],
    ['ISO 8601 without seconds', '2026-01-31T12:00Z'],
    ['ISO 8601 with a fraction', '2026-01-31T12:00:00.000000+00:00'],
    ['a Unix timestamp', NOON / 1000],
    ['a Unix timestamp as text, as queries send it', String(NOON / 1000)],
  ])('is read from %s', (_, input) => {
    expect(moment(input)).toBe(NOON);
  });

  it('keeps microseconds: stored times have them, and bounds in queries are inclusive', () => {
    expect(reads('2026-01-31T12:00:00.123456Z')).toMatch(/^2026-01-31T12:00:00\.123456/);
  });

  it.each<[string, unknown, string]>([
    ['a time without zone', '2026-01-31T12:00:00', 'timezone_aware'],
    ['a time without zone and seconds', '2026-01-31T12:00', 'timezone_aware'],
    ['a bare date', '2026-01-31', 'timezone_aware'],
    ['an empty text', '', 'datetime_from_date_parsing'],
    ['a word', 'yesterday', 'datetime_from_date_parsing'],
    ['a plus sign that the query turned into a space', '2026-01-31T12:00:00 01:00', 'datetime_from_date_parsing'],
    ['an hour that does not exist', '2026-01-31T25:00:00Z', 'datetime_from_date_parsing'],
    ['a month that does not exist', '2026-13-01T12:00:00Z', 'datetime_from_date_parsing'],
    ['a day that does not exist', '2026-02-30T12:00:00Z', 'datetime_from_date_parsing'],
    ['a month that does not exist, without zone', '2026-13-01T12:00:00', 'datetime_from_date_parsing'],
    ['a bare date that does not exist', '2026-02-30', 'datetime_from_date_parsing'],
  ])('is not read from %s', (_, input, type) => {
    expect(refuses(input)).toEqual(refusal(type));
  });

  it.each([[null], [true], [[]], [{}]])('is not read from %j', (input) => {
    expect(refuses(input)).toHaveLength(1);
  });

  it('is missing when the key is absent', () => {
    expect(refusesAbsent()).toEqual(refusal('missing'));
  });
});
