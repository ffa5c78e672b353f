/**
 * One schema to show out of several that hold together.
 *
 * Only for display: the validator sees the parts, so every one of them counts. Conditions (`if`) stay with the validator.
 */
import { isObject, sameJson } from '../json.ts';
import { type PreparedSchema, type Schema, target } from './schema.ts';

type Join = (a: unknown, b: unknown) => unknown;

const lower: Join = (a, b) => Math.min(a as number, b as number);
const higher: Join = (a, b) => Math.max(a as number, b as number);
const either: Join = (a, b) => [...new Set([...(a as string[]), ...(b as string[])])];
const both: Join = (a, b) =>
  (a as unknown[]).filter((value) => (b as unknown[]).some((other) => sameJson(value, other)));
const sharedSchemas: Join = (a, b) => {
  const [first, second] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const shared = Object.keys(first).filter((key) => Object.hasOwn(second, key));
  return { ...second, ...first, ...Object.fromEntries(shared.map((key) => [key, joined(first[key], second[key])])) };
};

const JOINS: Record<string, Join> = {
  properties: sharedSchemas,
  required: either,
  enum: both,
  ...Object.fromEntries(['minimum', 'exclusiveMinimum', 'minLength', 'minItems'].map((key) => [key, higher])),
  ...Object.fromEntries(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'].map((key) => [key, lower])),
};

/** Two schemas of one property are both shown as one, later, when the field is looked at. */
const joined: Join = (a, b) => (isObject(a) && isObject(b) ? { allOf: [a, b] } : a);

/** Both schemas as one; the first title, description and default win. */
function join(first: Schema, second: Schema): Schema {
  const result = { ...second, ...first };
  for (const [key, joinValues] of Object.entries(JOINS)) {
    if (first[key] !== undefined && second[key] !== undefined) result[key] = joinValues(first[key], second[key]);
  }
  return result;
}

/** The references followed to get here: one that comes again is recursive. */
export type Trail = readonly string[];

/** The schema without `$ref` and `allOf`, and the references it came through; undefined when they go in a circle. */
export function resolved(schema: Schema, prepared: PreparedSchema): { schema: Schema; trail: Trail } | undefined {
  const trail: string[] = [];

  function resolve(part: Schema, open: Trail): Schema | undefined {
    const { $ref, allOf, ...own } = part;
    let result: Schema | undefined = own;
    if (typeof $ref === 'string') {
      if (open.includes($ref)) return undefined;
      trail.push($ref);
      const found = resolve(target(prepared.root, $ref)!, [...open, $ref]);
      result = found && { ...found, ...own };
      carryDiscriminator(target(prepared.root, $ref)!, result);
    } else {
      carryDiscriminator(part, result);
    }
    for (const item of Array.isArray(allOf) ? (allOf as unknown[]) : []) {
      if (!isObject(item) || item['if'] !== undefined) continue;
      const shown = resolve(item, open);
      if (shown === undefined || result === undefined) return undefined;
      const merged: Schema = join(result, shown);
      carryDiscriminator(result, merged);
      carryDiscriminator(shown, merged);
      result = merged;
    }
    return result;
  }

  function carryDiscriminator(from: Schema, to: Schema | undefined) {
    const discriminator = prepared.discriminators.get(from);
    if (discriminator !== undefined && to !== undefined) prepared.discriminators.set(to, discriminator);
  }

  const shown = resolve(schema, []);
  return shown && { schema: shown, trail };
}
