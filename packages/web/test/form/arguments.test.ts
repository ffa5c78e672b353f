/** Schemas, blocks, updates, drafts and free-form values of the arguments form, without a browser. */
import { describe, expect, test } from 'vitest';

import type { TaskType } from '@service/contract';

import { advancedKeys, blocksOf, differs, needHeadings } from '#lib/form/blocks.ts';
import { type DraftStorage, draftsOf, isOutdated } from '#lib/form/drafts.ts';
import { argumentsFile, readArgumentsFile } from '#lib/form/exchange.ts';
import { entryOf, newEntry, problemsOf, valueOf, withType } from '#lib/form/freeform.ts';
import { initialData } from '#lib/form/initial.ts';
import { JsonSyntaxError, keysOf, parseJson, sameJson, under, writeJson } from '#lib/json.ts';
import { readMarkdown } from '#lib/ui/markdown.ts';
import { dialectOf, prepareSchema, SchemaProblem } from '#lib/form/schema.ts';
import { argumentsAfterUpdate, checkBeforeRun } from '#lib/form/update.ts';
import { isValid, validateForm } from '#lib/form/validate.ts';

describe('JSON as it was written', () => {
  test.each([
    '{"a":1.0,"b":[90071992547409931,-0,1e3,1E+2],"c":{"d":null,"e":true,"f":false}}',
    '{"__proto__":1,"text":"quote \\" and \\u00e9 line\\n"}',
    '[]',
    '{}',
    '"a"',
  ])('%s comes back with the same numbers', (text) => {
    const value = parseJson(text);
    expect(JSON.parse(writeJson(value))).toEqual(JSON.parse(text));
    expect(writeJson(value).match(/-?\d[\d.eE+]*/g)).toEqual(text.replace('\\u00e9', 'é').match(/-?\d[\d.eE+]*/g));
  });

  test('indents like JSON.stringify', () => {
    const value = { a: [1, { b: 'c' }], d: {}, e: [] };
    expect(writeJson(value, 2)).toBe(JSON.stringify(value, null, 2));
  });

  test.each([
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected a comma or }'],
    ['{"a": 01}', 1, 8, 'expected a comma or }'],
    ['[1, ]', 1, 5, 'expected a value'],
    ['{"a"', 1, 5, 'the text ends here; expected a colon'],
    ['{a: 1}', 1, 2, 'expected a name in quotation marks'],
    ['"abc', 1, 5, 'the text ends here; close the text with a quotation mark'],
    ['1 2', 1, 3, 'expected the end of the text'],
    ['', 1, 1, 'the text ends here; expected a value'],
    ['"\\x"', 1, 1, 'after a backslash only " \\ / b f n r t or u with four digits is possible'],
  ])('%j is refused at line %i, column %i', (text, line, column, words) => {
    const mistake = catching(() => parseJson(text));
    expect(mistake).toBeInstanceOf(JsonSyntaxError);
    expect(mistake).toMatchObject({ line, column, message: `Line ${line}, column ${column}: ${words}.` });
  });

  test('equal as written, in any order of keys', () => {
    expect(sameJson(parseJson('{"a":1.0,"b":2}'), parseJson('{"b":2,"a":1.0}'))).toBe(true);
    expect(sameJson(parseJson('1.0'), 1)).toBe(false);
    expect(sameJson([1, 2], [2, 1])).toBe(false);
    expect(sameJson({ a: undefined }, {})).toBe(false);
  });

  test('paths take any name', () => {
    expect(keysOf(under(under('', 'a/b~c'), 3))).toEqual(['a/b~c', '3']);
  });
});

const catching = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (problem) {
    return problem;
  }
};

describe('schemas', () => {
  test('what the service fills is neither shown nor required, also when the root is a reference', () => {
    const object = {
      type: 'object',
      properties: { zarr_url: { type: 'string' }, init_args: { type: 'object' }, a: { type: 'string' } },
      required: ['zarr_url', 'init_args', 'a'],
    };
    for (const schema of [object, { $ref: '#/$defs/Root', $defs: { Root: object } }]) {
      const prepared = prepareSchema(schema, 'pydantic_v2');
      expect(initialData(prepared, {})).toEqual({ a: null });
      expect([...validateForm(prepared, { a: null }).at.keys()]).toEqual(['/a']);
      expect(isValid(validateForm(prepared, { a: 'b' }))).toBe(true);
    }
  });

  test.each([
    ['a reference to another document', { properties: { a: { $ref: 'http://example.org/a.json' } } }],
    ['a reference to nothing', { properties: { a: { $ref: '#/$defs/Away' } } }],
    ['properties that are a list', { properties: [] }],
    ['a required that is a text', { required: 'a' }],
    ['a property that is no schema', { properties: { a: 5 } }],
    ['no object', 'schema'],
    ['a flag', true],
  ])('%s is a mistake that is told', (_, schema) => {
    expect(catching(() => prepareSchema(schema, 'pydantic_v2'))).toBeInstanceOf(SchemaProblem);
  });

  test.each([
    ['a pattern that browsers do not know', { type: 'string', pattern: '(?P<a>x)' }],
    ['references in a circle', { $ref: '#/properties/a' }],
  ])('%s leaves the rest of the form usable', (_, schema) => {
    const prepared = prepareSchema({ properties: { a: schema, b: { type: 'string' } } }, 'pydantic_v2');
    expect(initialData(prepared, {})).toEqual({ a: null, b: null });
  });

  test('dialects', () => {
    expect(['pydantic_v1', 'pydantic_v2', 'fractal_schema_v1', 'other', null].map(dialectOf)).toEqual([
      'pydantic_v1',
      'pydantic_v2',
      'fractal_schema_v1',
      undefined,
      undefined,
    ]);
  });
});

describe('blocks', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const hidden = { type: 'object', properties: { zarr_url: { type: 'string' } } };
  const task = (type: TaskType, non_parallel: unknown, parallel: unknown, version: string | null = 'pydantic_v2') =>
    blocksOf(
      { type, args_schema_version: version, args_schema_non_parallel: non_parallel, args_schema_parallel: parallel },
      {},
    );

  test.each<[TaskType, unknown, unknown, string[], boolean]>([
    ['non_parallel', schema, null, ['args_non_parallel form'], false],
    ['converter_non_parallel', schema, null, ['args_non_parallel form'], false],
    ['parallel', null, schema, ['args_parallel form'], false],
    ['compound', schema, schema, ['args_non_parallel form', 'args_parallel form'], true],
    ['converter_compound', schema, hidden, ['args_non_parallel form', 'args_parallel nothing'], false],
    ['compound', null, schema, ['args_non_parallel free', 'args_parallel form'], true],
    ['parallel', null, { required: 5 }, ['args_parallel json'], false],
  ])('%s', (type, non_parallel, parallel, expected, headings) => {
    const blocks = task(type, non_parallel, parallel);
    expect(blocks.map(({ name, view, visible }) => `${name} ${visible ? view.kind : 'nothing'}`)).toEqual(expected);
    expect(needHeadings(blocks)).toBe(headings);
  });

  test('another version of schemas is free-form', () => {
    expect(task('parallel', null, schema, 'else')[0]!.view.kind).toBe('free');
  });

  test('typed back to the saved value is no change; defaults that are not saved are one', () => {
    const prepared = prepareSchema({ properties: { a: { type: 'integer', default: 1 } } }, 'pydantic_v2');
    expect(differs(prepared, { a: 2 }, { a: 2 })).toBe(false);
    expect(differs(prepared, { a: null }, {})).toBe(false);
    expect(differs(prepared, initialData(prepared, {}), {})).toBe(true);
    expect(differs(prepared, initialData(prepared, null), null)).toBe(true);
  });

  test('Advanced: optional arguments at their default, never a changed or wrong one, and only in long forms', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'integer', default: 1 }]));
    const prepared = prepareSchema({ properties, required: ['a'] }, 'pydantic_v2');
    const data = { ...(initialData(prepared, {}) as object), b: 5, c: 'wrong', d: null };
    expect(advancedKeys(prepared, data, validateForm(prepared, data))).toEqual(['d', 'e', 'f', 'g']);
    const { a: _, ...six } = properties;
    const short = prepareSchema({ properties: six }, 'pydantic_v2');
    expect(advancedKeys(short, initialData(short, {}), validateForm(short, {}))).toEqual([]);
  });
});

describe('update of the version', () => {
  const prepared = prepareSchema(
    {
      properties: {
        list: { type: 'array', items: { type: 'integer' }, default: [1, 2, 3] },
        kept: { type: 'integer', default: 5 },
        maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: 7 },
        group: {
          type: 'object',
          properties: { a: { type: 'integer', default: 1 }, b: { type: 'integer', default: 2 } },
        },
        kind: {
          oneOf: [
            { type: 'object', properties: { t: { const: 'a' }, x: { type: 'integer', default: 1 } } },
            { type: 'object', properties: { t: { const: 'b' }, y: { type: 'integer', default: 2 } } },
          ],
        },
      },
    },
    'fractal_schema_v1',
  );
  const full = { list: [], kept: 0, maybe: null, group: null, kind: null };

  test.each([
    ['lists are one value', { ...full, list: [9] }, { list: [9] }],
    ['an empty list stays', full, { list: [] }],
    ['null stays', full, { maybe: null }],
    ['a wrong kind stays', { ...full, group: 'text' }, { group: 'text' }],
    ['an old value wins', { ...full, kept: 1 }, { kept: 1 }],
    ['what is missing gets its default', {}, { list: [1, 2, 3], kept: 5, maybe: 7, group: { a: 1, b: 2 } }],
    ['inside groups too', { ...full, group: { a: 9 } }, { group: { a: 9, b: 2 } }],
    ['a variant keeps to itself', { ...full, kind: { t: 'b' } }, { kind: { t: 'b', y: 2 } }],
    ['what the new schema does not know stays', { ...full, old: 1 }, { old: 1 }],
  ])('%s', (_, old, expected) => {
    const before = writeJson(old);
    expect(argumentsAfterUpdate(old, prepared)).toMatchObject(expected);
    expect(writeJson(old)).toBe(before);
  });

  test('arguments that are null are sent unchanged', () => {
    expect(argumentsAfterUpdate(null, prepared)).toBeNull();
  });
});

describe('check before a run', () => {
  const schema = { properties: { a: { type: 'integer' } }, required: ['a'] };

  test.each([
    ['legacy null is missing', { a: null }, 'pydantic_v2', ['/a']],
    ['null is a value', { a: null }, 'fractal_schema_v1', ['/a']],
    ['nothing saved', null, 'pydantic_v2', ['/a']],
    ['fine', { a: 1 }, 'pydantic_v1', []],
  ] as const)('%s', (_, saved, dialect, paths) => {
    expect([...checkBeforeRun(saved, schema, dialect)!.at.keys()]).toEqual(paths);
  });

  test('saved data stay as they are', () => {
    const saved = Object.freeze({ a: 1, b: Object.freeze([null, '']) });
    expect(isValid(checkBeforeRun(saved, schema, 'pydantic_v2')!)).toBe(true);
    expect(saved).toEqual({ a: 1, b: [null, ''] });
  });

  test('without schema there is nothing to check; a schema with a mistake is told', () => {
    expect(checkBeforeRun({}, null, 'pydantic_v2')).toBeUndefined();
    expect(checkBeforeRun({}, { required: 5 }, 'pydantic_v2')!.form[0]).toContain('#/required');
  });
});

describe('drafts', () => {
  function memory(room = Infinity): DraftStorage {
    const items = new Map<string, string>();
    return {
      get length() {
        return items.size;
      },
      key: (index) => [...items.keys()][index] ?? null,
      getItem: (key) => items.get(key) ?? null,
      removeItem: (key) => void items.delete(key),
      setItem: (key, value) => {
        if (value.length > room) throw new DOMException('full', 'QuotaExceededError');
        items.set(key, value);
      },
    };
  }
  const subject = { workflowTask: 7, part: 'arguments' };
  const at = new Date('2024-05-31T12:00:00Z');

  test('come back with numbers as written, the revision and the time', () => {
    const drafts = draftsOf('anna@example.org', memory(), () => at);
    expect(drafts.keep({ ...subject, revision: 3 }, { args_parallel: parseJson('{"a":1.0}') })).toBe(true);
    const draft = drafts.find(subject)!;
    expect(writeJson(draft.values)).toBe('{"args_parallel":{"a":1.0}}');
    expect(draft).toMatchObject({ revision: 3, keptAt: at });
    expect([isOutdated(draft, 3), isOutdated(draft, 4)]).toEqual([false, true]);
  });

  test('belong to a person, a task and a part', () => {
    const storage = memory();
    const anna = draftsOf('anna', storage);
    const bert = draftsOf('anna:7', storage);
    anna.keep({ ...subject, revision: 1 }, 1);
    anna.keep({ ...subject, part: 'meta', revision: 1 }, 2);
    bert.keep({ ...subject, revision: 1 }, 3);
    expect([anna.find(subject)?.values, anna.find({ ...subject, part: 'meta' })?.values]).toEqual([1, 2]);
    expect([anna.count(), bert.count()]).toEqual([2, 1]);
    anna.drop(subject);
    expect([anna.find(subject), anna.count()]).toEqual([undefined, 1]);
    anna.dropAll();
    expect([anna.count(), bert.find(subject)?.values]).toEqual([0, 3]);
  });

  test('without room in the browser nothing breaks, and the caller knows', () => {
    const drafts = draftsOf('anna', memory(10));
    expect(drafts.keep({ ...subject, revision: 1 }, { a: 1 })).toBe(false);
    expect(drafts.find(subject)).toBeUndefined();
  });

  test('a spoilt draft is none', () => {
    const storage = memory();
    storage.setItem('draft:anna:7:arguments', '{');
    expect(draftsOf('anna', storage).find(subject)).toBeUndefined();
  });
});

describe('free-form values', () => {
  test('every JSON value comes back', () => {
    const text = '{"a":null,"b":[-1.50,1e3,{"c":[]}],"d":true,"e":"","f":{}}';
    expect(writeJson(valueOf(entryOf(parseJson(text))))).toBe(text);
    expect(valueOf(entryOf([1, [null]]))).toEqual([1, [null]]);
  });

  test('another type begins anew', () => {
    const entry = entryOf('text', 'a');
    expect(withType(entry, 'number')).toEqual({ ...newEntry('number', 'a'), id: entry.id });
    expect(valueOf(withType(entry, 'array'))).toEqual([]);
  });

  test.each([
    ['an empty name', [newEntry('string', '')], 'Enter a name.'],
    ['a name twice', [newEntry('string', 'a'), newEntry('null', 'a')], '“a” exists already. Use another name.'],
    ['no number', [{ ...newEntry('number', 'a'), text: '1,5' }], 'Enter a number, for example -2.5 or 1e3.'],
  ])('%s is a problem', (_, entries, text) => {
    const deep = { ...newEntry('object'), entries: [{ ...newEntry('object', 'in'), entries }] };
    expect([...problemsOf(deep).values()]).toEqual([text]);
  });

  test('items of lists need no names', () => {
    expect(problemsOf(entryOf([1, 2, 'a'])).size).toBe(0);
  });
});

describe('descriptions', () => {
  test('Markdown becomes pieces', () => {
    expect(readMarkdown('Use `a` or **b**, see [docs](https://example.org/x).\n\n- one\n- *two*')).toEqual([
      {
        kind: 'paragraph',
        pieces: [
          { kind: 'text', text: 'Use ' },
          { kind: 'code', text: 'a' },
          { kind: 'text', text: ' or ' },
          { kind: 'strong', text: 'b' },
          { kind: 'text', text: ', see ' },
          { kind: 'link', text: 'docs', href: 'https://example.org/x' },
          { kind: 'text', text: '.' },
        ],
      },
      { kind: 'list', items: [[{ kind: 'text', text: 'one' }], [{ kind: 'em', text: 'two' }]] },
    ]);
  });

  test('nothing but web addresses becomes a link, and HTML stays text', () => {
    const text = '[a](javascript:alert(1)) <img src=x onerror=alert(1)>';
    expect(readMarkdown(text)).toEqual([{ kind: 'paragraph', pieces: [{ kind: 'text', text }] }]);
  });
});

describe('files of arguments', () => {
  test('what is written can be read, numbers as written', () => {
    const file = argumentsFile('Segment Zellkérne (2)', {
      args_parallel: parseJson('{"a":1.0}'),
      args_non_parallel: null,
    });
    expect(file.name).toBe('args-segment-zellkerne-2.json');
    expect(writeJson(readArgumentsFile(file.text))).toBe(
      '{"values":{"args_non_parallel":null,"args_parallel":{"a":1.0}}}',
    );
  });

  test.each([
    ['{', 'This file is not JSON. Line 1, column 2: the text ends here; expected a name in quotation marks.'],
    ['[]', 'This file has no arguments. Choose one with “args_parallel” or “args_non_parallel” in it.'],
    ['{"a": 1}', 'This file has no arguments. Choose one with “args_parallel” or “args_non_parallel” in it.'],
    ['{"args_parallel": [1]}', '“args_parallel” in this file is not a group of named values.'],
  ])('%s is refused', (text, problem) => {
    expect(readArgumentsFile(text)).toEqual({ problem });
  });
});
