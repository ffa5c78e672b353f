/** Forms for arguments: the values that they hold and send, and what they say about wrong ones. */
import { describe, expect, test } from 'vitest';

import { fieldOf } from '#lib/form/field.ts';
import { completed, initialData, switchedOn, variantValue } from '#lib/form/initial.ts';
import { parseJson, typedNumber, writeJson } from '#lib/json.ts';
import { type Dialect, prepareSchema } from '#lib/form/schema.ts';
import { dataToSend } from '#lib/form/sent.ts';
import { type Errors, validateForm } from '#lib/form/validate.ts';

import { cpuTimeOf } from '../../../../tests/support/cpu-time.ts';

const prepareOne = (schema: object, dialect: Dialect = 'pydantic_v2', extra: object = {}) =>
  prepareSchema({ type: 'object', properties: { x: schema }, ...extra }, dialect);

const said = ({ at, form }: Errors) => ({
  ...Object.fromEntries([...at].map(([path, texts]) => [path, texts.join(' | ')])),
  ...(form.length > 0 ? { form: form.join(' | ') } : {}),
});

/** What is said about `x`. */
const about = (schema: object, x: unknown, dialect: Dialect = 'pydantic_v2', extra: object = {}) =>
  said(validateForm(prepareOne(schema, dialect, extra), { x }));

const VARIANTS = {
  $defs: {
    Gauss: {
      title: 'Gaussian',
      type: 'object',
      properties: { kind: { const: 'gauss', type: 'string' }, sigma: { type: 'number', minimum: 0, default: 2 } },
      required: ['kind', 'sigma'],
      additionalProperties: false,
    },
    Median: {
      title: 'Median filter',
      type: 'object',
      properties: { kind: { const: 'median', type: 'string' }, size: { type: 'integer' } },
      required: ['kind', 'size'],
      additionalProperties: false,
    },
  },
};
const UNION = {
  oneOf: [{ $ref: '#/$defs/Gauss' }, { $ref: '#/$defs/Median' }],
  discriminator: { propertyName: 'kind', mapping: { gauss: '#/$defs/Gauss', median: '#/$defs/Median' } },
};

describe('scalars', () => {
  test.each([
    ['a stored number in a text field', { type: 'string' }, 5, 'Enter text.'],
    ['a pattern', { type: 'string', pattern: '^a' }, 'b', 'Does not fit the pattern ^a'],
    ['a format', { type: 'string', format: 'email' }, 'b', 'Enter an e-mail address.'],
    ['a length', { type: 'string', minLength: 2 }, 'b', 'Use at least 2 characters.'],
    ['another value than the constant', { const: 'a' }, 'b', 'Only "a" is possible here.'],
    ['a text that is no number', { type: 'integer' }, '12abc', 'Enter a whole number.'],
    ['a comma', { type: 'number' }, '1,5', 'Enter a number, with a point for decimals.'],
    ['a minimum', { type: 'number', minimum: 0.5 }, 0.4, 'Use 0.5 or more.'],
    ['a maximum', { type: 'number', maximum: 0.5 }, 0.6, 'Use 0.5 or less.'],
    ['an exclusive minimum of floats', { type: 'number', exclusiveMinimum: 0.5 }, 0.5, 'Use more than 0.5.'],
    ['an exclusive maximum', { type: 'number', exclusiveMaximum: 1 }, 1, 'Use less than 1.'],
    ['a multiple', { type: 'number', multipleOf: 0.1 }, 0.35, 'Use a multiple of 0.1.'],
    ['a value outside the list', { enum: ['a', 1] }, '1', 'Choose one of the listed values.'],
    ['one message for an enum with a type', { type: 'string', enum: ['a'] }, 'b', 'Choose one of the listed values.'],
    [
      'of "T or null" only T speaks',
      { anyOf: [{ type: 'integer', minimum: 3 }, { type: 'null' }] },
      1,
      'Use 3 or more.',
    ],
    ['null first', { anyOf: [{ type: 'null' }, { type: 'integer' }] }, 'q', 'Enter a whole number.'],
  ])('%s', (_, schema, value, text) => {
    expect(about(schema, value)).toEqual({ '/x': text });
  });

  test.each([
    ['zero', { type: 'integer' }, 0],
    ['2.0 is a whole number', { type: 'integer' }, parseJson('2.0')],
    ['just above an exclusive minimum', { type: 'number', exclusiveMinimum: 0.5 }, 0.5000001],
    ['a decimal multiple', { type: 'number', multipleOf: 0.1 }, 0.3],
    ['falsy options', { enum: [0, false, ''] }, false],
    ['an unknown format', { type: 'string', format: 'path' }, '/tmp'],
    ['an unknown keyword', { type: 'string', 'x-anything': { id: 7 } }, 'a'],
    ['null in the dialect where it is a value', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, null],
  ])('valid, %s', (_, schema, value) => {
    expect(about(schema, value, 'fractal_schema_v1')).toEqual({});
  });

  test.each([
    ['-2', '-2'],
    [' 1.5 ', '1.5'],
    ['1e3', '1e3'],
    ['2.0', '2.0'],
    ['90071992547409931', '90071992547409931'],
    ['12abc', undefined],
    ['1,5', undefined],
    ['', undefined],
    ['.5', undefined],
    ['+1', undefined],
    ['0x10', undefined],
    ['1e999', undefined],
    ['Infinity', undefined],
  ])('the typed text %j is the number %j', (text, written) => {
    const number = typedNumber(text);
    expect(number && writeJson(number)).toBe(written);
  });

  test('a required switch without value is an error', () => {
    expect(about({ type: 'boolean' }, null, 'pydantic_v2', { required: ['x'] })).toEqual({ '/x': 'This is required.' });
    expect(about({ type: 'boolean' }, null, 'fractal_schema_v1')).toEqual({ '/x': 'This needs a value.' });
  });

  test('falsy options stay what they are on load', () => {
    for (const x of [0, false, '']) {
      expect(initialData(prepareOne({ enum: [0, false, ''] }), { x, y: 1 })).toEqual({ x, y: 1 });
    }
  });
});

describe('containers', () => {
  test('a nullable block begins with its default null, and switched on with its inner defaults', () => {
    const schema = {
      anyOf: [{ type: 'object', title: 'Inner', properties: { a: { type: 'integer', default: 3 } } }, { type: 'null' }],
      default: null,
      title: 'Outer',
    };
    const prepared = prepareOne(schema);
    expect(initialData(prepared, null)).toEqual({ x: null });
    const property = (prepared.root['properties'] as Record<string, Record<string, unknown>>)['x']!;
    expect(switchedOn(property, prepared)).toEqual({ a: 3 });
    expect(fieldOf(property, prepared)).toMatchObject({ kind: 'object', nullable: true, title: 'Outer' });
  });

  test('what no form can show is one kind of field; the others stay fields', () => {
    const prepared = prepareSchema(
      {
        properties: {
          a: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
          b: { type: 'null' },
          c: {},
          d: { type: 'colour' },
          e: { type: 'string' },
        },
      },
      'pydantic_v2',
    );
    const properties = prepared.root['properties'] as Record<string, Record<string, unknown>>;
    const kinds = Object.values(properties).map((schema) => fieldOf(schema, prepared).kind);
    expect(kinds).toEqual(['unsupported', 'unsupported', 'unsupported', 'unsupported', 'text']);
    expect(said(validateForm(prepared, { a: true }))).toEqual({ '/a': 'This value fits none of the possibilities.' });
  });

  test('entries of a record are checked by their schema', () => {
    const schema = { type: 'object', additionalProperties: { type: 'integer' } };
    expect(about(schema, { a: 1, 'b/c ~%#': 'q' })).toEqual({ '/x/b~1c ~0%#': 'Enter a whole number.' });
  });

  test('names of entries are checked', () => {
    const schema = {
      type: 'object',
      additionalProperties: { type: 'integer' },
      propertyNames: { pattern: '^[a-z]+$' },
    };
    expect(about(schema, { A: 1 })).toEqual({ '/x/A': 'This name is not possible here. Use another one.' });
  });

  test.each([[true], [undefined]])('extra values are kept and valid with additionalProperties %s', (additional) => {
    const schema = { type: 'object', ...(additional === undefined ? {} : { additionalProperties: additional }) };
    const prepared = prepareOne(schema);
    const data = { x: { deep: [{ er: 1 }], text: 'a' } };
    expect(initialData(prepared, data)).toEqual(data);
    expect(said(validateForm(prepared, data))).toEqual({});
  });

  test('an unexpected key is kept and said at the key', () => {
    const prepared = prepareSchema({ type: 'object', properties: {}, additionalProperties: false }, 'pydantic_v2');
    expect(initialData(prepared, { old: { a: 1 } })).toEqual({ old: { a: 1 } });
    expect(said(validateForm(prepared, { old: { a: 1 } }))).toEqual({ '/old': 'Not expected here. Remove it.' });
  });

  test.each([
    [
      'text for an object',
      { type: 'object', properties: { a: { type: 'string' } } },
      'text',
      'A group of named values is expected here.',
    ],
    ['an object for a list', { type: 'array', items: { type: 'string' } }, { a: 1 }, 'A list is expected here.'],
  ])('%s is kept and said', (_, schema, value, text) => {
    expect(initialData(prepareOne(schema), { x: value })).toEqual({ x: value });
    expect(about(schema, value)).toEqual({ '/x': text });
  });

  test('a required list with minItems is prefilled, an optional one is not', () => {
    const schema = { type: 'array', items: { type: 'integer', default: 7 }, minItems: 2 };
    expect(initialData(prepareOne(schema, 'pydantic_v2', { required: ['x'] }), {})).toEqual({ x: [7, 7] });
    expect(initialData(prepareOne(schema), {})).toEqual({ x: [] });
  });

  test('nested lists, and messages at the item of the form although empty items are not sent', () => {
    const schema = { type: 'array', items: { type: 'array', items: { type: 'integer' } } };
    expect(about(schema, [[null], [1, null, 'q']])).toEqual({ '/x/1/2': 'Enter a whole number.' });
  });

  test.each([
    ['too few', { minItems: 2 }, [1], 'Give at least 2 items.'],
    ['too many', { maxItems: 1 }, [1, 2], 'Keep at most 1 item.'],
    ['twice', { uniqueItems: true }, [1, 1], 'Each item may occur only once. Remove the repeated ones.'],
  ])('%s is said at the block', (_, limits, value, text) => {
    expect(about({ type: 'array', items: { type: 'integer' }, ...limits }, value)).toEqual({ '/x': text });
  });
});

describe('tuples', () => {
  const two = [{ type: 'integer', default: 4 }, { type: 'string' }];
  const legacy = { type: 'array', items: two, minItems: 2, maxItems: 2 };
  const modern = { type: 'array', prefixItems: two, minItems: 2, maxItems: 2 };

  test.each([
    ['pydantic_v1, optional', legacy, 'pydantic_v1', {}, []],
    ['pydantic_v1, required', legacy, 'pydantic_v1', { required: ['x'] }, [4, null]],
    ['pydantic_v2, optional', modern, 'pydantic_v2', {}, []],
    ['pydantic_v2, required', modern, 'pydantic_v2', { required: ['x'] }, [4, null]],
    ['fractal_schema_v1, optional', modern, 'fractal_schema_v1', {}, [4, null]],
  ] as const)('%s begins as it should', (_, schema, dialect, extra, expected) => {
    expect(initialData(prepareOne(schema, dialect, extra), null)).toEqual({ x: expected });
  });

  test.each(['pydantic_v1', 'pydantic_v2', 'fractal_schema_v1'] as const)(
    'a list of one length is so many positions (%s)',
    (dialect) => {
      const prepared = prepareOne({ type: 'array', items: { type: 'number' }, minItems: 3, maxItems: 3 }, dialect, {
        required: ['x'],
      });
      expect(initialData(prepared, null)).toEqual({ x: [null, null, null] });
      expect(said(validateForm(prepared, { x: [1, 'q', 3] }))).toEqual({
        '/x/1': 'Enter a number, with a point for decimals.',
      });
    },
  );

  test('tuples of tuples, objects and variants', () => {
    const schema = {
      type: 'array',
      prefixItems: [
        { type: 'array', prefixItems: two, minItems: 2, maxItems: 2 },
        { type: 'object', properties: { a: { type: 'integer', default: 1 } } },
        UNION,
      ],
      minItems: 3,
      maxItems: 3,
    };
    const prepared = prepareOne(schema, 'pydantic_v2', { required: ['x'], ...VARIANTS });
    expect(initialData(prepared, null)).toEqual({ x: [[4, null], { a: 1 }, { kind: 'gauss', sigma: 2 }] });
    expect(said(validateForm(prepared, { x: [[1, 'a'], { a: 1 }, { kind: 'gauss', sigma: -1 }] }))).toEqual({
      '/x/2/sigma': 'Use 0 or more.',
    });
  });

  test('extra values are kept, missing ones are null, and the block says so', () => {
    const prepared = prepareOne(legacy, 'pydantic_v1');
    expect(initialData(prepared, { x: [1, 'a', 'b'] })).toEqual({ x: [1, 'a', 'b'] });
    expect(initialData(prepared, { x: [1] })).toEqual({ x: [1, null] });
    expect(said(validateForm(prepared, { x: [1, 'a', 'b'] }))).toEqual({ '/x': 'Keep at most 2 items.' });
  });
});

describe('variants', () => {
  const prepared = prepareOne(UNION, 'pydantic_v2', VARIANTS);
  const property = (prepared.root['properties'] as Record<string, Record<string, unknown>>)['x']!;
  const field = fieldOf(property, prepared);

  test('the first variant with its defaults and tag is the beginning', () => {
    expect(initialData(prepared, {})).toEqual({ x: { kind: 'gauss', sigma: 2 } });
    if (field.kind !== 'variants') throw new Error('variants expected');
    expect(variantValue(field, 1, prepared)).toEqual({ kind: 'median', size: null });
  });

  test('only the chosen variant speaks', () => {
    expect(said(validateForm(prepared, { x: { kind: 'median', size: 'q' } }))).toEqual({
      '/x/size': 'Enter a whole number.',
    });
  });

  test('an unknown or missing tag asks to choose, nothing else', () => {
    for (const x of [{ kind: 'mean', size: 3 }, { size: 3 }]) {
      expect(said(validateForm(prepared, { x }))).toEqual({ '/x': 'Choose a variant.' });
    }
  });

  test('nullable, in lists and as values of records', () => {
    const nullable = { anyOf: [UNION, { type: 'null' }], default: null };
    expect(about(nullable, null, 'fractal_schema_v1', VARIANTS)).toEqual({});
    expect(about(nullable, { kind: 'gauss', sigma: -1 }, 'pydantic_v2', VARIANTS)).toEqual({
      '/x/sigma': 'Use 0 or more.',
    });
    expect(
      about(
        { type: 'array', items: UNION },
        [
          { kind: 'median', size: 1 },
          { kind: 'gauss', sigma: -1 },
        ],
        'pydantic_v2',
        VARIANTS,
      ),
    ).toEqual({
      '/x/1/sigma': 'Use 0 or more.',
    });
    expect(
      about(
        { type: 'object', additionalProperties: UNION },
        { a: { kind: 'gauss', sigma: -1 } },
        'pydantic_v2',
        VARIANTS,
      ),
    ).toEqual({
      '/x/a/sigma': 'Use 0 or more.',
    });
  });

  test('a tag given by enum', () => {
    const schema = {
      oneOf: [
        { type: 'object', properties: { t: { enum: ['a', 'b'] }, n: { type: 'integer' } }, required: ['t'] },
        { type: 'object', properties: { t: { enum: ['c'] }, s: { type: 'string' } }, required: ['t'] },
      ],
    };
    expect(about(schema, { t: 'b', n: 'q' })).toEqual({ '/x/n': 'Enter a whole number.' });
    expect(about(schema, { t: 'c', s: 5 })).toEqual({ '/x/s': 'Enter text.' });
  });

  test('without a tag the variant that fits best speaks, and a chosen one always', () => {
    const schema = {
      oneOf: [
        {
          title: 'One',
          type: 'object',
          properties: { n: { type: 'integer' } },
          required: ['n'],
          additionalProperties: false,
        },
        {
          title: 'Two',
          type: 'object',
          properties: { s: { type: 'string' } },
          required: ['s'],
          additionalProperties: false,
        },
      ],
    };
    expect(about(schema, { s: 'a' })).toEqual({});
    expect(about(schema, { s: 7 })).toEqual({ '/x/s': 'Enter text.' });
    const chosen = [{ path: '/x', variant: 0 }];
    expect(said(validateForm(prepareOne(schema), { x: { n: 'q' } }, chosen))).toEqual({
      '/x/n': 'Enter a whole number.',
    });
  });
});

describe('references, conditions, defaults', () => {
  const $defs = {
    Model: {
      title: 'Target',
      type: 'object',
      properties: { a: { type: 'integer', default: 3 }, b: { type: 'string' } },
    },
    Level: { enum: ['low', 'high'], default: 'low' },
    Node: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/Node' } } },
  };
  const start = (schema: object) => initialData(prepareOne(schema, 'pydantic_v2', { $defs }), {});

  test('a default next to the reference, and defaults inside the target', () => {
    expect(start({ $ref: '#/$defs/Model' })).toEqual({ x: { a: 3, b: null } });
    expect(start({ $ref: '#/$defs/Model', default: { a: 9 } })).toEqual({ x: { a: 9, b: null } });
    expect(start({ $ref: '#/$defs/Level' })).toEqual({ x: 'low' });
    expect(start({ default: 'high', $ref: '#/$defs/Level' })).toEqual({ x: 'high' });
  });

  test('what is written next to a reference wins, in any order', () => {
    for (const schema of [
      { title: 'Mine', $ref: '#/$defs/Model' },
      { $ref: '#/$defs/Model', title: 'Mine' },
    ]) {
      const prepared = prepareOne(schema, 'pydantic_v1', { $defs });
      const property = (prepared.root['properties'] as Record<string, Record<string, unknown>>)['x']!;
      expect(fieldOf(property, prepared).title).toBe('Mine');
    }
  });

  test('a recursive reference ends', () => {
    expect(start({ $ref: '#/$defs/Node' })).toEqual({ x: { name: null, next: null } });
    expect(about({ $ref: '#/$defs/Node' }, { next: { next: { name: 5 } } }, 'pydantic_v2', { $defs })).toEqual({
      '/x/next/next/name': 'Enter text.',
    });
  });

  test('all parts of allOf apply, and choices are those of all parts', () => {
    const number = { allOf: [{ type: 'number', minimum: 1 }, { minimum: 3 }, { maximum: 9 }], title: 'Both' };
    expect(about(number, 2)).toEqual({ '/x': 'Use 3 or more.' });
    const prepared = prepareOne({ allOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] });
    const property = (prepared.root['properties'] as Record<string, Record<string, unknown>>)['x']!;
    expect(fieldOf(property, prepared)).toMatchObject({ kind: 'choice', options: ['b'] });
    const single = prepareOne({ allOf: [{ $ref: '#/$defs/Level' }], title: 'Level' }, 'pydantic_v1', { $defs });
    const level = (single.root['properties'] as Record<string, Record<string, unknown>>)['x']!;
    expect(fieldOf(level, single)).toMatchObject({ kind: 'choice', title: 'Level', default: 'low' });
  });

  const modes = { mode: { type: 'string' }, size: { type: 'integer' }, file: { type: 'string' } };
  const ifMode = (mode: string, key: string) => ({
    if: { properties: { mode: { const: mode } }, required: ['mode'] },
    then: { required: [key] },
  });

  test('a broken condition is said at the object and at the field', () => {
    const schema = { type: 'object', properties: modes, ...ifMode('fixed', 'size') };
    expect(about(schema, { mode: 'fixed' })).toEqual({
      '/x': 'These values do not go together: a condition of the schema asks for something else (“then”).',
      '/x/size': 'This is required.',
    });
    expect(about(schema, { mode: 'auto' })).toEqual({});
  });

  test('several conditions count each for itself', () => {
    const schema = { type: 'object', properties: modes, allOf: [ifMode('fixed', 'size'), ifMode('file', 'file')] };
    expect(Object.keys(about(schema, { mode: 'file' }))).toEqual(['/x', '/x/file']);
    expect(Object.keys(about(schema, { mode: 'fixed', file: 'a' }))).toEqual(['/x', '/x/size']);
  });

  test('dependentRequired marks what is missing', () => {
    const schema = { type: 'object', properties: modes, dependentRequired: { size: ['file'] } };
    expect(about(schema, { size: 1 })).toEqual({ '/x/file': 'Required when “size” is set.' });
  });

  test('not, at the object', () => {
    const schema = {
      type: 'object',
      properties: modes,
      not: { allOf: [{ required: ['size'] }, { required: ['file'] }] },
    };
    expect(about(schema, { size: 1, file: 'a' })).toEqual({ '/x': '“size” and “file” cannot be set together.' });
    expect(about(schema, { size: 1, file: null })).toEqual({});
  });

  test('a required object whose children are all empty', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    expect(about(schema, { a: null }, 'pydantic_v2', { required: ['x'] })).toEqual({ '/x': 'This is required.' });
  });

  test('defaults of properties, nested, in lists, objects and tuples', () => {
    const prepared = prepareSchema(
      {
        properties: {
          list: { type: 'array', items: { type: 'integer' }, default: [1, 2] },
          record: { type: 'object', additionalProperties: { type: 'integer' }, default: { a: 1 } },
          tuple: { type: 'array', prefixItems: [{}, {}], default: [1, 'a'] },
          nested: {
            type: 'object',
            properties: { deep: { type: 'string', default: 'd' }, none: { default: null, type: 'string' } },
          },
        },
      },
      'pydantic_v2',
    );
    expect(initialData(prepared, undefined)).toEqual({
      list: [1, 2],
      record: { a: 1 },
      tuple: [1, 'a'],
      nested: { deep: 'd', none: null },
    });
  });

  test('what belongs to no field is said for the form', () => {
    const prepared = prepareSchema({ type: 'object', properties: modes, minProperties: 2 }, 'pydantic_v2');
    expect(said(validateForm(prepared, { mode: 'a' }))).toEqual({ form: 'Give at least 2 entries.' });
  });

  test('500 objects of 4 fields are checked as quickly as 50, each', () => {
    const items = {
      type: 'object',
      properties: Object.fromEntries(['a', 'b', 'c', 'd'].map((key) => [key, { type: 'integer', minimum: 0 }])),
    };
    const prepared = prepareOne({ type: 'array', items });
    const best = { 50: Infinity, 500: Infinity };
    // garbage collection falls into some of them: the best of several times counts
    for (let again = 0; again < 8; again++) {
      for (const length of [50, 500] as const) {
        const data = { x: Array.from({ length }, (_, a) => ({ a, b: 1, c: 2, d: 'wrong' })) };
        let found = 0;
        best[length] = Math.min(
          best[length],
          cpuTimeOf(() => (found = validateForm(prepared, data).at.size)),
        );
        expect(found).toBe(length);
      }
    }
    // ten times as many; what looks at every pair would take a hundred times as long
    expect(best[500] / best[50]).toBeLessThan(40);
  });
});

describe('what is held and what is sent', () => {
  test('stored values are completed with null; defaults are not put in; undeclared ones stay', () => {
    const prepared = prepareOne({ type: 'integer', default: 3 });
    expect(initialData(prepared, { other: 1 })).toEqual({ other: 1, x: null });
    expect(initialData(prepared, {})).toEqual({ x: 3 });
    expect(completed({ x: 5 }, prepared.root, prepared)).toEqual({ x: 5 });
  });

  test('legacy dialects send nothing that is not set; positions of tuples stay', () => {
    const prepared = prepareSchema(
      {
        properties: {
          tuple: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'integer' }] },
          away: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'integer' }] },
        },
      },
      'pydantic_v2',
    );
    const data = { a: null, b: '', c: [], d: { e: null }, f: [null, 1, { g: '' }], zero: 0, off: false };
    const tuples = { tuple: [null, 2], away: [null, null] };
    expect(dataToSend(prepared, { ...data, ...tuples }).data).toEqual({
      f: [1],
      zero: 0,
      off: false,
      tuple: [null, 2],
    });
  });

  test('fractal_schema_v1 sends everything as it is', () => {
    const data = { x: null, b: '', c: [] };
    expect(dataToSend(prepareOne({}, 'fractal_schema_v1'), data).data).toBe(data);
  });

  test.each(['pydantic_v2', 'fractal_schema_v1'] as const)('numbers go back as they were written (%s)', (dialect) => {
    const text = '{"x":1.0,"big":90071992547409931,"exponent":1e3,"list":[2.50]}';
    const prepared = prepareOne({ type: 'number' }, dialect);
    expect(writeJson(dataToSend(prepared, initialData(prepared, parseJson(text))).data)).toBe(text);
  });
});
