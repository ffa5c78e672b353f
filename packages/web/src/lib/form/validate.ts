/**
 * Which arguments the schema refuses, said where the form shows them.
 *
 * The validator tells about every branch of a union and about every level above a mistake. What is left here is one message
 * for one mistake: of a union only the chosen branch speaks, of "T or null" only T, and levels above stay silent.
 */
import { type OutputUnit, validate as check } from '@cfworker/json-schema';

import { type Field, fieldOf, type FieldOf, schemaOfKey, variantByTag } from './field.ts';
import { isObject, keysOf, plainJson, under } from '../json.ts';
import { message } from './messages.ts';
import { type PreparedSchema, type Schema, target } from './schema.ts';
import { dataToSend, type KeptItems } from './sent.ts';

/** Variants that a person chose, by the path of the value: without a tag the value does not tell. */
export type Choices = readonly { path: string; variant: number }[];

export interface Errors {
  /** Messages by the path of the field that shows them. */
  at: Map<string, string[]>;
  /** What belongs to no field. */
  form: string[];
  /** Paths with an error at them or below. */
  within: Set<string>;
}

export const NO_ERRORS: Errors = { at: new Map(), form: [], within: new Set() };

export const isValid = (errors: Errors): boolean => errors.at.size === 0 && errors.form.length === 0;

const chosenAt = (choices: Choices, path: string) => choices.find((choice) => choice.path === path)?.variant;

function run(instance: unknown, schema: Schema, prepared: PreparedSchema): OutputUnit[] {
  const draft = prepared.dialect === 'pydantic_v1' ? '7' : '2020-12';
  const units = check(instance, schema, draft, prepared.lookup, false).errors;
  // A schema `false` gives no place of its own; it speaks right after the keyword that holds it.
  return units.map((unit, index) => {
    const above = unit.keyword === 'false' ? units[index - 1] : undefined;
    return above === undefined ? unit : { ...unit, keywordLocation: `${above.keywordLocation}/false` };
  });
}

/** The variant a value is of: chosen by a person, named by its tag, or the one that fits best. */
export function variantOf(
  field: FieldOf<'variants'>,
  value: unknown,
  prepared: PreparedSchema,
  chosen: number | undefined,
): number | undefined {
  if (chosen !== undefined) return chosen;
  const tagged = field.tag !== undefined && field.variants.every(({ tags }) => tags.length > 0);
  if (tagged || value === null || value === undefined) return variantByTag(field, value);
  const instance = plainJson(value);
  const mistakes = field.variants.map(({ schema }) => run(instance, schema, prepared).length);
  return mistakes.indexOf(Math.min(...mistakes));
}

/** What the schema has at the place a message of the validator comes from, references followed. */
function ruleAt(location: string, prepared: PreparedSchema): unknown {
  let found: unknown = prepared.root;
  for (const key of keysOf(decodeURIComponent(location.slice(1)))) {
    if (!isObject(found) && !Array.isArray(found)) return undefined;
    const next: unknown = (found as Record<string, unknown>)[key];
    found = key === '$ref' && typeof next === 'string' ? target(prepared.root, next) : next;
  }
  return found;
}

const isAtOrUnder = (path: string, above: string) => path === above || path.startsWith(`${above}/`);

/** A union that failed: `branch` speaks for it, or nobody when no branch is chosen. */
interface FailedUnion {
  unit: OutputUnit;
  branch: number | undefined;
  ambiguous: boolean;
}

function failedUnion(unit: OutputUnit, instance: unknown, prepared: PreparedSchema, chosen: Choices): FailedUnion {
  const parts = ruleAt(unit.keywordLocation, prepared) as Schema[];
  const path = pathOf(unit.instanceLocation);
  const value = keysOf(path).reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], instance);
  const nonNull = parts.flatMap((part, index) => (part['type'] === 'null' ? [] : [index]));
  const ambiguous = /\((?:[2-9]|\d\d+) matches\)/.test(unit.error);
  if (nonNull.length === 1) return { unit, branch: nonNull[0], ambiguous };
  if (unit.keyword === 'anyOf') return { unit, branch: undefined, ambiguous };
  const above = ruleAt(unit.keywordLocation.slice(0, -'/oneOf'.length), prepared) as Schema;
  const field = fieldOf(above, prepared);
  const chosenHere = field.kind === 'variants' ? variantOf(field, value, prepared, chosenAt(chosen, path)) : undefined;
  return { unit, branch: chosenHere === undefined ? undefined : nonNull[chosenHere], ambiguous };
}

/** What the unions among the messages have to say: silent branches are left out, and what only repeats a branch. */
function heard(units: OutputUnit[], instance: unknown, prepared: PreparedSchema, chosen: Choices): OutputUnit[] {
  const unions = units
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .map((unit) => failedUnion(unit, instance, prepared, chosen));
  return unions.reduce((left, { unit, branch, ambiguous }) => {
    const isPart = (other: OutputUnit, location: string) =>
      isAtOrUnder(other.keywordLocation, location) && isAtOrUnder(other.instanceLocation, unit.instanceLocation);
    const speaks = `${unit.keywordLocation}/${branch ?? 'nobody'}`;
    return left.filter((other) => {
      if (other === unit) return branch === undefined || ambiguous;
      return !isPart(other, unit.keywordLocation) || isPart(other, speaks);
    });
  }, units);
}

/** The keywords that only say that something below them is wrong. */
const LEVELS = new Set(['$ref', 'properties', 'patternProperties', 'additionalProperties', 'items', 'prefixItems']);
for (const keyword of ['additionalItems', 'unevaluatedProperties', 'unevaluatedItems', 'allOf', 'dependentSchemas']) {
  LEVELS.add(keyword);
}

const pathOf = (location: string) => decodeURIComponent(location.slice(1));

interface Finding {
  path: string;
  text: string;
}

/** `a` is missing: the message belongs to it, not to the object around it. */
function missingKey(unit: OutputUnit, rule: unknown): { key: string; text: string } | undefined {
  if (unit.keyword === 'required') {
    const key = (rule as string[]).find((name) => unit.error === `Instance does not have required property "${name}".`);
    return key === undefined ? undefined : { key, text: message({ keyword: 'required', rule, value: undefined }) };
  }
  for (const [given, needed] of Object.entries(rule as Record<string, string[]>)) {
    const key = needed.find((name) => unit.error === `Instance has "${given}" but does not have "${name}".`);
    if (key !== undefined) return { key, text: `Required when “${given}” is set.` };
  }
  return undefined;
}

function finding(unit: OutputUnit, instance: unknown, prepared: PreparedSchema): Finding | undefined {
  const { keyword, keywordLocation, error } = unit;
  const path = pathOf(unit.instanceLocation);
  if (LEVELS.has(keyword)) return undefined;
  if (keywordLocation.includes('/propertyNames')) {
    return keyword === 'propertyNames'
      ? undefined
      : { path, text: message({ keyword: 'propertyNames', rule: 0, value: 0 }) };
  }
  if (keyword === 'if') {
    return { path, text: message({ keyword: error.includes('"then"') ? 'then' : 'else', rule: 0, value: 0 }) };
  }
  const rule = ruleAt(keywordLocation.replace(/dependantRequired$/, 'dependentRequired'), prepared);
  if (keyword === 'required' || keyword === 'dependentRequired') {
    const missing = missingKey(unit, rule);
    return missing && { path: under(path, missing.key), text: missing.text };
  }
  const value = keysOf(path).reduce<unknown>((at, key) => (at as Record<string, unknown> | null)?.[key], instance);
  if (keyword === 'oneOf' && /\((?:[2-9]|\d\d+) matches\)/.test(error)) {
    return { path, text: 'This value fits more than one variant. Choose values that tell them apart.' };
  }
  return { path, text: message({ keyword, rule, value }) };
}

/** The path in the form of a path in what is sent. */
function formPath(path: string, keptItems: KeptItems): string {
  if (keptItems.size === 0) return path;
  let sent = '';
  let shown = '';
  for (const key of keysOf(path)) {
    const kept = keptItems.get(sent);
    sent = under(sent, key);
    shown = under(shown, kept?.[Number(key)] ?? key);
  }
  return shown;
}

/** The schema of the field that shows `key`; null when it has none, undefined when `field` shows its value as a whole. */
function partOf(field: Field, key: string, value: unknown): Schema | null | undefined {
  if (field.kind === 'object') {
    const schema = schemaOfKey(field, key);
    return schema ?? (isObject(value) && Object.hasOwn(value, key) ? null : undefined);
  }
  if (field.kind === 'list') return Array.isArray(value) && Number(key) < value.length ? field.items : undefined;
  if (field.kind === 'tuple') {
    const extra = Array.isArray(value) && Number(key) < value.length ? null : undefined;
    return field.positions[Number(key)] ?? extra;
  }
  return undefined;
}

/** The nearest path that the form shows, and what the message has to name because it is deeper. */
function shownAt(
  path: string,
  data: unknown,
  prepared: PreparedSchema,
  chosen: Choices,
): { path: string; rest: string } {
  let schema: Schema = prepared.root;
  let value = data;
  let shown = '';
  const keys = keysOf(path);
  for (const [index, key] of keys.entries()) {
    let field = fieldOf(schema, prepared);
    while (field.kind === 'variants') {
      const variant = field.variants[variantOf(field, value, prepared, chosenAt(chosen, shown)) ?? -1];
      if (variant === undefined || (key === field.tag && variant.tags.length === 1)) return { path: shown, rest: '' };
      field = fieldOf(variant.schema, prepared);
    }
    const part = partOf(field, key, value);
    if (part === undefined) return { path: shown, rest: keys.slice(index).join(' › ') };
    shown = under(shown, key);
    if (part === null) return { path: shown, rest: keys.slice(index + 1).join(' › ') };
    schema = part;
    value = isObject(value) || Array.isArray(value) ? (value as Record<string, unknown>)[key] : undefined;
  }
  return { path: shown, rest: '' };
}

/** Checks the data of a form as it would be sent. */
export function validateForm(prepared: PreparedSchema, data: unknown, chosen: Choices = []): Errors {
  const sent = dataToSend(prepared, data);
  const instance = plainJson(sent.data);
  const units = heard(run(instance, prepared.root, prepared), instance, prepared, chosen);
  const errors: Errors = { at: new Map(), form: [], within: new Set() };
  for (const unit of units) {
    const found = finding(unit, instance, prepared);
    if (found === undefined) continue;
    const { path, rest } = shownAt(formPath(found.path, sent.keptItems), data, prepared, chosen);
    const text = rest === '' ? found.text : `${rest}: ${found.text}`;
    const texts = path === '' ? errors.form : (errors.at.get(path) ?? []);
    if (!texts.includes(text)) texts.push(text);
    if (path !== '') errors.at.set(path, texts);
    for (let above = path; above !== ''; above = above.slice(0, above.lastIndexOf('/'))) errors.within.add(above);
  }
  return errors;
}
