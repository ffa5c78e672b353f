/** Free-form JSON: arguments, configuration, attributes. */
import { z } from 'zod';

import { mapOf, trimKeys } from './maps.ts';
import { kindOf, NumberAsWritten, plain, type Scalar } from './numbers.ts';
import { addProblem, found, type Reading, rule, valueError, wrong } from './problem.ts';
import { boolean, readText } from './scalars.ts';

export type JsonObject = Record<string, unknown>;

/** An object with any values and trimmed keys. */
export const jsonObject = () => mapOf(z.unknown()).transform(trimKeys);

/** The runner fills these arguments itself. */
const RESERVED = ['zarr_dir', 'zarr_url', 'zarr_urls', 'init_args'];

/** Arguments of a task. */
export const argsObject = () =>
  jsonObject().superRefine(
    rule((args: JsonObject) => {
      const taken = RESERVED.find((name) => Object.hasOwn(args, name));
      return taken === undefined ? undefined : `The argument ${taken} is set by the service. Remove it.`;
    }),
  );

/** name → flag. */
export const flagMap = () => mapOf(boolean()).transform(trimKeys);

/** A number, text or flag that can be stored; numbers stay as they were written. */
function readScalar(input: unknown): Reading<Scalar> {
  const value = plain(input);
  if (typeof value === 'string') return readText(value);
  if (typeof value === 'boolean') return found(value);
  if (typeof value !== 'number') return wrong('value_error', 'Value error, Enter a number, a text or a flag.');
  return Number.isFinite(value) ? found(input as Scalar) : valueError('This number is too large.');
}

/** Not made with `reader`, which would hand over plain numbers. */
const scalar = () =>
  z
    .unknown()
    .transform((input, ctx): Scalar => {
      const reading = readScalar(input);
      if ('value' in reading) return reading.value;
      addProblem(ctx, reading.problem);
      return z.NEVER;
    })
    .meta({ anyOf: [{ type: 'integer' }, { type: 'number' }, { type: 'string' }, { type: 'boolean' }] });

/** The attributes of an image. */
export const attributeMap = () => mapOf(scalar()).transform(trimKeys);

const mixed = (values: Scalar[]) => new Set(values.map(kindOf)).size !== 1;

/** attribute → the values that pass: at least one, all of one kind. */
export const attributeFilters = () =>
  mapOf(z.array(scalar()))
    .transform(trimKeys)
    .superRefine(
      rule((filters: Record<string, Scalar[]>) => {
        const odd = Object.keys(filters).find((key) => mixed(filters[key]!));
        return odd === undefined ? undefined : `Give at least one value for ${odd}, all of one kind.`;
      }),
    );

const writtenNumber = z.custom<NumberAsWritten>((value) => value instanceof NumberAsWritten);

/** What answers hold where requests take free-form JSON. */
export const jsonAnswer = {
  object: () => z.record(z.string(), z.unknown()),
  scalar: () =>
    z
      .union([z.string(), z.number(), z.boolean(), writtenNumber])
      .meta({ anyOf: [{ type: 'integer' }, { type: 'number' }, { type: 'string' }, { type: 'boolean' }] }),
  flags: () => z.record(z.string(), z.boolean()),
};
