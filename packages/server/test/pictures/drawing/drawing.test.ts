/** How pictures are drawn: sizes, contrast, places in a plate, and the file they become. */
import { inflateSync } from 'node:zlib';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  addChannel,
  bytesOfLight,
  darkness,
  outline,
  percentiles,
  rangeOf,
  shades,
  toldLimits,
} from '@service/contract/ome';

import {
  fromCorner,
  inCell,
  inPicture,
  inReadingOrder,
  sideOf,
  spread,
  zoomLevels,
} from '../../../src/pictures/drawing/mosaic.ts';
import { encodePng } from '../../../src/pictures/drawing/png.ts';
import { neededFor, resample, resampleLabels } from '../../../src/pictures/drawing/resample.ts';

describe('pixels at another size', () => {
  const image = (width: number, height: number) =>
    Float32Array.from({ length: width * height }, (_, at) => (at * 7919) % 251);

  it('stay as they are at their own size', () => {
    const pixels = image(9, 5);
    const whole = { width: 9, height: 5, drawnWidth: 9, drawnHeight: 5 };
    const all = { left: 0, top: 0, width: 9, height: 5 };
    expect(resample({ pixels, ...all }, whole, all)).toEqual(pixels);
  });

  it('keep their mean when they become fewer, and their values when they become more', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 40 }),
        (width, height, drawn) => {
          const pixels = image(width, height);
          const whole = { width, height, drawnWidth: drawn, drawnHeight: drawn };
          const small = resample({ pixels, left: 0, top: 0, width, height }, whole, {
            left: 0,
            top: 0,
            width: drawn,
            height: drawn,
          });
          if (drawn > width || drawn > height) {
            expect(Math.max(...small)).toBeLessThanOrEqual(Math.max(...pixels));
            return;
          }
          const mean = (list: Float32Array) => list.reduce((sum, value) => sum + value, 0) / list.length;
          expect(mean(small)).toBeCloseTo(mean(pixels), 2);
        },
      ),
    );
  });

  it('are the same in parts as in the whole, from only what a part needs', () => {
    const [width, height] = [53, 41];
    const pixels = image(width, height);
    const whole = { width, height, drawnWidth: 20, drawnHeight: 17 };
    const drawn = resample({ pixels, left: 0, top: 0, width, height }, whole, {
      left: 0,
      top: 0,
      width: 20,
      height: 17,
    });
    const tile = { left: 6, top: 5, width: 9, height: 8 };
    const needed = neededFor(whole, tile);
    const cut = new Float32Array(needed.width * needed.height);
    for (let y = 0; y < needed.height; y++) {
      const from = (needed.top + y) * width + needed.left;
      cut.set(pixels.subarray(from, from + needed.width), y * needed.width);
    }
    const part = resample({ pixels: cut, ...needed }, whole, tile);
    for (let y = 0; y < tile.height; y++)
      for (let x = 0; x < tile.width; x++)
        expect(part[y * tile.width + x]).toBeCloseTo(drawn[(tile.top + y) * 20 + tile.left + x]!, 4);
  });

  it('never mixes labels', () => {
    const labels = Float64Array.from([0, 0, 4e9, 4e9, 0, 0, 4e9, 4e9]);
    const part = { labels, left: 0, top: 0, width: 4, height: 2 };
    const whole = { width: 4, height: 2, drawnWidth: 2, drawnHeight: 1 };
    expect([...resampleLabels(part, whole, { left: 0, top: 0, width: 2, height: 1 })]).toEqual([0, 4e9]);
  });

  it('draws labels the same in parts as in the whole', () => {
    const [whole, all] = [
      { width: 31, height: 23, drawnWidth: 13, drawnHeight: 40 },
      { left: 0, top: 0 },
    ];
    const labels = Float64Array.from({ length: 31 * 23 }, (_, at) => at);
    const drawn = resampleLabels({ labels, ...all, width: 31, height: 23 }, whole, { ...all, width: 13, height: 40 });
    const tile = { left: 5, top: 17, width: 8, height: 11 };
    const needed = neededFor(whole, tile);
    const own = Float64Array.from(
      { length: needed.width * needed.height },
      (_, at) => (needed.top + Math.floor(at / needed.width)) * 31 + needed.left + (at % needed.width),
    );
    const part = resampleLabels({ labels: own, ...needed }, whole, tile);
    for (let at = 0; at < part.length; at++) {
      const [x, y] = [at % tile.width, Math.floor(at / tile.width)];
      expect(part[at]).toBe(drawn[(tile.top + y) * 13 + tile.left + x]);
    }
  });
});

describe('contrast', () => {
  it('is that of the file, unless it only says what numbers there can be', () => {
    const channel = (window: [number, number] | undefined) => ({
      name: '',
      colour: [0, 0, 0] as const,
      window,
      shown: true,
    });
    expect(toldLimits(channel([10, 500]))).toEqual([10, 500]);
    expect(toldLimits(channel([0, 65_535]))).toBeUndefined();
    expect(toldLimits(channel([0, 255]))).toEqual([0, 255]);
  });

  it('leaves out the darkest and brightest thousandth, and what is no number', () => {
    const values = Float32Array.from({ length: 10_000 }, (_, at) => at);
    expect(percentiles([values, Float32Array.from([NaN, Infinity])])).toEqual([10, 9990]);
    expect(percentiles([Float32Array.from([5, 5])])).toEqual([5, 6]);
    expect(percentiles([])).toEqual([0, 1]);
    expect(rangeOf(Float32Array.from([NaN, 3, -2]))).toEqual([-2, 3]);
  });

  it('is a straight line of shades', () => {
    expect([...shades(Float32Array.from([-1, 0, 50, 100, 900, NaN]), [0, 100])]).toEqual([0, 0, 128, 255, 255, 0]);
    expect([...shades(Float32Array.from([4, 5, 6]), [5, 5])]).toEqual([0, 0, 255]);
  });

  it('adds channels up as light, and leaves see-through what is not there', () => {
    const light = darkness(3);
    addChannel(light, Float32Array.from([1, 0.5, NaN]), [255, 0, 0], [0, 1]);
    addChannel(light, Float32Array.from([1, 1, NaN]), [255, 100, 0], [0, 1]);
    expect([...bytesOfLight(light)]).toEqual([255, 100, 0, 255, 255, 100, 0, 255, 0, 0, 0, 0]);
  });

  it('outlines objects, each on its own pixels', () => {
    const labels = Float64Array.from([0, 0, 0, 0, 0, 1, 1, 2, 0, 1, 1, 2, 0, 0, 0, 0]);
    expect([...outline(labels, 4)]).toEqual([5, 6, 7, 9, 10, 11]);
  });
});

describe('a plate', () => {
  it('places fields in reading order where nothing is known', () => {
    const places = inReadingOrder(Array.from({ length: 5 }, () => ({ width: 10, height: 8 })));
    expect(places.map(({ x, y }) => [x, y])).toEqual([
      [0, 0],
      [10, 0],
      [20, 0],
      [0, 8],
      [10, 8],
    ]);
  });

  it('keeps one scale for all wells, each in the middle of its cell', () => {
    const large = fromCorner([
      { x: 100, y: 100, width: 50, height: 50 },
      { x: 150, y: 100, width: 50, height: 50 },
    ]);
    const small = [{ x: 0, y: 0, width: 50, height: 50 }];
    const side = sideOf([large, small]);
    expect(side).toBe(100);
    const [place] = inCell(small, side);
    expect(place).toEqual({ x: 0.25, y: 0.25, width: 0.5, height: 0.5 });
    expect(inPicture(place!, { row: 1, column: 2 }, 32)).toEqual({ left: 72, top: 40, width: 16, height: 16 });
  });

  it('has levels until wells have their own size, and never endlessly many', () => {
    expect(zoomLevels(2, 3, 100).map(({ cell_size }) => cell_size)).toEqual([32, 64, 128]);
    expect(zoomLevels(2, 3, 1e12).length).toBeLessThan(20);
  });

  it('takes samples from everywhere', () => {
    expect(spread([1, 2, 3], 24)).toEqual([1, 2, 3]);
    const few = spread(
      Array.from({ length: 384 }, (_, at) => at),
      24,
    );
    expect([few.length, new Set(few).size, few[0], few.at(-1)]).toEqual([24, 24, 8, 376]);
  });
});

it('a PNG file has all its pixels', async () => {
  const bytes = Uint8Array.from({ length: 12 }, (_, at) => (at * 91) % 256);
  const file = await encodePng(bytes, 4, 3);
  const lines = inflateSync(file.subarray(41, 41 + file.readUInt32BE(33)));
  const read = [0, 1, 2].flatMap((y) => {
    let before = 0;
    return [1, 2, 3, 4].map((x) => (before = (before + lines[y * 5 + x]!) & 255));
  });
  expect(read).toEqual([...bytes]);
  await expect(encodePng(new Uint8Array(7), 4, 3)).rejects.toThrow('one or four bytes');
});
