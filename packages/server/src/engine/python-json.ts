/**
 * JSON as Python programs write it: with the tokens `NaN`, `Infinity` and `-Infinity`. These, and numbers that a plain parse
 * would change, come back as `NumberAsWritten` and are written again as they were.
 *
 *     writePythonJson(parsePythonJson('{"a": 1.0, "b": [NaN]}'))      // {"a":1.0,"b":[NaN]}
 */
import { type JsonObject, NumberAsWritten, parseJson } from '@service/contract';

import { isJsonObject } from './values.ts';

/** More would take much memory; a list of a million units has about five times as many. */
const MOST_VALUES = 5_000_000;
/** A text this short cannot stand for much. */
const LIGHT = 100_000;
const [QUOTE, COMMA] = [0x22, 0x2c];
const [OPENING, CLOSING] = [new Set([0x5b, 0x7b]), new Set([0x5d, 0x7d])];
const tooMany = () => new SyntaxError(`It has more than ${MOST_VALUES} values.`);

/** As deep as Python reads. Whoever walks through a value may go down by calling itself. */
const DEEPEST = 1000;
const tooDeep = () => new SyntaxError(`It is nested more than ${DEEPEST} levels deep.`);

/** Numbers that stand for tokens during the parse: source of the number → token. */
type StandIns = Map<string, string>;

function standInsFor(text: string): StandIns {
  const standIns: StandIns = new Map();
  let exponent = 7_000_000;
  for (const token of ['NaN', 'Infinity', '-Infinity']) {
    do exponent += 1;
    while (text.includes(`0e${exponent}`));
    standIns.set(`0e${exponent}`, token);
  }
  return standIns;
}

/** Where the string that begins at `start` ends; a quote behind an odd number of backslashes belongs to the string. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === '\\') before -= 1;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

function withStandIns(text: string, standIns: StandIns): string {
  const sources = new Map([...standIns].map(([source, token]) => [token, source]));
  const parts: string[] = [];
  let done = 0;
  const next = /"|-?Infinity|NaN/g;
  for (let match = next.exec(text); match; match = next.exec(text)) {
    if (match[0] === '"') {
      next.lastIndex = endOfString(text, match.index);
    } else {
      // the spaces keep `1NaN` wrong
      parts.push(text.slice(done, match.index), ` ${sources.get(match[0])} `);
      done = next.lastIndex;
    }
  }
  return parts.join('') + text.slice(done);
}

/**
 * Refuses what is nested too deeply or holds too much, before anything is made of it: a text of some megabytes can stand for
 * gigabytes of empty lists.
 */
function weigh(text: string): void {
  if (text.length < LIGHT) return;
  let [level, values] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) at = endOfString(text, at) - 1;
    else if (sign === COMMA) values += 1;
    else if (OPENING.has(sign)) [level, values] = [level + 1, values + 1];
    else if (CLOSING.has(sign)) level -= 1;
    if (level > DEEPEST) throw tooDeep();
    if (values > MOST_VALUES) throw tooMany();
  }
}

/** Puts the tokens back, and refuses what is nested too deeply. */
function settle(value: unknown, standIns: StandIns | undefined, level = 0): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof NumberAsWritten) {
    const token = standIns?.get(value.source);
    return token === undefined ? value : new NumberAsWritten(token);
  }
  if (level >= DEEPEST) throw tooDeep();
  const settleEntry = (entries: Record<PropertyKey, unknown>, key: PropertyKey) => {
    const entry = entries[key];
    if (typeof entry !== 'object' || entry === null) return;
    const settled = settle(entry, standIns, level + 1);
    if (settled !== entry) entries[key] = settled;
  };
  if (Array.isArray(value)) for (let index = 0; index < value.length; index += 1) settleEntry(value as never, index);
  else for (const key in value) settleEntry(value as Record<string, unknown>, key);
  return value;
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof RangeError ? tooDeep() : error;
  }
}

/** Throws a SyntaxError for what is no JSON. */
export function parsePythonJson(text: string): unknown {
  weigh(text);
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    const standIns = standInsFor(text);
    return settle(parse(withStandIns(text, standIns)), standIns);
  }
  return settle(value, undefined);
}

interface Layout {
  /** Spaces a level; 0 writes everything on one line. */
  indent: number;
  level: number;
}

const lineBreak = ({ indent, level }: Layout) => (indent > 0 ? `\n${' '.repeat(indent * level)}` : '');

function enclose(open: string, parts: string[], close: string, layout: Layout): string {
  if (parts.length === 0) return open + close;
  const inner = lineBreak({ ...layout, level: layout.level + 1 });
  return `${open}${inner}${parts.join(`,${inner}`)}${lineBreak(layout)}${close}`;
}

function membersOf(object: JsonObject, { indent, level }: Layout): string[] {
  return Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .map((key) => `${JSON.stringify(key)}:${indent > 0 ? ' ' : ''}${write(object[key], { indent, level: level + 1 })}`);
}

function write(value: unknown, layout: Layout): string {
  if (value instanceof NumberAsWritten) return value.source;
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'object' || value === null) return 'null';
  if (layout.level > DEEPEST + 1) throw tooDeep();
  if (isJsonObject(value)) return enclose('{', membersOf(value, layout), '}', layout);
  const inner = { indent: layout.indent, level: layout.level + 1 };
  const items = (value as unknown[]).map((item) => write(item, inner));
  return enclose('[', items, ']', layout);
}

export const writePythonJson = (value: unknown, indent = 0): string => write(value, { indent, level: 0 });

/** What stands between the braces of an object, to be put together with others by `objectOf`. */
export const writeMembers = (object: JsonObject, indent = 0): string =>
  membersOf(object, { indent, level: 0 }).join(`,${lineBreak({ indent, level: 1 })}`);

/** An object from the texts of its members: what many objects have in common is written once. */
export function objectOf(members: string[], indent = 0): string {
  const inner = lineBreak({ indent, level: 1 });
  let text = '';
  // strings that are added share their parts, strings that are joined are copies
  for (const part of members) if (part !== '') text += text === '' ? part : `,${inner}${part}`;
  return text === '' ? '{}' : `{${inner}${text}${lineBreak({ indent, level: 0 })}}`;
}
