/**
 * What is to be painted: tiles with their place, channels and labels. Plain data, made anew for every frame; painters know
 * nothing else.
 */
import type { Colour, Limits } from '@service/contract/ome';

import type { Camera, Size } from '../camera.ts';
import type { LabelTile, Tile } from '../facts.ts';
import type { Palette } from '../palette.ts';
import type { LabelSetting } from '../settings.ts';
import type { Box } from '../tiles.ts';

export interface PaintedChannel {
  tile: Tile;
  colour: Colour;
  limits: Limits;
}

/** One place of one level, all channels that are shown. */
export interface PaintedTile {
  /** In pixels of the image at its full size. */
  box: Box;
  channels: PaintedChannel[];
}

export interface PaintedLabels {
  box: Box;
  tile: LabelTile;
}

/** One image on a part of the canvas. */
export interface Pane {
  camera: Camera;
  /** Where its middle and size are on the canvas, in pixels of the page. */
  area: Size & { left: number; top: number };
  /** What of the area is painted: all of it, or one side of a slider. */
  clip: Size & { left: number; top: number };
  /** Coarse ones first: what is sharper lies over them. */
  tiles: PaintedTile[];
  labels: PaintedLabels[];
  look: LabelSetting;
  /** Colours of single objects, where they have some. */
  palette?: Palette | undefined;
  /** Pixels are smoothed while they are small. */
  smooth: boolean;
}

export interface Painter {
  kind: 'webgl' | 'canvas';
  /** `ratio`: pixels of the device for one of the page. */
  paint: (panes: readonly Pane[], size: Size, ratio: number) => void;
  dispose: () => void;
}

/** Behind every picture, in both themes. */
export const INK: Colour = [0x05, 0x07, 0x0a];

/** Limits in the numbers of a tile: pictures of the service have bytes. */
export function limitsIn({ range }: Tile, [low, high]: Limits): Limits {
  if (!range) return [low, high];
  const width = range[1] - range[0];
  if (width <= 0) return [low < range[0] ? -1 : 0, high < range[0] ? -0.5 : 1];
  const inBytes = (value: number) => ((value - range[0]) / width) * 255;
  return [inBytes(low), inBytes(high)];
}

/** Where a box is on the canvas, in pixels of the page. */
export function placeOf({ camera, area }: Pane, { left, top, right, bottom }: Box) {
  const across = (x: number) => area.left + area.width / 2 + (x - camera.x) * camera.zoom;
  const down = (y: number) => area.top + area.height / 2 + (y - camera.y) * camera.zoom;
  return { left: across(left), top: down(top), right: across(right), bottom: down(bottom) };
}

/** A colour for each object: neighbours in number are far apart in colour. */
export function colourOfLabel(label: number): Colour {
  const hue = (label * 0.618034) % 1;
  return [0, 1 / 3, 2 / 3].map((shift) => {
    const part = Math.abs(((hue + shift) % 1) * 6 - 3) - 1;
    return Math.round(255 * (0.35 + 0.65 * Math.min(1, Math.max(0, part))));
  }) as unknown as Colour;
}
