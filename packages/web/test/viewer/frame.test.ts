/** Which tiles a view wants, and which it paints. */
import { describe, expect, it } from 'vitest';

import { fit } from '../../src/lib/pixels/camera.ts';
import { tileKey } from '../../src/lib/pixels/facts.ts';
import { isCut, paintedTiles, wantedPlaces } from '../../src/lib/viewer/frame.ts';
import { image, pyramid, screen } from '../pixels/samples.ts';

describe('tiles', () => {
  const sight = { camera: fit(image, screen), screen, ratio: 1, z: 2, t: 0 };

  it('are wanted coarse first, then sharp, then the planes beside', () => {
    const wanted = wantedPlaces(pyramid, { ...sight, camera: { x: 2160, y: 2160, zoom: 1 } }, [0, 2], 4);
    expect(wanted.slice(0, 2).map(({ level, channel }) => [level, channel])).toEqual([
      [3, 0],
      [3, 2],
    ]);
    expect(wanted[2]!.level).toBe(0);
    expect([...new Set(wanted.map(({ z }) => z))]).toEqual([2, 3, 1]);
  });

  it('are painted when all their channels are there, and coarser ones until then', () => {
    const tile = { width: 1, height: 1, pixels: new Uint8Array(1) };
    const channels = [0, 1].map((channel) => ({ channel, colour: [255, 255, 255] as const, limits: [0, 1] as const }));
    const near = { ...sight, camera: { x: 270, y: 270, zoom: 1 }, screen: { width: 500, height: 500 } };
    const key = (level: number, channel: number) => tileKey({ level, channel, z: 2, t: 0, row: 0, column: 0 });
    const there = new Set([key(3, 0), key(3, 1), key(0, 0)]);
    const find = (one: string) => (there.has(one) ? tile : undefined);
    expect(paintedTiles(pyramid, near, channels, find).map(({ box }) => box.right)).toEqual([4320]);
    there.add(key(0, 1));
    expect(paintedTiles(pyramid, near, channels, find).map(({ box }) => box.right)).toEqual([540]);
  });

  it('of an image without small levels are read in the middle only', () => {
    const flat = {
      width: 40_000,
      height: 40_000,
      levels: [{ width: 40_000, height: 40_000, tileWidth: 512, tileHeight: 512 }],
    };
    const all = { ...sight, camera: fit(flat, screen) };
    expect(isCut(flat, all)).toBe(true);
    expect(wantedPlaces(flat, all, [0], 1)).toHaveLength(48);
    expect(isCut(pyramid, sight)).toBe(false);
  });
});
