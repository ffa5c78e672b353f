/** Colours for values, and for the objects of a label image. */
import { describe, expect, it } from 'vitest';

import { colourAt, colourOf, legendBetween, legendOf } from '../../src/lib/pixels/colour-map.ts';
import { colourIn, lineColour, paletteOf } from '../../src/lib/pixels/palette.ts';

describe('colours', () => {
  it('go through all stops, and stay at their ends', () => {
    expect([-1, 0, 0.5, 1, 2].map((part) => colourAt('sequential', part))).toEqual([
      '#443983',
      '#443983',
      '#21918c',
      '#fde725',
      '#fde725',
    ]);
  });

  it('of a diverging map are neutral at zero, however lopsided the values are', () => {
    const legend = legendOf('diverging', [-1, 0, 5])!;
    expect([legend.from, legend.to, colourOf(legend, 0)]).toEqual([-5, 5, '#ece5e0']);
  });

  it('end at the percentiles, and say that values lie beyond', () => {
    const values = Array.from({ length: 200 }, (_, at) => at);
    expect(legendOf('sequential', [...values, 10_000])).toMatchObject({ isCut: { below: true, above: true } });
    expect(legendOf('sequential', [NaN])).toBeUndefined();
    expect(colourOf(legendOf('sequential', [3])!, 3)).toBe('#21918c');
  });
});

describe('the colours of objects', () => {
  const legend = legendBetween({ from: 0, to: 10, least: 0, most: 10 });

  it('are found by their number, and missing where there is no value or no place for one', () => {
    const palette = paletteOf([3, 2000, 5, 0, -4, 1.5, 2 ** 31], [0, 10, NaN, 1, 1, 1, 1], legend);
    expect(palette.labels).toHaveLength(2048);
    expect([3, 2000, 5, 0, 2 ** 31].map((label) => colourIn(palette, label))).toEqual([
      [0x44, 0x39, 0x83],
      [0xfd, 0xe7, 0x25],
      undefined,
      undefined,
      undefined,
    ]);
    expect(lineColour([0, 100, 255])).toEqual([64, 139, 255]);
  });
});
