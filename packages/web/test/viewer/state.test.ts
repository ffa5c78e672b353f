/** What the reader sets: in the address, kept in the browser, drawn. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { TaskOfImage } from '@service/contract';

import { newLabels, settingsOf } from '../../src/lib/pixels/settings.ts';
import { readView, type ViewState, writeView } from '../../src/lib/viewer/address.ts';
import { endedSince, runningOf } from '../../src/lib/viewer/history.ts';
import {
  forget,
  keep,
  keptChannels,
  keptLabels,
  readKept,
  withKept,
  withoutPreset,
  withPreset,
} from '../../src/lib/viewer/kept.ts';
import { deedOfLetter, deedOfPicture } from '../../src/lib/viewer/keys.ts';
import { createTileStore } from '../../src/lib/viewer/tile-store.ts';
import { fieldsOf, kindsOf, kindWords, likeIn } from '../../src/lib/viewer/well-images.ts';
import { pictureWords } from '../../src/lib/viewer/words.ts';
import { channel } from '../pixels/samples.ts';

const colour = fc.tuple(...[0, 1, 2].map(() => fc.integer({ min: 0, max: 255 }))) as fc.Arbitrary<
  [number, number, number]
>;
const setting = fc.record({
  shown: fc.boolean(),
  colour,
  limits: fc.option(fc.tuple(fc.integer({ min: -500, max: 500 }), fc.integer({ min: 501, max: 70_000 })), {
    nil: undefined,
  }),
});
const view: fc.Arbitrary<ViewState> = fc.record({
  image: fc.option(
    fc.string({ minLength: 1 }).map((name) => `/data/a b&c/${name}`),
    { nil: undefined },
  ),
  plate: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
  camera: fc.option(
    fc.record({
      x: fc.integer({ min: 0, max: 9999 }),
      y: fc.integer({ min: 0, max: 9999 }),
      zoom: fc.constantFrom(0.03125, 1, 1.5, 64),
    }),
    { nil: undefined },
  ),
  z: fc.option(fc.oneof(fc.constant('max' as const), fc.integer({ min: 0, max: 99 })), { nil: undefined }),
  t: fc.integer({ min: 0, max: 500 }),
  channels: fc.array(setting, { maxLength: 6 }).map((list) => new Map(list.entries())),
  labels: fc.option(
    fc
      .record({
        name: fc.string({ minLength: 1 }).filter((name) => !name.startsWith('-')),
        shown: fc.boolean(),
        look: fc.constantFrom('outline' as const, 'both' as const, 'fill' as const),
        strength: fc.constantFrom(0, 0.2, 0.8),
        random: fc.boolean(),
        by: fc.option(fc.string(), { nil: undefined }),
      })
      // one of both
      .map((labels) => ({ ...labels, random: labels.random && labels.by === undefined })),
    { nil: undefined },
  ),
  compare: fc.option(
    fc.record({ with: fc.string({ minLength: 1 }), how: fc.constantFrom('side' as const, 'slider' as const) }),
    { nil: undefined },
  ),
  ruler: fc.option(
    fc
      .tuple(...[0, 1, 2, 3].map(() => fc.integer({ min: -99, max: 9999 })))
      .map(([x = 0, y = 0, toX = 0, toY = 0]) => ({
        from: { x, y },
        to: { x: toX, y: toY },
      })),
    { nil: undefined },
  ),
  marks: fc.array(
    fc.record({
      left: fc.integer({ min: -99, max: 9999 }),
      top: fc.integer({ min: -99, max: 9999 }),
      width: fc.integer({ min: 1, max: 999 }),
      height: fc.integer({ min: 1, max: 999 }),
    }),
    { maxLength: 9 },
  ),
});

describe('the address', () => {
  it('carries the whole view', () => {
    fc.assert(
      fc.property(view, (state) => {
        const text = writeView(state).toString();
        expect(readView(new URLSearchParams(text))).toEqual(state);
      }),
    );
  });

  it('with anything in it still shows its image', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const params = new URLSearchParams({
          image: '/a',
          at: one,
          c: other,
          labels: one,
          z: other,
          t: one,
          compare: other,
          ruler: one,
          mark: other,
        });
        expect(readView(params).image).toBe('/a');
      }),
    );
    expect(readView(new URLSearchParams('image=/a&at=1,2&c=0,on,zz&labels=%25E0%25A4%25A&t=-1'))).toMatchObject({
      camera: undefined,
      labels: undefined,
      t: 0,
    });
  });
});

describe('settings of channels', () => {
  it('are kept for each person and dataset, by name', () => {
    const stored = new Map<string, string>();
    const storage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
      removeItem: (key: string) => void stored.delete(key),
    };
    const [channels, fresh] = [[channel('a'), channel('b')], settingsOf([channel('b'), channel('x')])];
    const settings = settingsOf(channels).map((one) => ({ ...one, limits: [5, 50] as const, shown: false }));
    const shelf = { storage, person: 'anna@example.org', dataset: 3 };
    keep(shelf, { channels: keptChannels(settings, channels), labels: keptLabels(newLabels('nuclei')) });
    expect(withKept(fresh, [channel('b'), channel('x')], readKept(shelf).channels)).toEqual([
      { shown: false, colour: [255, 0, 0], limits: [5, 50] },
      fresh[1],
    ]);
    expect(readKept({ ...shelf, person: 'bob@example.org' }).channels).toEqual({});
    stored.set('viewer:anna%40example.org:3', 'no json');
    expect(readKept(shelf).channels).toEqual({});
  });

  it('are kept under a name too, and forgetting the rest leaves that', () => {
    const stored = new Map<string, string>();
    const storage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
      removeItem: (key: string) => void stored.delete(key),
    };
    const shelf = { storage, person: 'anna', dataset: 1 };
    const [first, second] = ['b 10', 'b 9'].map((name) => ({ name, channels: {} }));
    const presets = withPreset(withPreset([], first!), second!);
    expect(presets.map(({ name }) => name)).toEqual(['b 9', 'b 10']);
    expect(withPreset(presets, { name: 'b 9', channels: keptChannels([], []) })).toHaveLength(2);
    expect(withoutPreset(presets, 'b 9')).toEqual([first]);
    keep(shelf, { presets, labels: keptLabels(newLabels('nuclei')) });
    forget(shelf);
    expect(readKept(shelf)).toEqual({ channels: {}, labels: undefined, presets });
  });
});

describe('tiles', () => {
  it('are read a few at a time, the most urgent first, and cancelled when nobody wants them', async () => {
    const begun: string[] = [];
    const cancelled: string[] = [];
    const ends = new Map<string, (value: string) => void>();
    const store = createTileStore<string>({ sizeOf: () => 1, onchange: () => undefined, atOnce: 2, keptBytes: 2 });
    const wanted = (key: string) => ({
      key,
      read: (signal: AbortSignal) => {
        begun.push(key);
        signal.addEventListener('abort', () => cancelled.push(key));
        return new Promise<string>((resolve) => ends.set(key, resolve));
      },
    });
    store.want(['a', 'b', 'c', 'd'].map(wanted));
    expect([begun, store.missing]).toEqual([['a', 'b'], 4]);
    store.want(['b', 'd'].map(wanted));
    expect([begun, cancelled]).toEqual([['a', 'b', 'd'], ['a']]);
    ends.get('b')!('B');
    ends.get('d')!('D');
    await expect.poll(() => [store.get('b'), store.get('d')]).toEqual(['B', 'D']);
    store.want([wanted('e')]);
    ends.get('e')!('E');
    await expect.poll(() => store.get('e')).toBe('E');
    // room for two: the one that was used longest ago went
    expect([store.get('b'), store.get('d')]).toEqual([undefined, 'D']);
  });

  it('that do not serve any more are shown until the next are there', async () => {
    const ends: ((value: string) => void)[] = [];
    const store = createTileStore<string>({ sizeOf: () => 1, onchange: () => undefined });
    const wanted = (like: string) => ({
      key: 'x',
      read: () => new Promise<string>((resolve) => ends.push(resolve)),
      serves: (tile: string) => tile === like,
    });
    store.want([wanted('old')]);
    ends[0]!('old');
    await expect.poll(() => store.get('x')).toBe('old');
    store.want([wanted('new')]);
    expect([store.get('x'), store.missing]).toEqual(['old', 1]);
    ends[1]!('new');
    await expect.poll(() => store.get('x')).toBe('new');
    expect(store.missing).toBe(0);
  });

  it('that fail are not read again and again', async () => {
    let count = 0;
    const store = createTileStore<string>({ sizeOf: () => 1, onchange: () => undefined });
    const bad = { key: 'x', read: () => (count++, Promise.reject(new Error('damaged'))) };
    store.want([bad]);
    await expect.poll(() => store.problem('x')?.message).toBe('damaged');
    store.want([bad]);
    expect([count, store.missing]).toEqual([1, 0]);
  });
});

describe('tasks that write while somebody looks', () => {
  const task = (history_run_id: number, status: 'submitted' | 'done' | 'failed') =>
    ({ history_run_id, status }) as TaskOfImage;
  const before = { made_by: task(1, 'done'), worked_on_by: [task(2, 'done'), task(3, 'submitted')] };

  it('are seen at work, and when they end', () => {
    expect(runningOf(before)?.history_run_id).toBe(3);
    expect(endedSince(before, before)).toBeUndefined();
    const now = { ...before, worked_on_by: [task(2, 'done'), task(3, 'done')] };
    expect([runningOf(now), endedSince(before, now)?.history_run_id]).toEqual([undefined, 3]);
    // the same task again, and one that failed half-way
    const again = { ...before, worked_on_by: [task(7, 'failed'), task(3, 'submitted')] };
    expect(endedSince(before, again)?.history_run_id).toBe(7);
  });
});

describe('the images of a well', () => {
  const image = (zarr_url: string, types: Record<string, boolean>, attributes = {}) => ({
    zarr_url,
    types,
    attributes,
    origin: null,
  });
  const raw = ['/p/A/01/0', '/p/A/01/1', '/p/A/01/10', '/p/A/01/2'].map((url) => image(url, { is_3D: true }));
  const corrected = raw.map(({ zarr_url }) => image(`${zarr_url}_corrected`, { is_3D: true, corrected: true }));
  const all = [...raw, ...corrected];

  it('are fields of each other when they have the same types', () => {
    expect(fieldsOf(all, '/p/A/01/1').map(({ zarr_url }) => zarr_url)).toEqual([
      '/p/A/01/0',
      '/p/A/01/1',
      '/p/A/01/2',
      '/p/A/01/10',
    ]);
    expect(kindsOf(all, '/p/A/01/2').map(({ zarr_url }) => zarr_url)).toEqual(['/p/A/01/2', '/p/A/01/2_corrected']);
    expect(kindWords(corrected[0]!)).toBe('3D, corrected');
  });

  it('are found again in the next well', () => {
    expect(likeIn(all, corrected[1], 3)?.zarr_url).toBe('/p/A/01/10_corrected');
    expect(likeIn(raw, corrected[1], 9)?.zarr_url).toBe('/p/A/01/10');
    expect(likeIn([], raw[0], 0)).toBeUndefined();
  });
});

describe('words and keys', () => {
  it('tell what is in the picture', () => {
    const facts = {
      width: 10,
      height: 10,
      levels: [],
      channels: [channel('DAPI'), channel('Tubulin', { shown: false })],
      planes: 7,
      times: 1,
      pixel: undefined,
      values: 'uint16',
      labels: ['nuclei'],
      labelsAtFirst: true,
    };
    const settings = settingsOf(facts.channels);
    expect(pictureWords({ name: 'P1, A01', facts, settings, labels: newLabels('nuclei'), z: 3, t: 0 })).toBe(
      'Picture of P1, A01. DAPI from 0 to 100. plane 4 of 7. labels nuclei.',
    );
  });

  it('lead to deeds', () => {
    const key = (name: string, more = {}) => ({
      key: name,
      shiftKey: false,
      ctrlKey: false,
      metaKey: false,
      altKey: false,
      ...more,
    });
    expect(deedOfPicture(key('ArrowUp'))).toEqual({ do: 'plane', step: 1 });
    expect(deedOfPicture(key('ArrowUp', { shiftKey: true }))).toMatchObject({ do: 'move' });
    expect(deedOfPicture(key('ArrowUp', { ctrlKey: true }))).toBeUndefined();
    expect(deedOfLetter(key('3'))).toEqual({ do: 'channel', channel: 2 });
    expect(deedOfLetter(key('.'))).toEqual({ do: 'well', step: 1 });
    expect(deedOfLetter(key('q'))).toBeUndefined();
  });
});
