/**
 * Where everything lies in the picture of a plate. A plate is a grid of cells, a well each; a cell is a square that is as
 * large as the largest well, and all wells are drawn at one scale, so that they can be compared.
 *
 * Lengths of fields are in any one unit; of cells and pictures in pixels.
 */
import type { Rectangle } from './resample.ts';

/** Where a field lies in its well, and how large it is. */
export interface FieldPlace {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Fields without a known position: in reading order, in a block that is about as wide as high. */
export function inReadingOrder(sizes: readonly { width: number; height: number }[]): FieldPlace[] {
  const columns = Math.ceil(Math.sqrt(sizes.length));
  const width = Math.max(...sizes.map((size) => size.width));
  const height = Math.max(...sizes.map((size) => size.height));
  return sizes.map((size, at) => ({ ...size, x: (at % columns) * width, y: Math.floor(at / columns) * height }));
}

/** Moves the fields of a well so that they begin at 0. */
export function fromCorner(places: readonly FieldPlace[]): FieldPlace[] {
  const left = Math.min(...places.map(({ x }) => x));
  const top = Math.min(...places.map(({ y }) => y));
  return places.map((place) => ({ ...place, x: place.x - left, y: place.y - top }));
}

/** The largest side of all wells. */
export const sideOf = (wells: readonly (readonly FieldPlace[])[]): number =>
  Math.max(...wells.flatMap((places) => places.flatMap(({ x, y, width, height }) => [x + width, y + height])));

const middle = (places: readonly FieldPlace[], side: number) => ({
  x: (side - Math.max(...places.map(({ x, width }) => x + width))) / 2,
  y: (side - Math.max(...places.map(({ y, height }) => y + height))) / 2,
});

/** The fields of a well in its cell, as parts of 1; the well is in the middle. */
export function inCell(places: readonly FieldPlace[], side: number): FieldPlace[] {
  const { x, y } = middle(places, side);
  return places.map((place) => ({
    x: (place.x + x) / side,
    y: (place.y + y) / side,
    width: place.width / side,
    height: place.height / side,
  }));
}

/** A place in a cell as pixels of the whole picture. */
export function inPicture(place: FieldPlace, cell: { row: number; column: number }, size: number): Rectangle {
  const left = Math.round(place.x * size);
  const top = Math.round(place.y * size);
  return {
    left: cell.column * size + left,
    top: cell.row * size + top,
    width: Math.max(1, Math.round((place.x + place.width) * size) - left),
    height: Math.max(1, Math.round((place.y + place.height) * size) - top),
  };
}

/** What two rectangles share; undefined where it is nothing. */
export function shared(one: Rectangle, other: Rectangle): Rectangle | undefined {
  const left = Math.max(one.left, other.left);
  const top = Math.max(one.top, other.top);
  const width = Math.min(one.left + one.width, other.left + other.width) - left;
  const height = Math.min(one.top + one.height, other.top + other.height) - top;
  return width > 0 && height > 0 ? { left, top, width, height } : undefined;
}

export const TILE = 512;
const SMALLEST_CELL = 32;

export interface ZoomLevel {
  level: number;
  /** The side of a well. */
  cell_size: number;
  width: number;
  height: number;
}

/** Levels for zooming: from small wells to wells at their own size, each twice as large as the one before. */
export function zoomLevels(rows: number, columns: number, fullSize: number): ZoomLevel[] {
  const levels: ZoomLevel[] = [];
  for (let level = 0, size = SMALLEST_CELL; ; level++, size *= 2) {
    levels.push({ level, cell_size: size, width: columns * size, height: rows * size });
    if (size >= fullSize || level >= 12) return levels;
  }
}

/** `count` of a list, evenly spread over it. */
export function spread<T>(list: readonly T[], count: number): T[] {
  if (list.length <= count) return [...list];
  return Array.from({ length: count }, (_, at) => list[Math.floor(((at + 0.5) * list.length) / count)]!);
}
