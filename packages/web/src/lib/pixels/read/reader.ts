/**
 * Images and plates as the page reads them: what is known about them, and tiles.
 *
 *     const reader = await openImage(dataAddress(viewers, zarr_url)!);
 *     const tile = await reader.tile({ level: 2, channel: 0, z: 3, t: 0, row: 0, column: 0 }, signal);
 */
import type { PlatePictureInfo } from '@service/contract';
import type { Limits } from '@service/contract/ome';

import { addressOf, type DatasetIds } from '../../api/client.ts';
import { createAsker } from '../../ask-worker.ts';
import type { Facts, LabelFacts, LabelTile, Tile, TilePlace } from '../facts.ts';
import { isSameRange, rangeFor } from '../range.ts';
import { readHex } from '../settings.ts';
import { ReadProblem } from './problem.ts';
import type { Ask, Problem } from './worker.ts';

export interface LabelReader {
  facts: LabelFacts;
  tile: (place: TilePlace, signal: AbortSignal) => Promise<LabelTile>;
}

export interface Reader {
  facts: Facts;
  tile: (place: TilePlace, signal: AbortSignal) => Promise<Tile>;
  /** Whether a tile that was read still serves, or has to be read again. */
  serves?: (tile: Tile, channel: number) => boolean;
  labels: (name: string) => Promise<LabelReader>;
}

const ask = createAsker<Ask, Problem>(() => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' }), {
  problemOf: ({ kind, problem }) => new ReadProblem(kind, problem),
  broken: () => new ReadProblem('connection', 'The viewer could not be loaded. Reload the page.'),
});

export async function openImage(address: string): Promise<Reader> {
  const facts = (await ask({ what: 'open', address })) as Facts;
  return {
    facts,
    tile: (place, signal) => ask({ what: 'tile', address, place }, signal) as Promise<Tile>,
    async labels(name) {
      const labelFacts = (await ask({ what: 'labels', address, name })) as LabelFacts;
      return {
        facts: labelFacts,
        tile: (place, signal) => ask({ what: 'label tile', address, name, place }, signal) as Promise<LabelTile>,
      };
    },
  };
}

/** Opens what may be looked at next, and reads what would be in sight of it. Fails in silence: nobody asked for it yet. */
export const readAhead = (address: string, places: TilePlace[], signal: AbortSignal): Promise<void> =>
  ask({ what: 'ahead', address, places }, signal).then(
    () => undefined,
    () => undefined,
  );

/** Pictures that the service made, as tiles. */
const readPicture = (address: string, signal?: AbortSignal): Promise<Tile> =>
  ask({ what: 'picture', address }, signal) as Promise<Tile>;
const readNumbers = (address: string, signal?: AbortSignal): Promise<LabelTile> =>
  ask({ what: 'numbers', address }, signal) as Promise<LabelTile>;

/** `limits`: the contrast that the reader set, which may need other tiles than the contrast of the plate. */
export function plateReader(
  params: DatasetIds,
  info: PlatePictureInfo,
  limits: (channel: number) => Limits | undefined,
): Reader {
  const levels = info.levels.map(({ width, height }) => ({
    width,
    height,
    tileWidth: info.tile_size,
    tileHeight: info.tile_size,
  }));
  const { width, height, cell_size } = info.levels.at(-1)!;
  const perPixel = info.cell_pixels / cell_size;
  const { pixel_size: pixel } = info;
  const told = (channel: number): Limits => [info.channels[channel]!.low, info.channels[channel]!.high];
  const placeOf = ({ level, z, t, row, column }: TilePlace) => ({
    plate: info.plate,
    level: levels.length - 1 - level,
    row,
    column,
    z,
    t,
  });
  return {
    facts: {
      width,
      height,
      levels: levels.toReversed(),
      channels: info.channels.map(({ name, color, visible }, at) => ({
        name,
        colour: readHex(color) ?? [255, 255, 255],
        shown: visible,
        limits: told(at),
      })),
      planes: info.planes,
      times: info.times,
      pixel: pixel ? { x: pixel.x * perPixel, y: pixel.y * perPixel, z: undefined, unit: pixel.unit } : undefined,
      values: 'uint8',
      labels: info.labels,
      labelsAtFirst: false,
    },
    tile(place, signal) {
      const { channel } = place;
      const [low, high] = rangeFor(limits(channel), told(channel));
      const query = { ...placeOf(place), channel, low, high };
      return readPicture(addressOf('projects.getPlatePicture', { params, query }), signal);
    },
    serves: ({ range }, channel) => isSameRange(rangeFor(limits(channel), told(channel), range), range!),
    labels: (name) =>
      Promise.resolve({
        facts: { width, height, levels: levels.toReversed(), planes: info.planes, stretched: false },
        tile(place, signal) {
          const query = { ...placeOf(place), labels: name, layer: 'labels' as const };
          return readNumbers(addressOf('projects.getPlatePicture', { params, query }), signal);
        },
      }),
  };
}
