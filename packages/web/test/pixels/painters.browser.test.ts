/** WebGL and the plain canvas show what composition says, pixel by pixel. */
import { describe, expect, it } from 'vitest';

import type { Pixels } from '../../src/lib/pixels/facts.ts';
import { createCanvasPainter } from '../../src/lib/pixels/paint/canvas.ts';
import { composeTile } from '../../src/lib/pixels/paint/compose.ts';
import type { PaintedChannel, Painter, Pane } from '../../src/lib/pixels/paint/scene.ts';
import { createWebglPainter } from '../../src/lib/pixels/paint/webgl.ts';
import { paletteOf } from '../../src/lib/pixels/palette.ts';
import { newLabels } from '../../src/lib/pixels/settings.ts';

const [WIDTH, HEIGHT] = [64, 48];

const KINDS = {
  bytes: () => new Uint8Array(WIDTH * HEIGHT),
  '16 bits': () => new Uint16Array(WIDTH * HEIGHT),
  'floating point': () => new Float32Array(WIDTH * HEIGHT),
} satisfies Record<string, () => Pixels>;

/** The same numbers every time, spread over the range. */
function filled<T extends Pixels>(pixels: T, most: number, seed: number): T {
  let state = seed;
  for (let at = 0; at < pixels.length; at++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    pixels[at] = (state / 2_147_483_648) * most;
  }
  return pixels;
}

const COLOURS = [
  [111, 168, 255],
  [91, 224, 138],
  [255, 106, 200],
  [255, 194, 74],
] as const;

const channelsOf = (kind: keyof typeof KINDS, count: number): PaintedChannel[] =>
  Array.from({ length: count }, (_, at) => {
    const most = kind === 'bytes' ? 255 : 65_535;
    const pixels = filled(KINDS[kind](), most, at + 7);
    return {
      tile: { width: WIDTH, height: HEIGHT, pixels },
      colour: COLOURS[at % COLOURS.length]!,
      limits: [most * 0.05 * at, most * (0.6 + 0.1 * at)],
    };
  });

const paneOf = (channels: PaintedChannel[], more: Partial<Pane> = {}): Pane => ({
  camera: { x: WIDTH / 2, y: HEIGHT / 2, zoom: 1 },
  area: { left: 0, top: 0, width: WIDTH, height: HEIGHT },
  clip: { left: 0, top: 0, width: WIDTH, height: HEIGHT },
  tiles: [{ box: { left: 0, top: 0, right: WIDTH, bottom: HEIGHT }, channels }],
  labels: [],
  look: newLabels(undefined),
  smooth: false,
  ...more,
});

type Make = (canvas: HTMLCanvasElement) => Painter | undefined;
const PAINTERS: Record<string, Make> = {
  webgl: (canvas) => createWebglPainter(canvas, () => undefined),
  canvas: createCanvasPainter,
};

/** What is on the canvas after a frame. */
function painted(make: Make, pane: Pane): Uint8ClampedArray {
  const canvas = document.createElement('canvas');
  const painter = make(canvas);
  if (!painter) throw new Error('This browser cannot paint.');
  painter.paint([pane], { width: WIDTH, height: HEIGHT }, 1);
  const copy = document.createElement('canvas');
  [copy.width, copy.height] = [WIDTH, HEIGHT];
  const context = copy.getContext('2d')!;
  context.drawImage(canvas, 0, 0);
  painter.dispose();
  return context.getImageData(0, 0, WIDTH, HEIGHT).data;
}

const farthest = (one: ArrayLike<number>, other: ArrayLike<number>) => {
  let most = 0;
  for (let at = 0; at < one.length; at++) most = Math.max(most, Math.abs(one[at]! - other[at]!));
  return most;
};

describe.each(Object.entries(PAINTERS))('the picture by %s', (_, make) => {
  it.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('of %s is the composition, within one shade', (kind) => {
    for (const count of [1, 4, 10]) {
      const channels = channelsOf(kind, count);
      const shown = painted(make, paneOf(channels));
      // more than eight channels are painted one group over the other, each rounded
      expect(farthest(shown, composeTile(channels))).toBeLessThanOrEqual(count > 8 ? 2 : 1);
    }
  });

  it('of bytes that stand for values follows the limits of the values', () => {
    const [channel] = channelsOf('bytes', 1);
    const channels = [
      { ...channel!, tile: { ...channel!.tile, range: [100, 4100] as const }, limits: [500, 3000] as const },
    ];
    expect(farthest(painted(make, paneOf(channels)), composeTile(channels))).toBeLessThanOrEqual(1);
  });

  it('shows only its side of a border', () => {
    const channels = channelsOf('16 bits', 2);
    const shown = painted(make, paneOf(channels, { clip: { left: 32, top: 0, width: 32, height: HEIGHT } }));
    expect([...shown.slice(0, 3)]).toEqual([5, 7, 10]);
    const all = composeTile(channels);
    expect(farthest(shown.slice(40 * 4, 60 * 4), all.slice(40 * 4, 60 * 4))).toBeLessThanOrEqual(1);
  });

  it('marks where objects end, and fills them on demand', () => {
    const labels = new Uint32Array(WIDTH * HEIGHT);
    for (let y = 10; y < 38; y++) labels.fill(70_000, y * WIDTH + 10, y * WIDTH + 50);
    const tile = { width: WIDTH, height: HEIGHT, labels };
    const box = { left: 0, top: 0, right: WIDTH, bottom: HEIGHT };
    const dark = [{ ...channelsOf('bytes', 1)[0]!, limits: [1000, 2000] as const }];
    const at = (shown: Uint8ClampedArray, x: number, y: number) => shown[(y * WIDTH + x) * 4]!;
    const outlined = painted(make, paneOf(dark, { labels: [{ tile, box }], look: newLabels('a') }));
    expect([at(outlined, 10, 20), at(outlined, 30, 24), at(outlined, 4, 4)]).toEqual([0xe6, 0, 0]);
    const look = { ...newLabels('a'), look: 'fill' as const, strength: 0.8 };
    const full = painted(make, paneOf(dark, { labels: [{ tile, box }], look }));
    expect(Math.abs(at(full, 30, 24) - 0xe6 * 0.8)).toBeLessThanOrEqual(2);
    expect(at(full, 4, 4)).toBe(0);
  });
});

describe.each(Object.entries(PAINTERS))('objects coloured by a feature, by %s', (_, make) => {
  const labels = new Uint32Array(WIDTH * HEIGHT);
  for (let y = 6; y < 42; y++) {
    // one on the second line of the palette, one without a value, one beyond its end
    labels.fill(2000, y * WIDTH + 4, y * WIDTH + 20);
    labels.fill(7, y * WIDTH + 24, y * WIDTH + 40);
    labels.fill(70_000, y * WIDTH + 44, y * WIDTH + 60);
  }
  const box = { left: 0, top: 0, right: WIDTH, bottom: HEIGHT };
  const dark = [{ ...channelsOf('bytes', 1)[0]!, limits: [1000, 2000] as const }];
  const legend = { kind: 'sequential', from: 0, to: 10, isCut: { below: false, above: false } } as const;
  const palette = paletteOf([2000, 7], [10, NaN], legend);
  const at = (look: 'outline' | 'fill', x: number, y: number) => {
    const shown = painted(
      make,
      paneOf(dark, {
        labels: [{ tile: { width: WIDTH, height: HEIGHT, labels }, box }],
        look: { ...newLabels('a'), look, strength: 0.8 },
        palette,
      }),
    );
    return [...shown.slice((y * WIDTH + x) * 4, (y * WIDTH + x) * 4 + 3)];
  };
  const near = (colour: number[], expected: number[]) => expect(farthest(colour, expected)).toBeLessThanOrEqual(2);

  it('have the colour of their value, lines a little lighter; the others have that of all', () => {
    near(at('outline', 4, 20), [253 + 0.5, 231 + 6, 37 + 54.5]);
    near(at('outline', 24, 20), [0xe6, 0xeb, 0xee]);
    near(at('outline', 44, 20), [0xe6, 0xeb, 0xee]);
  });

  it('are filled only where they have a value', () => {
    near(at('fill', 12, 20), [253 * 0.8, 231 * 0.8, 37 * 0.8]);
    near(at('fill', 32, 20), [0, 0, 0]);
    near(at('fill', 52, 20), [0, 0, 0]);
  });
});

it('WebGL is what this browser paints with', () => {
  expect(createWebglPainter(document.createElement('canvas'), () => undefined)?.kind).toBe('webgl');
});
