/** From where the reader looks to tiles: which are wanted, the most urgent first, and which are painted now. */
import type { Camera, Size } from '../pixels/camera.ts';
import { type LevelFacts, type Tile, tileKey, type TilePlace } from '../pixels/facts.ts';
import type { LabelTile } from '../pixels/facts.ts';
import type { PaintedLabels, PaintedTile } from '../pixels/paint/scene.ts';
import type { DrawnChannel } from '../pixels/settings.ts';
import { boxOf, levelFor, seenBox, type TileAt, tilesIn } from '../pixels/tiles.ts';

interface Pyramid extends Size {
  levels: LevelFacts[];
}

export interface Sight {
  camera: Camera;
  screen: Size;
  /** Pixels of the device for one of the page. */
  ratio: number;
  z: number | 'max';
  t: number;
}

/** A level without smaller ones is read in the middle only. */
const MOST_TILES = 48;

/** Of one level, what is in sight. */
function seen(pyramid: Pyramid, level: number, { camera, screen }: Sight): TileAt[] {
  return tilesIn(pyramid, level, seenBox(camera, screen)).slice(0, MOST_TILES);
}

/** More is in sight than is read. */
export function isCut(pyramid: Pyramid, { camera, screen, ratio }: Sight): boolean {
  const level = levelFor(pyramid, camera.zoom, ratio);
  return tilesIn(pyramid, level, seenBox(camera, screen)).length > MOST_TILES;
}

const placesOf = (tiles: readonly TileAt[], channels: readonly number[], z: number | 'max', t: number): TilePlace[] =>
  tiles.flatMap((tile) => channels.map((channel) => ({ ...tile, channel, z, t })));

/** The smallest level first, so that there is something at once; then what is sharp; then the planes beside this one. */
export function wantedPlaces(pyramid: Pyramid, sight: Sight, channels: readonly number[], planes: number): TilePlace[] {
  const { z, t, camera, ratio } = sight;
  const level = levelFor(pyramid, camera.zoom, ratio);
  const sharp = seen(pyramid, level, sight);
  const coarsest = pyramid.levels.length - 1;
  const first = coarsest > level ? seen(pyramid, coarsest, sight) : [];
  const beside = z === 'max' ? [] : [z + 1, z - 1].filter((one) => one >= 0 && one < planes);
  return [
    ...placesOf(first, channels, z, t),
    ...placesOf(sharp, channels, z, t),
    ...beside.flatMap((one) => placesOf(sharp, channels, one, t)),
  ];
}

const MOST_AHEAD = 24;

/** Of an image that may come next: what it would show at the same place. */
export function placesAhead(pyramid: Pyramid, sight: Sight, channels: readonly number[]): TilePlace[] {
  return wantedPlaces(pyramid, sight, channels, 1)
    .filter(({ z }) => z === sight.z)
    .slice(0, MOST_AHEAD);
}

type Found<T> = (key: string) => T | undefined;

/** Levels that have something to paint, the coarsest first; the coarser ones only where a sharp tile is missing. */
function paintedLevels<T>(pyramid: Pyramid, sight: Sight, find: (tile: TileAt) => T | undefined): [TileAt, T][] {
  const level = levelFor(pyramid, sight.camera.zoom, sight.ratio);
  const all = seen(pyramid, level, sight).map((tile) => [tile, find(tile)] as const);
  const there = all.flatMap(([tile, one]) => (one === undefined ? [] : [[tile, one] as [TileAt, T]]));
  if (there.length === all.length) return there;
  const coarser: [TileAt, T][] = [];
  for (let one = pyramid.levels.length - 1; one > level; one--) {
    for (const tile of seen(pyramid, one, sight)) {
      const found = find(tile);
      if (found !== undefined) coarser.push([tile, found]);
    }
  }
  return [...coarser, ...there];
}

/** A tile is painted when all its channels are there, so that colours do not flicker; what cannot be read is left out. */
export function paintedTiles(
  pyramid: Pyramid,
  sight: Sight,
  channels: readonly DrawnChannel[],
  find: Found<Tile>,
  hasFailed: (key: string) => boolean = () => false,
): PaintedTile[] {
  const { z, t } = sight;
  const findAll = (tile: TileAt) => {
    const readable = channels.filter(({ channel }) => !hasFailed(tileKey({ ...tile, channel, z, t })));
    const found = readable.map(({ channel, ...look }) => ({
      ...look,
      tile: find(tileKey({ ...tile, channel, z, t })),
    }));
    return found.length > 0 && found.every((one) => one.tile !== undefined) ? found : undefined;
  };
  return paintedLevels(pyramid, sight, findAll).map(([tile, found]) => ({
    box: boxOf(pyramid, tile),
    channels: found.flatMap(({ tile: own, colour, limits }) =>
      own === undefined || limits === undefined ? [] : [{ tile: own, colour, limits }],
    ),
  }));
}

/** A label image may have its own number of pixels: its boxes are those of the image. */
export function paintedLabels(labels: Pyramid, image: Size, sight: Sight, find: Found<LabelTile>): PaintedLabels[] {
  const { z, t } = sight;
  const stretched = { levels: labels.levels, width: image.width, height: image.height };
  return paintedLevels(stretched, sight, (tile) => find(tileKey({ ...tile, channel: 0, z, t }))).map(([tile, one]) => ({
    box: boxOf(stretched, tile),
    tile: one,
  }));
}
