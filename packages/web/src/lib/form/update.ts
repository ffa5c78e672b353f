/**
 * Arguments of a task whose version changes, and the check of saved arguments before a run.
 *
 * The old arguments stay, whatever the new schema says about them; only what they do not have gets a default. A list is
 * one value: it is never filled up.
 */
import { fieldOf, schemaOfKey, variantByTag } from './field.ts';
import { startValue } from './initial.ts';
import { isObject } from '../json.ts';
import { type Dialect, prepareSchema, type PreparedSchema, type Schema, SchemaProblem } from './schema.ts';
import { type Errors, validateForm } from './validate.ts';

export function argumentsAfterUpdate(old: unknown, prepared: PreparedSchema): unknown {
  return old === null || old === undefined ? old : withNewDefaults(old, prepared.root, prepared);
}

function withNewDefaults(old: unknown, schema: Schema, prepared: PreparedSchema): unknown {
  const field = fieldOf(schema, prepared);
  if (!isObject(old)) return old;
  if (field.kind === 'variants') {
    const variant = field.variants[variantByTag(field, old) ?? -1];
    return variant === undefined ? old : withNewDefaults(old, variant.schema, prepared);
  }
  if (field.kind !== 'object') return old;
  const kept = Object.entries(old).map(([key, value]) => {
    const part = schemaOfKey(field, key);
    return [key, part ? withNewDefaults(value, part, prepared) : value] as const;
  });
  const added = field.properties
    .filter(({ key }) => !Object.hasOwn(old, key))
    .map((property) => {
      const place = { required: property.required, open: [] };
      return [property.key, startValue(property.schema, prepared, place)] as const;
    });
  return Object.fromEntries([...kept, ...added]);
}

/** What is wrong with saved arguments: errors as in the form, or the mistake in the schema; undefined without a schema. */
export function checkBeforeRun(saved: unknown, schema: unknown, dialect: Dialect | undefined): Errors | undefined {
  if (schema === null || schema === undefined || dialect === undefined) return undefined;
  try {
    return validateForm(prepareSchema(schema, dialect), saved ?? {});
  } catch (problem) {
    if (!(problem instanceof SchemaProblem)) throw problem;
    return { at: new Map(), form: [problem.message], within: new Set() };
  }
}
