/** OME-Zarr images of version 0.4, written by hand, so that they can be as wrong as a test wants. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

type Json = Record<string, unknown>;

export function put(path: string, content: string | Buffer | Json): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
}

export const axesOf = (names: string) => [...names].map((name) => ({ name, type: 'space' }));

export const multiscales = (axes: string, paths = ['0'], scale?: number[]) => ({
  multiscales: [
    {
      version: '0.4',
      axes: axesOf(axes),
      datasets: paths.map((path) => ({
        path,
        ...(scale ? { coordinateTransformations: [{ type: 'scale', scale }] } : {}),
      })),
    },
  ],
});

export const arrayOf = (shape: number[], chunks: number[], more: Json = {}): Json => ({
  zarr_format: 2,
  shape,
  chunks,
  dtype: '<u2',
  compressor: null,
  fill_value: 0,
  order: 'C',
  filters: null,
  dimension_separator: '/',
  ...more,
});

/** One level, one chunk for each channel; the pixels of a channel are `value(channel, y, x)`. */
export function writeImage(
  path: string,
  { channels = 1, size = 32, value = (channel: number, y: number, x: number) => 100 * channel + y + x } = {},
): string {
  put(join(path, '.zgroup'), { zarr_format: 2 });
  put(join(path, '.zattrs'), multiscales('cyx'));
  put(join(path, '0/.zarray'), arrayOf([channels, size, size], [1, size, size]));
  for (let channel = 0; channel < channels; channel++) {
    const pixels = Uint16Array.from({ length: size * size }, (_, at) =>
      value(channel, Math.floor(at / size), at % size),
    );
    put(join(path, `0/${channel}/0/0`), Buffer.from(pixels.buffer));
  }
  return path;
}
