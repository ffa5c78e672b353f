/** A screen, an image with its levels, and channels, for tests. */
import type { ChannelFacts } from '../../src/lib/pixels/facts.ts';

export const screen = { width: 900, height: 600 };
export const image = { width: 4320, height: 4320 };
export const pyramid = {
  ...image,
  levels: [4320, 2160, 1080, 540].map((side) => ({ width: side, height: side, tileWidth: 540, tileHeight: 540 })),
};

export const channel = (name: string, more: Partial<ChannelFacts> = {}): ChannelFacts => ({
  name,
  colour: [255, 0, 0],
  shown: true,
  limits: [0, 100],
  ...more,
});
