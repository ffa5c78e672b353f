/** Channels, their settings and contrast, and the picture that is composed of them. */
import { describe, expect, it } from 'vitest';

import type { Tile } from '../../src/lib/pixels/facts.ts';
import { valueAt } from '../../src/lib/pixels/facts.ts';
import { histogramOf, pathOf, samplesOf } from '../../src/lib/pixels/histogram.ts';
import { composeLabels, composeTile } from '../../src/lib/pixels/paint/compose.ts';
import { limitsIn } from '../../src/lib/pixels/paint/scene.ts';
import { isSameRange, rangeFor } from '../../src/lib/pixels/range.ts';
import { checkBlosc } from '../../src/lib/pixels/read/codecs.ts';
import { drawnChannels, isHardToTell, newLabels, PALETTE, readHex, settingsOf } from '../../src/lib/pixels/settings.ts';
import { channel } from './samples.ts';

describe('channels', () => {
  it('begin as the file says, of five or more with three', () => {
    const shown = (count: number) =>
      settingsOf(Array.from({ length: count }, (_, at) => channel(`c${at}`))).filter((one) => one.shown).length;
    expect([1, 4, 5, 9].map(shown)).toEqual([1, 4, 3, 3]);
    expect(settingsOf([channel('a'), channel('b', { shown: false })]).map((one) => one.shown)).toEqual([true, false]);
  });

  it('alone are white, together in their colours', () => {
    const settings = settingsOf([channel('a'), channel('b', { colour: [0, 255, 0] })]);
    expect(drawnChannels(settings, undefined).map((one) => one.colour)).toEqual([
      [255, 0, 0],
      [0, 255, 0],
    ]);
    expect(drawnChannels(settings, 1)).toEqual([{ channel: 1, colour: [255, 255, 255], limits: [0, 100] }]);
    expect(isHardToTell(settings)).toBe(true);
    expect(isHardToTell(PALETTE.map((one) => ({ ...one, shown: true, limits: undefined })))).toBe(false);
    expect(readHex('nothex')).toBeUndefined();
  });

  it('of a plate ask for other shades only where the contrast needs them', () => {
    const told = [100, 1100] as const;
    expect(rangeFor(undefined, told)).toBe(told);
    expect(rangeFor([200, 900], told)).toBe(told);
    expect(rangeFor([200, 300], told)).toEqual([175, 325]);
    // a handle that moves a little asks for nothing
    expect(rangeFor([210, 310], told, [175, 325])).toEqual([175, 325]);
    expect(rangeFor([50, 900], told)[0]).toBeLessThan(50);
    expect([isSameRange([0, 1], [0, 1.000_001]), isSameRange([0, 1], [0, 2])]).toEqual([true, false]);
  });
});

const tile = (pixels: Tile['pixels'], range?: [number, number]): Tile => ({
  width: pixels.length,
  height: 1,
  pixels,
  ...(range ? { range } : {}),
});

describe('composition', () => {
  it('adds channels as light does, from black to full, and no further', () => {
    const red = {
      tile: tile(new Uint16Array([0, 100, 300, 500])),
      colour: [255, 0, 0] as const,
      limits: [100, 500] as const,
    };
    const pink = {
      tile: tile(new Float32Array([0, 1, NaN, 1])),
      colour: [200, 0, 100] as const,
      limits: [0, 1] as const,
    };
    expect([...composeTile([red, pink])]).toEqual([0, 0, 0, 255, 200, 0, 100, 255, 128, 0, 0, 255, 255, 0, 100, 255]);
  });

  it('reads bytes of the service by their range', () => {
    const bytes = tile(new Uint8Array([0, 51, 255]), [100, 600]);
    expect([0, 1, 2].map((x) => valueAt(bytes, x, 0))).toEqual([100, 200, 600]);
    expect(limitsIn(bytes, [200, 600])).toEqual([51, 255]);
    const drawn = composeTile([{ tile: bytes, colour: [255, 255, 255], limits: [100, 600] }]);
    expect([drawn[0], drawn[4], drawn[8]]).toEqual([0, 51, 255]);
  });

  it('draws objects as outlines, filled, or both', () => {
    const labels = new Uint32Array(25);
    for (const at of [6, 7, 8, 11, 12, 13, 16, 17, 18]) labels[at] = 70_000;
    const cover = (look: 'outline' | 'both' | 'fill') =>
      [12, 6, 0].map((at) => composeLabels({ width: 5, height: 5, labels }, { ...newLabels('a'), look })[at * 4 + 3]);
    expect([cover('outline'), cover('both'), cover('fill')]).toEqual([
      [0, 255, 0],
      [51, 255, 0],
      [51, 51, 0],
    ]);
  });

  it('counts values for the histogram', () => {
    const samples = samplesOf([tile(new Uint16Array([5, 1, 9])), tile(new Float32Array([NaN, 3]))]);
    expect([...samples]).toEqual([1, 3, 5, 9]);
    const histogram = histogramOf(samples, [0, 20])!;
    expect(histogram).toMatchObject({ from: 0, total: 4 });
    expect(histogram.to).toBeCloseTo(21.6);
    expect(histogram.counts.reduce((sum, count) => sum + count, 0)).toBe(4);
    expect(pathOf(histogram, 100, 40)).toMatch(/^M0 40L/);
    expect(histogramOf(new Float32Array(), undefined)).toBeUndefined();
  });
});

describe('chunks', () => {
  it('of Blosc that are cut off are refused, and not taken for what was in memory before', () => {
    const whole = new Uint8Array(40);
    new DataView(whole.buffer).setUint32(12, 40, true);
    expect(() => checkBlosc(whole)).not.toThrow();
    for (const length of [0, 15, 16, 39]) expect(() => checkBlosc(whole.subarray(0, length))).toThrow('half written');
  });
});
