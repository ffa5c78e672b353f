/** Where the reader looks, and which tiles show it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  caught,
  fit,
  inOther,
  moved,
  toImage,
  toScreen,
  within,
  zoomAt,
  zoomWords,
} from '../../src/lib/pixels/camera.ts';
import { lengthWords, scaleBar } from '../../src/lib/pixels/scale-bar.ts';
import { boxOf, levelFor, seenBox, tileSide, tilesIn } from '../../src/lib/pixels/tiles.ts';
import { image, pyramid, screen } from './samples.ts';

describe('the camera', () => {
  it('begins with all of the image', () => {
    const { zoom } = fit(image, screen);
    expect(zoom * image.height).toBeCloseTo(screen.height);
    expect(zoom * image.width).toBeLessThanOrEqual(screen.width);
  });

  it('zooms at a point: what is there stays there', () => {
    fc.assert(
      fc.property(
        fc.record({ x: fc.double({ min: 0, max: 900, noNaN: true }), y: fc.double({ min: 0, max: 600, noNaN: true }) }),
        fc.double({ min: 0.2, max: 5, noNaN: true }),
        (point, factor) => {
          const before = fit(image, screen);
          const there = toImage(before, screen, point);
          const after = toScreen(zoomAt(before, screen, point, factor), screen, there);
          expect(after.x).toBeCloseTo(point.x, 3);
          expect(after.y).toBeCloseTo(point.y, 3);
        },
      ),
    );
  });

  it('catches at 100 %, and at twice and half of it', () => {
    expect([1.015, 0.99, 2.03, 0.503, 1.4].map((zoom) => caught(zoom, 1.5))).toEqual([1, 1, 2, 0.5, 1.4]);
  });

  it('lets go of them in the smallest of steps', () => {
    const zooms = [0.97];
    for (let step = 0; step < 30; step++) zooms.push(caught(zooms.at(-1)! * 1.003, zooms.at(-1)!));
    expect(zooms).toContain(1);
    expect(zooms.at(-1)).toBeGreaterThan(1.05);
  });

  it('stays in the image', () => {
    const lost = within({ x: -500, y: 9999, zoom: 1000 }, image, screen);
    expect(lost).toEqual({ x: 0, y: 4320, zoom: 64 });
    expect(moved({ x: 10, y: 10, zoom: 2 }, { x: 4, y: -4 })).toEqual({ x: 8, y: 12, zoom: 2 });
  });

  it('shows the same place of an image with fewer pixels', () => {
    const half = { width: 2160, height: 2160 };
    expect(inOther({ x: 1000, y: 400, zoom: 1 }, image, half)).toEqual({ x: 500, y: 200, zoom: 2 });
  });

  it('says its zoom in words', () => {
    expect([1, 0.125, 0.034].map(zoomWords)).toEqual(['100 %', '13 %', '3.4 %']);
  });
});

describe('levels and tiles', () => {
  it.each([
    [0.1, 1, 3],
    [0.2, 1, 2],
    [1, 1, 0],
    [8, 1, 0],
    [0.1, 2, 2],
  ])('at %d with %d pixels of the device the level is %d', (zoom, ratio, level) => {
    expect(levelFor(pyramid, zoom, ratio)).toBe(level);
  });

  it('cover what is in sight, the middle first, and nothing else', () => {
    const camera = { x: 2700, y: 1000, zoom: 1 };
    const box = seenBox(camera, screen);
    const tiles = tilesIn(pyramid, 0, box);
    expect(tiles[0]).toEqual({ level: 0, row: 1, column: 4 });
    for (const tile of tiles) {
      const { left, right, top, bottom } = boxOf(pyramid, tile);
      expect(left < box.right && right > box.left && top < box.bottom && bottom > box.top).toBe(true);
    }
    const covered = tiles.map((tile) => boxOf(pyramid, tile));
    expect(Math.min(...covered.map(({ left }) => left))).toBeLessThanOrEqual(box.left);
    expect(Math.max(...covered.map(({ bottom }) => bottom))).toBeGreaterThanOrEqual(box.bottom);
  });

  it('have sides that fit the chunks', () => {
    expect([64, 256, 540, 2160, 4320, 100].map((chunk) => tileSide(chunk, 10_000))).toEqual([
      256, 256, 540, 720, 864, 300,
    ]);
    expect(tileSide(2160, 192)).toBe(192);
  });
});

describe('the scale bar', () => {
  it('has a round length and fits', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 64, noNaN: true }), (zoom) => {
        const { width, words } = scaleBar({ x: 0.325, y: 0.325, z: undefined, unit: 'µm' }, { zoom });
        expect(width).toBeLessThanOrEqual(200.001);
        expect(width).toBeGreaterThan(79);
        expect(words).toMatch(/^(1|2|5)0*(\.0+)? (µm|mm)$|^0\.0*[125] µm$/);
      }),
    );
  });

  it('uses the next unit for long lengths', () => {
    expect([lengthWords(50, 'µm'), lengthWords(2000, 'µm'), lengthWords(500, 'nm')]).toEqual([
      '50 µm',
      '2 mm',
      '500 nm',
    ]);
  });
});
