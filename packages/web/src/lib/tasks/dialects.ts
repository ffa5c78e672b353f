/**
 * Which dialect a schema of arguments is written in: `pydantic_v2` when it is a valid schema of 2020-12, else
 * `pydantic_v1` when it is one of draft 7. The rules below are those parts of the two that tasks use.
 */
import { type Schema, validate } from '@cfworker/json-schema';

import { type JsonObject, plainJson } from '../json.ts';
import type { Dialect } from '../form/schema.ts';

const SELF = { $ref: '#' };
const SCHEMAS = { type: 'array', minItems: 1, items: SELF };
const MAP = { type: 'object', additionalProperties: SELF };
const NAMES = { type: 'array', items: { type: 'string' }, uniqueItems: true };
const COUNT = { type: 'integer', minimum: 0 };
const NUMBER = { type: 'number' };
const TEXT = { type: 'string' };
const SIMPLE = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

const COMMON = {
  $id: TEXT,
  $ref: TEXT,
  $comment: TEXT,
  title: TEXT,
  description: TEXT,
  format: TEXT,
  pattern: { type: 'string', format: 'regex' },
  type: { anyOf: [{ enum: SIMPLE }, { type: 'array', minItems: 1, items: { enum: SIMPLE }, uniqueItems: true }] },
  enum: { type: 'array' },
  properties: MAP,
  patternProperties: MAP,
  additionalProperties: SELF,
  propertyNames: SELF,
  required: NAMES,
  minProperties: COUNT,
  maxProperties: COUNT,
  contains: SELF,
  minItems: COUNT,
  maxItems: COUNT,
  uniqueItems: { type: 'boolean' },
  minLength: COUNT,
  maxLength: COUNT,
  minimum: NUMBER,
  maximum: NUMBER,
  exclusiveMinimum: NUMBER,
  exclusiveMaximum: NUMBER,
  multipleOf: { type: 'number', exclusiveMinimum: 0 },
  allOf: SCHEMAS,
  anyOf: SCHEMAS,
  oneOf: SCHEMAS,
  not: SELF,
  if: SELF,
  then: SELF,
  else: SELF,
  definitions: MAP,
};

const ruleOf = (properties: object): Schema => ({ type: ['object', 'boolean'], properties }) as Schema;
const NEWER = ruleOf({ ...COMMON, $defs: MAP, items: SELF, prefixItems: SCHEMAS });
const OLDER = ruleOf({ ...COMMON, items: { anyOf: [SELF, SCHEMAS] }, additionalItems: SELF });

export const detectDialect = (schemas: readonly JsonObject[]): Dialect | undefined => {
  const plain = schemas.map(plainJson);
  if (plain.every((schema) => validate(schema, NEWER, '2020-12').valid)) return 'pydantic_v2';
  return plain.every((schema) => validate(schema, OLDER, '7').valid) ? 'pydantic_v1' : undefined;
};
