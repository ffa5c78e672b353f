import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { NumberAsWritten } from '@service/contract';

import { readInitOutput, readTaskOutput } from '../../src/engine/outputs.ts';
import { writePythonJson } from '../../src/engine/python-json.ts';

const EMPTY = { image_list_updates: [], image_list_removals: [] };
const update = (members: object) => ({ zarr_url: '/data/z/a', origin: null, attributes: {}, types: {}, ...members });

describe('the output of a task', () => {
  it.each([[null], ['null'], ['{}'], ['{"image_list_updates": []}'], ['{"image_list_removals": []}']])(
    '%s is empty',
    (text) => {
      expect(readTaskOutput(text)).toEqual({ output: EMPTY });
    },
  );

  it.each([
    ['{"zarr_url": "/data/z/a"}', update({})],
    ['{"zarr_url": " /data//z/./a/ ", "origin": "/data/z/b/"}', update({ origin: '/data/z/b' })],
    ['{"zarr_url": "s3://bucket/a//"}', update({ zarr_url: 's3://bucket/a' })],
    ['{"zarr_url": "/data/z/a", "origin": null, "legacy": [1]}', update({})],
    ['{"zarr_url": "/data/z/a", "attributes": {" e ": 2}}', update({ attributes: { e: 2 } })],
    ['{"zarr_url": "/data/z/a", "attributes": {" e ": null, "f": null}}', update({ attributes: { e: null, f: null } })],
    [
      '{"zarr_url": "/data/z/a", "types": {"t": "true", "u": 1, "v": "no"}}',
      update({ types: { t: true, u: true, v: false } }),
    ],
    [
      '{"zarr_url": "/data/z/a", "attributes": {"a": 1.0, "b": 12345678901234567890, "c": "x", "d": false, "e": 0.5}}',
      update({
        attributes: {
          a: new NumberAsWritten('1.0'),
          b: new NumberAsWritten('12345678901234567890'),
          c: 'x',
          d: false,
          e: 0.5,
        },
      }),
    ],
  ])('update %s', (text, expected) => {
    expect(readTaskOutput(`{"image_list_updates": [${text}]}`)).toEqual({
      output: { ...EMPTY, image_list_updates: [expected] },
    });
  });

  it('has removals', () => {
    expect(readTaskOutput('{"image_list_removals": ["/data/z/c/", "s3://b/c"]}')).toEqual({
      output: { ...EMPTY, image_list_removals: ['/data/z/c', 's3://b/c'] },
    });
  });

  it.each([
    ['', 'It is empty'],
    ['{', 'not valid JSON'],
    ['\ufeff{}', 'not valid JSON'],
    ['[]', 'must be an object'],
    ['1.0', 'must be an object'],
    ['"x"', 'must be an object'],
    ['NaN', 'must be an object'],
    ['{"filters": {}}', 'filters: This key is not known here.'],
    ['{"parallelization_list": []}', 'parallelization_list: '],
    ['{"image_list_updates": null}', 'image_list_updates: Give a list.'],
    ['{"image_list_updates": {}}', 'image_list_updates: Give a list.'],
    ['{"image_list_removals": null}', 'image_list_removals: Give a list.'],
    ['{"image_list_removals": ["a"]}', 'image_list_removals.0: Enter an absolute path'],
    ['{"image_list_removals": [1.0]}', 'image_list_removals.0: Enter a text.'],
  ])('%s is refused: %s', (text, words) => {
    expect(readTaskOutput(text)).toEqual({ problem: expect.stringContaining(words) });
  });

  it.each([
    ['null', ': Give an object'],
    ['1.0', ': Give an object'],
    ['{}', '.zarr_url: This field is required.'],
    ['{"zarr_url": 1}', '.zarr_url: Enter a text.'],
    ['{"zarr_url": "/data/z/../q"}', '.zarr_url: Write the address without ".."'],
    ['{"zarr_url": "relative"}', '.zarr_url: Enter an absolute path'],
    ['{"zarr_url": "/data/\\u0000"}', '.zarr_url: Remove the NUL character'],
    ['{"zarr_url": "/data/\\ud800"}', '.zarr_url: This text has half of a surrogate pair'],
    ['{"zarr_url": "/z/a", "origin": ""}', '.origin: '],
    ['{"zarr_url": "/z/a", "attributes": null}', '.attributes: Enter an object.'],
    ['{"zarr_url": "/z/a", "attributes": 1.0}', '.attributes: Enter an object.'],
    ['{"zarr_url": "/z/a", "attributes": {"a": [1]}}', '.attributes.a: Enter a number'],
    ['{"zarr_url": "/z/a", "attributes": {"a": {}}}', '.attributes.a: Enter a number'],
    ['{"zarr_url": "/z/a", "attributes": {"k": NaN}}', '.attributes.k: NaN cannot be stored'],
    ['{"zarr_url": "/z/a", "attributes": {"k": -Infinity}}', '.attributes.k: -Infinity cannot be stored'],
    ['{"zarr_url": "/z/a", "attributes": {"k": 1e999}}', '.attributes.k: 1e999 cannot be stored'],
    ['{"zarr_url": "/z/a", "attributes": {"k": 1e-99999}}', '.attributes.k: 1e-99999 cannot be stored'],
    ['{"zarr_url": "/z/a", "attributes": {"k": "\\u0000"}}', '.attributes.k: Remove the NUL character'],
    ['{"zarr_url": "/z/a", "attributes": {"k": "\\udc00"}}', '.attributes.k: This text has half'],
    ['{"zarr_url": "/z/a", "attributes": {"\\u0000": 1}}', '.attributes: A key has characters'],
    ['{"zarr_url": "/z/a", "attributes": {" ": 1}}', '.attributes: Keys must not be empty'],
    ['{"zarr_url": "/z/a", "attributes": {"k": 1, " k": null}}', '.attributes: Two keys are equal'],
    ['{"zarr_url": "/z/a", "types": null}', '.types: Enter an object.'],
    ['{"zarr_url": "/z/a", "types": {"t": 2}}', '.types.t: Enter true or false.'],
    ['{"zarr_url": "/z/a", "types": {"t": null}}', '.types.t: Enter true or false.'],
  ])('update %s is refused: %s', (text, words) => {
    const answer = readTaskOutput(`{"image_list_updates": [{"zarr_url": "/z/ok"}, ${text}]}`);
    expect(answer).toEqual({ problem: expect.stringContaining(`image_list_updates.1${words}`) });
  });

  it('tells a few problems and how many more there are, in a text of bounded length', () => {
    const updates = Array.from({ length: 1000 }, () => ({ zarr_url: '/z/a', attributes: { ['k'.repeat(5000)]: [] } }));
    const answer = readTaskOutput(JSON.stringify({ image_list_updates: updates }));
    const { problem } = answer as { problem: string };
    expect(problem.length).toBeLessThanOrEqual(2000);
    expect(problem.split('\n')).toHaveLength(6);
    expect(problem).toMatch(/… and 995 more problems\.$/);
  });

  it.each([
    ['{"zarr_url": "plates/B03"}', 'It is "plates/B03".'],
    ['{"zarr_url": 1.50}', 'It is 1.50.'],
    ['{"zarr_url": "/z/a", "attributes": {"a": [1, {"b": null}]}}', 'It is [1,{"b":null}].'],
    ['{"zarr_url": "/z/a", "types": {"t": "perhaps"}}', 'It is "perhaps".'],
    [`{"zarr_url": "${'x'.repeat(5000)}"}`, `It is "${'x'.repeat(98)}….`],
    ['{"zarr_url": "a\\u202egnp.exe\\n\\u2028"}', 'It is "a\\u{202e}gnp.exe\\n\\u{2028}".'],
    ['{"zarr_url": "a\\u0000b"}', 'It is "a\\u0000b".'],
  ])('update %s is refused with its value, shortened and safe to show: %s', (text, words) => {
    const { problem } = readTaskOutput(`{"image_list_updates": [${text}]}`) as { problem: string };
    expect(problem.endsWith(` ${words}`)).toBe(true);
  });

  it('shows the beginning of a large value without writing all of it', () => {
    const deep = `${'['.repeat(150)}${']'.repeat(150)}`;
    for (const value of [deep, `[${'1,'.repeat(2_000_000)}1]`, JSON.stringify('x'.repeat(20_000_000))]) {
      const { problem } = readTaskOutput(`{"image_list_updates": ${value}}`) as { problem: string };
      expect(problem.length).toBeLessThanOrEqual(2000);
    }
  });

  it('may have a hundred thousand updates', () => {
    const updates = Array.from({ length: 100_000 }, (_, index) => `{"zarr_url": "/z/${index}/", "types": {"t": 1}}`);
    const answer = readTaskOutput(`{"image_list_updates": [${updates.join(',')}]}`);
    expect('output' in answer && answer.output.image_list_updates.at(-1)).toEqual(
      update({ zarr_url: '/z/99999', types: { t: true } }),
    );
  });
});

describe('the output of an init phase', () => {
  it.each([[null], ['null'], ['{}'], ['{"parallelization_list": []}']])('%s is empty', (text) => {
    expect(readInitOutput(text)).toEqual({ items: [] });
  });

  it.each([
    ['{"zarr_url": "/z/a"}', '[{"zarr_url":"/z/a","init_args":{}}]'],
    ['{"zarr_url": "/z/a/"}, {"zarr_url": "/z//a", "init_args": {}}', '[{"zarr_url":"/z/a","init_args":{}}]'],
    [
      '{"zarr_url": "/z/a", "init_args": {"x": 1, " y ": [NaN]}}, {"zarr_url": "/z/a", "init_args": {" y ": [NaN], "x": 1.0}}',
      '[{"zarr_url":"/z/a","init_args":{"x":1," y ":[NaN]}}]',
    ],
    [
      '{"zarr_url": "/z/b", "init_args": {"x": 1.0}}, {"zarr_url": "/z/b", "init_args": {"x": "1"}}, {"zarr_url": "/z/a"}, {"zarr_url": "/z/b", "init_args": {"x": true}}',
      '[{"zarr_url":"/z/b","init_args":{"x":1.0}},{"zarr_url":"/z/b","init_args":{"x":"1"}},{"zarr_url":"/z/a","init_args":{}}]',
    ],
  ])('%s', (list, items) => {
    const answer = readInitOutput(`{"parallelization_list": [${list}]}`);
    expect('items' in answer && writePythonJson(answer.items)).toBe(items);
  });

  it.each([
    ['[]', 'must be an object'],
    ['{"image_list_updates": []}', 'image_list_updates: This key is not known here.'],
    ['{"parallelization_list": null}', 'parallelization_list: Give a list.'],
    ['{"parallelization_list": [1]}', 'parallelization_list.0: Give an object'],
    ['{"parallelization_list": [{}]}', 'parallelization_list.0.zarr_url: '],
    ['{"parallelization_list": [{"zarr_url": "a"}]}', 'parallelization_list.0.zarr_url: Enter an absolute path'],
    [
      '{"parallelization_list": [{"zarr_url": "/a", "init_args": null}]}',
      'parallelization_list.0.init_args: Give an object.',
    ],
    ['{"parallelization_list": [{"zarr_url": "/a", "x": 1}]}', 'parallelization_list.0.x: This key is not known here.'],
  ])('%s is refused: %s', (text, words) => {
    expect(readInitOutput(text)).toEqual({ problem: expect.stringContaining(words) });
  });

  it('has each item once, as a comparison of each with each finds it', () => {
    const value = fc.constantFrom('0', '0.0', 'false', '1', '1.0', 'true', '"1"', 'null', '[1]', '[1.0]', '{}', 'NaN');
    const item = fc.record({ url: fc.constantFrom('/z/a', '/z/a/', '/z/b'), x: value, y: fc.option(value) });
    const meaning = (text: string) => text.replace('.0', '').replace('true', '1').replace('false', '0');
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const texts = items.map(({ url, x, y }) => {
          const members = [`"x":${x}`, ...(y === null ? [] : [`"y":${y}`])];
          return `{"zarr_url":"${url}","init_args":{${members.join(',')}}}`;
        });
        const kept = items.filter(
          (one, index) =>
            !items
              .slice(0, index)
              .some(
                (before) =>
                  before.url.replace(/\/$/, '') === one.url.replace(/\/$/, '') &&
                  meaning(before.x) === meaning(one.x) &&
                  (before.y === null) === (one.y === null) &&
                  meaning(before.y ?? '') === meaning(one.y ?? ''),
              ),
        );
        const answer = readInitOutput(`{"parallelization_list":[${texts.join(',')}]}`);
        const expected = kept.map((one) => texts[items.indexOf(one)]!.replace('/z/a/', '/z/a'));
        expect('items' in answer && answer.items.map((one) => writePythonJson(one))).toEqual(expected);
      }),
    );
  });
});
