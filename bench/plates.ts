/** Plates of OME-Zarr for benchmarks, written fast: cells on a dark ground, without packing. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const CHANNELS = 4;
export const FIELDS = 4;
const SIZE = 2160;
const LEVELS = 5;
const PIXEL = 0.325;

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

function cells(side: number, seed: number): Buffer {
  const pixels = new Uint16Array(side * side);
  for (let at = 0; at < pixels.length; at++) {
    const [x, y] = [at % side, Math.floor(at / side)];
    const cell = Math.max(0, Math.sin((x + seed * 13) / 9) * Math.sin((y + seed * 7) / 8));
    pixels[at] = 110 + ((at * 2_654_435_761 + seed * 97) % 40) + 3000 * cell ** 3;
  }
  return Buffer.from(pixels.buffer);
}

interface Image {
  size: number;
  levels: number;
  /** Of the pixels of a level; the others are left out, as nothing looks at them. */
  isWritten: (level: number) => boolean;
  /** The side of a chunk. */
  chunk: number;
  corner?: [y: number, x: number];
}

function writeLevel(path: string, side: number, chunk: number, seed: number | undefined): void {
  const meta = {
    zarr_format: 2,
    shape: [CHANNELS, 1, side, side],
    chunks: [1, 1, chunk, chunk],
    dtype: '<u2',
    compressor: null,
    fill_value: 0,
    order: 'C',
    filters: null,
    dimension_separator: '/',
  };
  put(join(path, '.zarray'), JSON.stringify(meta));
  if (seed === undefined) return;
  const across = Math.ceil(side / chunk);
  for (let channel = 0; channel < CHANNELS; channel++) {
    const pixels = cells(chunk, seed + channel);
    for (let at = 0; at < across * across; at++)
      put(join(path, `${channel}/0/${Math.floor(at / across)}/${at % across}`), pixels);
  }
}

export function writeImage(path: string, seed: number, { size, levels: count, isWritten, chunk, corner }: Image): void {
  const levels = Array.from({ length: count }, (_, level) => level);
  const axes = ['c', 'z', 'y', 'x'].map((name) => ({
    name,
    type: name === 'c' ? 'channel' : 'space',
    unit: 'micrometer',
  }));
  const datasets = levels.map((level) => ({
    path: String(level),
    coordinateTransformations: [
      { type: 'scale', scale: [1, 1, PIXEL * 2 ** level, PIXEL * 2 ** level] },
      ...(corner ? [{ type: 'translation', translation: [0, 0, ...corner] }] : []),
    ],
  }));
  put(join(path, '.zgroup'), '{"zarr_format":2}');
  put(join(path, '.zattrs'), JSON.stringify({ multiscales: [{ version: '0.4', axes, datasets }] }));
  for (const level of levels) {
    const side = Math.floor(size / 2 ** level);
    writeLevel(join(path, String(level)), side, Math.min(chunk, side), isWritten(level) ? seed : undefined);
  }
}

const byTwo = (field: number): [number, number] => [Math.floor(field / 2) * SIZE * PIXEL, (field % 2) * SIZE * PIXEL];

/** Gives the images of the list. */
export function writePlate(folder: string, name: string, rows: number, columns: number) {
  const [rowNames, columnNames] = [
    Array.from({ length: rows }, (_, at) => String.fromCharCode(65 + at)),
    Array.from({ length: columns }, (_, at) => String(at + 1).padStart(2, '0')),
  ];
  const names = (list: string[]) => list.map((one) => ({ name: one }));
  put(join(folder, name, '.zattrs'), JSON.stringify({ plate: { rows: names(rowNames), columns: names(columnNames) } }));
  return rowNames.flatMap((row) =>
    columnNames.flatMap((column) =>
      Array.from({ length: FIELDS }, (_, field) => {
        const zarr_url = join(folder, name, row, column, String(field));
        writeImage(zarr_url, field, {
          size: SIZE,
          levels: LEVELS,
          isWritten: (level) => level === LEVELS - 1,
          chunk: SIZE,
          corner: byTwo(field),
        });
        return { zarr_url, attributes: { plate: name, well: row + column }, types: {} };
      }),
    ),
  );
}
