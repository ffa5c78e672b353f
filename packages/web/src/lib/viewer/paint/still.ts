/** Pictures that are composed once and then laid where they belong. */
import type { LabelTile } from '../facts.ts';
import type { Palette } from '../palette.ts';
import type { LabelSetting } from '../settings.ts';
import { composeLabels, composeTile } from './compose.ts';
import type { PaintedChannel } from './scene.ts';

function drawn(pixels: Uint8ClampedArray<ArrayBuffer>, width: number, height: number): OffscreenCanvas {
  const canvas = new OffscreenCanvas(width, height);
  canvas.getContext('2d')!.putImageData(new ImageData(pixels, width, height), 0, 0);
  return canvas;
}

/** Channels of one size; undefined where there are none. */
export function stillOf(channels: readonly PaintedChannel[]): OffscreenCanvas | undefined {
  const [first] = channels;
  return first && drawn(composeTile(channels), first.tile.width, first.tile.height);
}

export const stillOfLabels = (tile: LabelTile, look: LabelSetting, palette?: Palette): OffscreenCanvas =>
  drawn(composeLabels(tile, look, palette), tile.width, tile.height);
