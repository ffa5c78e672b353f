/** Which tiles of which level show what is in sight. */
import { type Camera, type Size, toImage } from './camera.ts';
import type { LevelFacts } from './facts.ts';

/** A tile may be a little unsharp before the next level is read: four times the pixels. */
const SHARP_ENOUGH = 0.8;

interface Pyramid extends Size {
  /** The largest first. */
  levels: LevelFacts[];
}

/** The smallest level that is sharp on a screen, or the largest one. `ratio`: pixels of the device for one of the page. */
export function levelFor({ width, levels }: Pyramid, zoom: number, ratio = 1): number {
  for (let level = levels.length - 1; level > 0; level--) {
    if (levels[level]!.width / width >= zoom * ratio * SHARP_ENOUGH) return level;
  }
  return 0;
}

export interface TileAt {
  level: number;
  row: number;
  column: number;
}

/** In pixels of the image at its full size. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function seenBox(camera: Camera, screen: Size): Box {
  const { x: left, y: top } = toImage(camera, screen, { x: 0, y: 0 });
  const { x: right, y: bottom } = toImage(camera, screen, { x: screen.width, y: screen.height });
  return { left, top, right, bottom };
}

/** Where a tile lies, in pixels of the image at its full size. */
export function boxOf({ width, height, levels }: Pyramid, { level, row, column }: TileAt): Box {
  const facts = levels[level]!;
  const [across, down] = [width / facts.width, height / facts.height];
  return {
    left: column * facts.tileWidth * across,
    top: row * facts.tileHeight * down,
    right: Math.min((column + 1) * facts.tileWidth, facts.width) * across,
    bottom: Math.min((row + 1) * facts.tileHeight, facts.height) * down,
  };
}

/** Those that hold a part of a box, what is near its middle first. */
export function tilesIn(pyramid: Pyramid, level: number, box: Box): TileAt[] {
  const { width, height, tileWidth, tileHeight } = pyramid.levels[level]!;
  const [across, down] = [width / pyramid.width, height / pyramid.height];
  const range = (from: number, to: number, size: number, most: number) => {
    const first = Math.max(0, Math.floor(from / size));
    const last = Math.min(Math.ceil(most / size) - 1, Math.ceil(to / size) - 1);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
  };
  const columns = range(box.left * across, box.right * across, tileWidth, width);
  const rows = range(box.top * down, box.bottom * down, tileHeight, height);
  const [middleColumn, middleRow] = [
    (((box.left + box.right) / 2) * across) / tileWidth - 0.5,
    (((box.top + box.bottom) / 2) * down) / tileHeight - 0.5,
  ];
  const distance = ({ row, column }: TileAt) => Math.hypot(row - middleRow, column - middleColumn);
  return rows
    .flatMap((row) => columns.map((column) => ({ level, row, column })))
    .sort((one, other) => distance(one) - distance(other));
}

/** The side of a tile: a chunk, or a few small ones together, or an even part of a large one. */
export function tileSide(chunk: number, size: number): number {
  const [LEAST, MOST] = [256, 1024];
  const side = chunk < LEAST ? chunk * Math.ceil(LEAST / chunk) : Math.ceil(chunk / Math.ceil(chunk / MOST));
  return Math.min(side, size);
}
