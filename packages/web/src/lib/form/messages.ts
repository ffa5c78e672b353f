/** What people read at a field whose value the schema refuses: short, with what to do. */
import { plural } from '@service/contract/plural';

import { isObject } from '../json.ts';

/** A broken rule: the keyword, what the schema says for it, and the value it was said about. */
export interface Broken {
  keyword: string;
  rule: unknown;
  value: unknown;
}

const TYPES: Record<string, string> = {
  string: 'Enter text.',
  integer: 'Enter a whole number.',
  number: 'Enter a number, with a point for decimals.',
  boolean: 'Choose on or off.',
  object: 'A group of named values is expected here.',
  array: 'A list is expected here.',
  null: 'No value is expected here.',
};

const FORMATS: Record<string, string> = {
  email: 'an e-mail address',
  uri: 'a complete address, for example https://example.org',
  url: 'a complete address, for example https://example.org',
  date: 'a date, for example 2024-05-31',
  'date-time': 'a date with time and zone, for example 2024-05-31T14:00:00Z',
  time: 'a time with zone, for example 14:00:00Z',
  uuid: 'a UUID',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
};

const things = (count: unknown, one: string, many?: string) => `${String(count)} ${plural(Number(count), one, many)}`;
const quoted = (names: unknown[]) => names.map((name) => `“${String(name)}”`).join(' and ');

const WORDS: Record<string, (broken: Broken) => string> = {
  type: ({ rule }) => (Array.isArray(rule) ? 'This kind of value is not possible here.' : TYPES[String(rule)]!),
  required: () => 'This is required.',
  enum: () => 'Choose one of the listed values.',
  const: ({ rule }) => `Only ${JSON.stringify(rule)} is possible here.`,
  minimum: ({ rule }) => `Use ${String(rule)} or more.`,
  maximum: ({ rule }) => `Use ${String(rule)} or less.`,
  exclusiveMinimum: ({ rule }) => `Use more than ${String(rule)}.`,
  exclusiveMaximum: ({ rule }) => `Use less than ${String(rule)}.`,
  multipleOf: ({ rule }) => `Use a multiple of ${String(rule)}.`,
  minLength: ({ rule }) => `Use at least ${things(rule, 'character')}.`,
  maxLength: ({ rule }) => `Use at most ${things(rule, 'character')}.`,
  pattern: ({ rule }) => `Does not fit the pattern ${String(rule)}`,
  format: ({ rule }) => `Enter ${FORMATS[String(rule)] ?? `a text of the format ${String(rule)}`}.`,
  minItems: ({ rule }) => `Give at least ${things(rule, 'item')}.`,
  maxItems: ({ rule }) => `Keep at most ${things(rule, 'item')}.`,
  uniqueItems: () => 'Each item may occur only once. Remove the repeated ones.',
  minProperties: ({ rule }) => `Give at least ${things(rule, 'entry', 'entries')}.`,
  maxProperties: ({ rule }) => `Keep at most ${things(rule, 'entry', 'entries')}.`,
  propertyNames: () => 'This name is not possible here. Use another one.',
  false: () => 'Not expected here. Remove it.',
  oneOf: () => 'Choose a variant.',
  anyOf: () => 'This value fits none of the possibilities.',
  then: () => 'These values do not go together: a condition of the schema asks for something else (“then”).',
  else: () => 'These values do not go together: a condition of the schema asks for something else (“else”).',
  not: ({ rule }) => {
    const names = excluded(rule);
    return names.length > 1
      ? `${quoted(names)} cannot be set together.`
      : 'This combination of values is not possible.';
  },
};

/** The names in the usual ways to say "not both": `required: [a, b]`, or one required name in each part of `allOf`. */
function excluded(rule: unknown): unknown[] {
  if (!isObject(rule)) return [];
  const { required, allOf } = rule;
  if (Array.isArray(required)) return required as unknown[];
  return Array.isArray(allOf) ? allOf.flatMap(excluded) : [];
}

export function message(broken: Broken): string {
  const { keyword, value } = broken;
  if (keyword === 'type' && value === null) return 'This needs a value.';
  return WORDS[keyword]?.(broken) ?? `Does not fit the schema (${keyword}).`;
}
