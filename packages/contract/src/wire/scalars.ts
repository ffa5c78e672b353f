/**
 * Numbers, flags, texts and times as existing clients send them: `"1"`, `" 1 "`, `1.0` and `true` are all the integer 1,
 * `"Yes"` is true, texts are never built from numbers.
 */
import { z } from 'zod';

import { nameProblem } from './names.ts';
import { found, reader, type Reading, valueError, wrong } from './problem.ts';

/** Database ids are 32-bit. A larger number is an id that no row has, not an error. */
const LARGEST_ID = 2_147_483_647;

const INTEGER_TEXT = /^[+-]?\d+(_\d+)*(\.0*)?$/;
const TRUE_TEXTS = new Set(['true', '1', 'on', 't', 'y', 'yes']);
const FALSE_TEXTS = new Set(['false', '0', 'off', 'f', 'n', 'no']);

export function readInteger(input: unknown): Reading<number> {
  if (typeof input === 'boolean') return found(input ? 1 : 0);
  if (typeof input === 'number') {
    return Number.isInteger(input) ? found(input) : wrong('int_from_float', 'Enter a whole number.');
  }
  if (typeof input !== 'string') return wrong('int_type', 'Enter a whole number.');
  const text = input.trim();
  if (!INTEGER_TEXT.test(text)) return wrong('int_parsing', 'Enter a whole number.');
  return found(Number(text.replaceAll('_', '').replace(/\.0*$/, '')));
}

function readBoolean(input: unknown): Reading<boolean> {
  if (typeof input === 'boolean') return found(input);
  if (typeof input === 'number' || typeof input === 'string') {
    const text = String(input).toLowerCase();
    if (TRUE_TEXTS.has(text)) return found(true);
    if (FALSE_TEXTS.has(text)) return found(false);
    return wrong('bool_parsing', 'Enter true or false.');
  }
  return wrong('bool_type', 'Enter true or false.');
}

/** Negative for an id that no row can have, so that it is unknown; different ones stay different. */
function readId(input: unknown): Reading<number> {
  const reading = readInteger(input);
  if ('problem' in reading) return reading;
  const size = Math.abs(reading.value);
  if (size <= LARGEST_ID) return reading;
  return found(Number.isFinite(size) ? -1 - (size % LARGEST_ID) : -1);
}

function bounded(read: (input: unknown) => Reading<number>, least: number | undefined, above: number | undefined) {
  return (input: unknown): Reading<number> => {
    const reading = read(input);
    if ('problem' in reading) return reading;
    if (above !== undefined && reading.value <= above) return wrong('greater_than', `Must be greater than ${above}.`);
    if (least !== undefined && reading.value < least) return wrong('greater_than_equal', `Must be at least ${least}.`);
    if (reading.value > Number.MAX_SAFE_INTEGER || reading.value < Number.MIN_SAFE_INTEGER) {
      return valueError('This number is too large.');
    }
    return reading;
  };
}

/** A whole number. `least` is inclusive, `above` exclusive. */
export const integer = ({ least, above }: { least?: number; above?: number } = {}) =>
  reader(bounded(readInteger, least, above), {
    type: 'integer',
    ...(least === undefined ? {} : { minimum: least }),
    ...(above === undefined ? {} : { exclusiveMinimum: above }),
  });

function readNumber(input: unknown): Reading<number> {
  if (typeof input !== 'number' && typeof input !== 'string') return wrong('float_type', 'Enter a number.');
  const value = typeof input === 'string' && input.trim() === '' ? NaN : Number(input);
  return Number.isFinite(value) ? found(value) : wrong('float_parsing', 'Enter a number.');
}

/** Any number, fractions too. */
export const number = () => reader(readNumber, { type: 'number' });

/** A whole number that fits a database column of 32 bits. */
export const smallInteger = ({ least, above }: { least?: number; above?: number } = {}) =>
  reader(
    (input) => {
      const reading = bounded(readInteger, least, above)(input);
      if ('problem' in reading || Math.abs(reading.value) <= LARGEST_ID) return reading;
      return valueError(`Must be at most ${LARGEST_ID}.`);
    },
    { type: 'integer', maximum: LARGEST_ID },
  );

/** The id of a row; one that cannot exist reads as a negative number, which no row has. */
export const id = ({ least }: { least?: number } = {}) =>
  reader(
    (input) => {
      const reading = readInteger(input);
      if (!('problem' in reading) && least !== undefined && reading.value < least) {
        return wrong('greater_than_equal', `Must be at least ${least}.`);
      }
      return readId(input);
    },
    { type: 'integer', ...(least === undefined ? {} : { minimum: least }) },
  );

export const boolean = () => reader(readBoolean, { type: 'boolean' });

export function readText(input: unknown): Reading<string> {
  if (typeof input !== 'string') return wrong('string_type', 'Enter a text.');
  if (input.includes('\u0000')) return valueError('Remove the NUL character (U+0000) from this text.');
  if (!input.isWellFormed()) return valueError('This text has half of a surrogate pair. Remove that character.');
  return found(input);
}

/** A text, taken as it is. */
export const text = () => reader(readText, { type: 'string' });

export function readTrimmedText(input: unknown): Reading<string> {
  const reading = readText(input);
  if ('problem' in reading) return reading;
  const trimmed = reading.value.trim();
  return trimmed === '' ? wrong('string_too_short', 'Enter at least one character.') : found(trimmed);
}

/** A text without the white space around it, at least one character long. */
export const trimmedText = () => reader(readTrimmedText, { type: 'string', minLength: 1 });

export function readName(input: unknown): Reading<string> {
  const reading = readTrimmedText(input);
  if ('problem' in reading) return reading;
  const problem = nameProblem(reading.value);
  return problem === undefined ? found(reading.value) : wrong('string_pattern_mismatch', problem);
}

/** A name, without the white space around it. */
export const name = () => reader(readName, { type: 'string', minLength: 1 });

/** One of a few texts. */
export const choice = <const T extends string>(values: readonly T[], type: 'literal_error' | 'enum' = 'enum') =>
  reader(
    (input): Reading<T> =>
      values.includes(input as T) ? found(input as T) : wrong(type, `Choose one of: ${values.join(', ')}.`),
    { type: 'string', enum: values },
  );

/** A field that exists for other variants of the same object and must stay empty here. */
export const nothing = () =>
  reader((input): Reading<null> => (input === null ? found(null) : wrong('none_required', 'Leave this empty.')), {
    type: 'null',
  });

const DATETIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})(:\d{2})?(\.\d{1,9})?\s?(Z|[+-]\d{2}:?\d{2})?$/i;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const UNIX_TIME = /^-?\d+(\.\d+)?$/;
/** Larger Unix times count milliseconds. */
const LARGEST_SECONDS = 2e10;

const isDate = (date: string) => {
  const moment = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(date);
};

const notATime = () => wrong('datetime_from_date_parsing', 'Enter a date and time such as 2026-01-31T12:00:00Z.');

function readUnixTime(written: string): Reading<string> {
  const number = Number(written);
  const moment = new Date(Math.abs(number) > LARGEST_SECONDS ? number : number * 1000);
  const year = moment.getUTCFullYear();
  return year >= 1 && year <= 9999
    ? found(moment.toISOString())
    : wrong('datetime_parsing', 'This number is not a time.');
}

function readDatetime(input: unknown): Reading<string> {
  const said = typeof input === 'number' ? String(input) : input;
  if (typeof said !== 'string') return wrong('datetime_type', 'Enter a date and time with its time zone.');
  const written = said.trim();
  if (UNIX_TIME.test(written)) return readUnixTime(written);
  const needsZone = wrong('timezone_aware', 'Add the time zone, for example 2026-01-31T12:00:00Z.');
  if (DATE.test(written)) return isDate(written) ? needsZone : notATime();
  const [, date, time, seconds = ':00', fraction = '.0', zone] = DATETIME.exec(written) ?? [];
  if (date === undefined || !isDate(date)) return notATime();
  const moment = new Date(`${date}T${time}${seconds}${(zone ?? 'Z').toUpperCase()}`);
  if (Number.isNaN(moment.getTime())) return notATime();
  if (zone === undefined) return needsZone;
  // Date has milliseconds, the database microseconds: the fraction goes along as it was written.
  return found(moment.toISOString().replace('.000', fraction.slice(0, 7).padEnd(7, '0')));
}

/** A moment with its time zone, read as an ISO text in UTC. */
export const datetime = () => reader(readDatetime, { type: 'string', format: 'date-time' });

/** What answers are made of: plain, unlike what requests may send. */
export const answer = {
  integer: () => z.number().meta({ type: 'integer' }),
  number: () => z.number(),
  boolean: () => z.boolean(),
  text: () => z.string(),
  time: () => z.string().meta({ format: 'date-time' }),
};
