import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type Image, parseJson, type Scalar } from '@service/contract';

import { applyOutput, type ImageChanges, touchedUrls } from '../../src/engine/image-list.ts';
import { mergeOutputs } from '../../src/engine/merge.ts';
import type { ImageUpdateOutput, TaskOutput } from '../../src/engine/outputs.ts';

type Flags = Record<string, boolean>;

const update = (zarr_url: string, members: Partial<ImageUpdateOutput> = {}): ImageUpdateOutput => ({
  zarr_url,
  origin: null,
  attributes: {},
  types: {},
  ...members,
});
const output = (image_list_updates: ImageUpdateOutput[], image_list_removals: string[] = []): TaskOutput => ({
  image_list_updates,
  image_list_removals,
});
const k = (source: string) => ({ attributes: { k: parseJson(source) as Scalar } });

describe('outputs of the processes of a task', () => {
  it.each<[string, TaskOutput[], ImageUpdateOutput[], string[]]>([
    ['none', [], [], []],
    ['all silent', [output([]), output([])], [update('/z/s1'), update('/z/s2')], []],
    ['one silent', [output([update('/z/a')]), output([])], [update('/z/a')], []],
    ['only removals', [output([], ['/z/a']), output([], ['/z/b', '/z/a'])], [], ['/z/a', '/z/b']],
    ['in order', [output([update('/z/b')]), output([update('/z/a')])], [update('/z/b'), update('/z/a')], []],
    [
      'equal ones once',
      [output([update('/z/a', k('1'))]), output([update('/z/a', k('1.0'))])],
      [update('/z/a', k('1'))],
      [],
    ],
    [
      'a flag and a number',
      [output([update('/z/a', k('true')), update('/z/a', k('1'))])],
      [update('/z/a', k('true'))],
      [],
    ],
  ])('%s', (name, outputs, updates, removals) => {
    const silent = name === 'all silent';
    expect(mergeOutputs({ outputs, silentUrls: ['/z/s1', '/z/s2'] })).toEqual({ updates, removals, silent });
  });

  it.each<[string, TaskOutput[]]>([
    ['other attributes', [output([update('/z/a', k('1'))]), output([update('/z/a', k('2'))])]],
    ['a text for a number', [output([update('/z/a', k('1')), update('/z/a', k('"1"'))])]],
    ['an attribute more', [output([update('/z/a'), update('/z/a', k('null'))])]],
    ['another origin', [output([update('/z/a'), update('/z/a', { origin: '/z/b' })])]],
    ['other types', [output([update('/z/a', { types: { t: true } }), update('/z/a', { types: { t: false } })])]],
    ['updated and removed', [output([update('/z/a')]), output([], ['/z/a'])]],
  ])('are refused: %s', (_, outputs) => {
    expect(mergeOutputs({ outputs, silentUrls: [] })).toEqual({ problem: expect.stringContaining('/z/a') });
  });
});

const image = (zarr_url: string, members: Partial<Image> = {}): Image => ({
  zarr_url,
  origin: null,
  attributes: {},
  types: {},
  ...members,
});
const byUrl = (images: Image[]) => new Map(images.map((one) => [one.zarr_url, one]));
const NOTHING: ImageChanges = { changed: [], added: [], removed: [], num_new_images: 0 };

describe('the images after a task', () => {
  const known = [image('/z/a', { origin: '/raw/a', attributes: { k: 1 }, types: { t: true } }), image('/other/b')];
  const apply = (updates: ImageUpdateOutput[], removals: string[] = [], outputTypes: Flags = {}) =>
    applyOutput({ known: byUrl(known), updates, removals, outputTypes, zarr_dir: '/z' });

  it('differ only where something changed', () => {
    expect(apply([update('/z/a'), update('/other/b')])).toEqual(NOTHING);
    expect(apply([update('/z/a', k('1'))], [], { t: true })).toEqual(NOTHING);
    expect(apply([update('/z/a', k('1.0'))])).toEqual({ ...NOTHING, changed: [{ ...known[0], ...k('1.0') }] });
    expect(apply([update('/z/a', k('"1"'))])).toEqual({ ...NOTHING, changed: [{ ...known[0], ...k('"1"') }] });
    expect(apply([update('/z/a', k('true'))])).toEqual({ ...NOTHING, changed: [{ ...known[0], ...k('true') }] });
  });

  it('may lie outside the dataset when they were there before', () => {
    expect(apply([update('/other/b', k('1'))])).toEqual({ ...NOTHING, changed: [image('/other/b', k('1'))] });
  });

  it('start from an origin that the same task made', () => {
    const updates = [update('/z/c', k('5')), update('/z/d', { origin: '/z/c', types: { u: true } })];
    expect(apply(updates, [], { o: true })).toEqual({
      ...NOTHING,
      added: [
        image('/z/c', { attributes: { k: 5 }, types: { o: true } }),
        image('/z/d', { origin: '/z/c', attributes: { k: 5 }, types: { u: true, o: true } }),
      ],
      num_new_images: 2,
    });
  });

  it.each(['/z', '/zzz/c', '/other/c', 's3://z/c'])('are refused at %s', (zarr_url) => {
    expect(apply([update(zarr_url)])).toEqual({ problem: expect.stringContaining(zarr_url) });
  });

  it('are removed only when they are there', () => {
    expect(apply([update('/z/c')], ['/other/b'])).toEqual({
      changed: [],
      added: [image('/z/c')],
      removed: ['/other/b'],
      num_new_images: 1,
    });
    expect(apply([], ['/z/nope'])).toEqual({ problem: expect.stringContaining('/z/nope') });
  });

  it('keep the output types of the task over those of the update', () => {
    const updates = [update('/z/a', { types: { t: false, q: false } })];
    expect(apply(updates, [], { q: true })).toEqual({
      ...NOTHING,
      changed: [{ ...known[0], types: { t: false, q: true } }],
    });
  });

  it('need the images that the output names', () => {
    const updates = [update('/z/a'), update('/z/d', { origin: '/z/c' }), update('/z/e', { origin: '/z/c' })];
    expect(touchedUrls(updates, ['/z/f'])).toEqual(['/z/a', '/z/d', '/z/c', '/z/e', '/z/f']);
  });

  it('may be a hundred thousand', () => {
    const updates = Array.from({ length: 100_000 }, (_, index) => update(`/z/${index}`, { origin: `/z/${index - 1}` }));
    const merged = mergeOutputs({ outputs: [output(updates), output(updates)], silentUrls: [] });
    if ('problem' in merged) throw new Error(merged.problem);
    const changes = applyOutput({ known: new Map(), ...merged, outputTypes: { t: true }, zarr_dir: '/z' });
    expect(changes).toMatchObject({ num_new_images: 100_000, changed: [], removed: [] });
  });
});

describe('against a model that works on the whole list', () => {
  const URLS = ['/z/a', '/z/b', '/z/c', '/other/d', '/z'];
  const url = fc.constantFrom(...URLS);
  const scalar = fc.constantFrom('1', '1.0', 'true', '2', '"1"', '""').map((source) => parseJson(source) as Scalar);
  const key = fc.constantFrom('k', 'l');
  const flags = fc.dictionary(fc.constantFrom('t', 'u'), fc.boolean());
  const anUpdate: fc.Arbitrary<ImageUpdateOutput> = fc.record({
    zarr_url: url,
    origin: fc.option(url),
    attributes: fc.dictionary(key, fc.option(scalar)),
    types: flags,
  });
  const anOutput = fc.record({
    image_list_updates: fc.array(anUpdate, { maxLength: 2 }),
    image_list_removals: fc.array(url, { maxLength: 1 }),
  });
  const images = fc.uniqueArray(
    fc.record({ zarr_url: url, origin: fc.option(url), attributes: fc.dictionary(key, scalar), types: flags }),
    { selector: (one) => one.zarr_url },
  );

  const number = (value: unknown) =>
    typeof value === 'boolean'
      ? Number(value)
      : value !== null && typeof value === 'object'
        ? Number(JSON.stringify(value))
        : value;
  const sameMap = (one: Record<string, unknown>, other: Record<string, unknown>) =>
    [...Object.keys(one), ...Object.keys(other)].every(
      (name) => name in one && name in other && number(one[name]) === number(other[name]),
    );
  const same = (one: ImageUpdateOutput, other: ImageUpdateOutput) =>
    one.zarr_url === other.zarr_url &&
    one.origin === other.origin &&
    sameMap(one.attributes, other.attributes) &&
    sameMap(one.types, other.types);

  function naiveMerge(outputs: TaskOutput[], silentUrls: string[]) {
    const all = outputs.flatMap((one) => one.image_list_updates);
    let updates = all.filter((one, index) => !all.slice(0, index).some((before) => same(before, one)));
    const removals = outputs
      .flatMap((one) => one.image_list_removals)
      .filter((one, index, list) => list.indexOf(one) === index);
    const silent = outputs.length > 0 && updates.length + removals.length === 0;
    if (silent) updates = silentUrls.map((one) => update(one));
    const named = [...updates.map((one) => one.zarr_url), ...removals];
    return named.some((one, index) => named.indexOf(one) < index) ? undefined : { updates, removals, silent };
  }

  function naiveList(before: Image[], updates: ImageUpdateOutput[], removals: string[], outputTypes: Flags) {
    const list = before.map((one) => ({ ...one }));
    let created = 0;
    for (const one of updates) {
      const position = list.findIndex((other) => other.zarr_url === one.zarr_url);
      const edit = position >= 0 && (one.origin === null || one.origin === one.zarr_url);
      const base = list.find((other) => other.zarr_url === (edit ? one.zarr_url : one.origin));
      const attributes: Record<string, Scalar | null> = { ...base?.attributes, ...one.attributes };
      for (const name of Object.keys(attributes)) if (attributes[name] === null) delete attributes[name];
      const next = {
        zarr_url: one.zarr_url,
        origin: edit ? list[position]!.origin : one.origin,
        attributes: attributes as Record<string, Scalar>,
        types: { ...base?.types, ...one.types, ...outputTypes },
      };
      if (position >= 0) list[position] = next;
      else {
        if (!/^\/z\/./.test(one.zarr_url)) return undefined;
        list.push(next);
        created += 1;
      }
    }
    for (const one of removals) {
      const position = list.findIndex((other) => other.zarr_url === one);
      if (position < 0) return undefined;
      list.splice(position, 1);
    }
    return { list, created };
  }

  it('the merged output is the same', () => {
    fc.assert(
      fc.property(fc.array(anOutput, { maxLength: 3 }), fc.uniqueArray(url), (outputs, silentUrls) => {
        const merged = mergeOutputs({ outputs, silentUrls });
        expect('problem' in merged ? undefined : merged).toEqual(naiveMerge(outputs, silentUrls));
      }),
      { numRuns: 500 },
    );
  });

  it('the list of images is the same', () => {
    const updates = fc.array(anUpdate, { maxLength: 5 });
    const removals = fc.uniqueArray(url, { maxLength: 1 });
    fc.assert(
      fc.property(images, updates, removals, flags, (before, changes, gone, outputTypes) => {
        const touched = touchedUrls(changes, gone);
        const known = byUrl(before.filter((one) => touched.includes(one.zarr_url)));
        const result = applyOutput({ known, updates: changes, removals: gone, outputTypes, zarr_dir: '/z' });
        const expected = naiveList(before, changes, gone, outputTypes);
        if ('problem' in result) {
          expect(expected).toBeUndefined();
          return;
        }
        const kept = before.filter((one) => !result.removed.includes(one.zarr_url));
        const list = kept.map((one) => result.changed.find((other) => other.zarr_url === one.zarr_url) ?? one);
        expect({ list: [...list, ...result.added], created: result.num_new_images }).toEqual(expected);
        for (const one of result.changed) expect(known.get(one.zarr_url)).not.toEqual(one);
      }),
      { numRuns: 1000 },
    );
  });
});
