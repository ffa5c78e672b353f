/**
 * A tile as it is to look, pixel by pixel: what the fallback without WebGL shows, and what WebGL is compared with. As a
 * still it is composed once and then laid where it belongs.
 */
import { addChannel, bytesOfLight, darkness, ON_PICTURE, outline } from '@service/contract/ome';

import type { LabelTile } from '../facts.ts';
import { colourIn, lineColour, type Palette } from '../palette.ts';
import type { LabelSetting } from '../settings.ts';
import { colourOfLabel, limitsIn, type PaintedChannel } from './scene.ts';

/** Red, green, blue and cover for each pixel. */
export function composeTile(channels: readonly PaintedChannel[]): Uint8ClampedArray<ArrayBuffer> {
  const light = darkness(channels[0]?.tile.pixels.length ?? 0);
  for (const { tile, colour, limits } of channels) addChannel(light, tile.pixels, colour, limitsIn(tile, limits));
  light.drawn.fill(255);
  return new Uint8ClampedArray(bytesOfLight(light).buffer);
}

/** Over a picture: see-through where there is no object. What has no colour in a palette is not filled. */
export function composeLabels(
  { labels, width }: LabelTile,
  look: LabelSetting,
  palette?: Palette,
): Uint8ClampedArray<ArrayBuffer> {
  const image = new Uint8ClampedArray(labels.length * 4);
  const plainOf = (label: number) => (look.random ? colourOfLabel(label) : ON_PICTURE);
  const fillOf = (label: number) => (palette ? colourIn(palette, label) : plainOf(label));
  const lineOf = (label: number) => {
    const own = palette && colourIn(palette, label);
    return own ? lineColour(own) : plainOf(label);
  };
  if (look.look !== 'outline') {
    for (let at = 0; at < labels.length; at++) {
      const colour = labels[at] === 0 ? undefined : fillOf(labels[at]!);
      if (colour) image.set([...colour, Math.round(look.strength * 255)], at * 4);
    }
  }
  if (look.look !== 'fill') {
    for (const at of outline(labels, width)) image.set([...lineOf(labels[at]!), 255], at * 4);
  }
  return image;
}

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
