/** What nobody should have to unfold to find: what must be filled in, and what names something in the data. */
import { fieldOf, variantByTag } from './field.ts';
import { isObject, ownOf } from '../json.ts';
import { meaningOf } from './meaning.ts';
import { type PreparedSchema, type Schema } from './schema.ts';

/** Whether a value, or something in it, is important. What is not set has nothing in it. */
export function isImportant(
  schema: Schema,
  prepared: PreparedSchema,
  names: readonly string[],
  value: unknown,
): boolean {
  const field = fieldOf(schema, prepared);
  switch (field.kind) {
    case 'text':
      return meaningOf(names, { default: field.default }) !== undefined;
    case 'object':
      return (
        isObject(value) &&
        field.properties.some(
          ({ key, schema: part, required }) =>
            (required && fieldOf(part, prepared).default === undefined) ||
            isImportant(part, prepared, [...names, key], ownOf(value, key)),
        )
      );
    case 'variants': {
      const variant = field.variants[variantByTag(field, value) ?? -1];
      return variant !== undefined && isImportant(variant.schema, prepared, names, value);
    }
    default:
      return false;
  }
}
