/**
 * One image or plate that is shown: opened, with the tiles that were read and the label image over it. What was shown
 * before stays until the next one is open.
 */
import { type LabelTile, type Tile, tileKey, type TilePlace } from '../pixels/facts.ts';
import type { PaintedLabels, PaintedTile } from '../pixels/paint/scene.ts';
import type { ReadProblem } from '../pixels/read/problem.ts';
import type { LabelReader, Reader } from '../pixels/read/reader.ts';
import type { DrawnChannel } from '../pixels/settings.ts';
import { levelFor, seenBox, tilesIn } from '../pixels/tiles.ts';
import { paintedLabels, paintedTiles, type Sight, wantedPlaces } from './frame.ts';
import { createPace } from './pace.ts';
import { createTileStore } from './tile-store.ts';

export interface Subject {
  readonly reader: Reader | undefined;
  readonly problem: ReadProblem | undefined;
  readonly busy: boolean;
  readonly labels: LabelReader | undefined;
  readonly labelProblem: ReadProblem | undefined;
  /** Grows with every tile that comes, so that what depends on tiles is made again. */
  readonly version: number;
  /** How many tiles in sight are not there yet. */
  readonly missing: number;
  /** Why a part in sight stays empty. */
  readonly tileProblem: Error | undefined;
  open: (key: string, opening: () => Promise<Reader>) => void;
  close: () => void;
  showLabels: (name: string | undefined) => void;
  /** What is in sight is read; what was is not any more. */
  look: (sight: Sight, channels: readonly DrawnChannel[], withLabels: boolean) => void;
  tiles: (sight: Sight, channels: readonly DrawnChannel[]) => PaintedTile[];
  labelTiles: (sight: Sight) => PaintedLabels[];
  /** Of one channel in sight, as far as it is there, the smallest level: for contrast and histograms. */
  coarse: (sight: Sight, channel: number) => { tiles: Tile[]; whole: boolean };
  /** The sharpest that is there at a point of the image. */
  at: (sight: Sight, channel: number, x: number, y: number) => { tile: Tile; x: number; y: number } | undefined;
  labelAt: (sight: Sight, x: number, y: number) => number | undefined;
}

export function createSubject(): Subject {
  let reader = $state.raw<Reader>();
  let problem = $state.raw<ReadProblem>();
  let labels = $state.raw<LabelReader>();
  let labelProblem = $state.raw<ReadProblem>();
  let busy = $state(false);
  let version = $state(0);
  let missing = $state(0);
  let tileProblem = $state.raw<Error>();
  let current: string | undefined;
  let labelName: string | undefined;
  let wanted: TilePlace[] = [];

  const pace = createPace(() => {
    version++;
    missing = images.missing + labelTiles.missing;
    tileProblem = wanted.map((place) => images.problem(tileKey(place))).find((one) => one !== undefined);
  });
  const onchange = () => (images.missing + labelTiles.missing === 0 ? pace.done() : pace.more());
  const images = createTileStore<Tile>({ sizeOf: ({ pixels }) => pixels.byteLength, onchange });
  const labelTiles = createTileStore<LabelTile>({
    sizeOf: ({ labels: numbers }) => numbers.byteLength,
    onchange,
    atOnce: 4,
    keptBytes: 128 * 2 ** 20,
  });

  function dropLabels() {
    labelTiles.clear();
    [labels, labelProblem, labelName] = [undefined, undefined, undefined];
  }

  async function openLabels(name: string, of: Reader) {
    try {
      const opened = await of.labels(name);
      if (labelName === name && reader === of) [labels, labelProblem] = [opened, undefined];
    } catch (error) {
      if (labelName === name && reader === of) labelProblem = error as ReadProblem;
    }
  }

  const hasFailed = (key: string) => images.problem(key) !== undefined;
  const find = (place: TilePlace) => images.get(tileKey(place));

  return {
    get reader() {
      return reader;
    },
    get problem() {
      return problem;
    },
    get busy() {
      return busy;
    },
    get labels() {
      return labels;
    },
    get labelProblem() {
      return labelProblem;
    },
    get version() {
      return version;
    },
    get missing() {
      return missing;
    },
    get tileProblem() {
      return tileProblem;
    },
    open(key, opening) {
      if (current === key && !problem) return;
      current = key;
      busy = true;
      const isCurrent = () => current === key;
      opening().then(
        (opened) => {
          if (!isCurrent()) return;
          images.clear();
          dropLabels();
          [reader, problem, busy, tileProblem] = [opened, undefined, false, undefined];
        },
        (error: unknown) => {
          if (!isCurrent()) return;
          images.clear();
          dropLabels();
          [reader, problem, busy] = [undefined, error as ReadProblem, false];
        },
      );
    },
    close() {
      images.clear();
      dropLabels();
      [current, reader, problem, busy] = [undefined, undefined, undefined, false];
    },
    showLabels(name) {
      if (name === labelName || !reader) return;
      dropLabels();
      labelName = name;
      if (name !== undefined) void openLabels(name, reader);
    },
    look(sight, channels, withLabels) {
      if (!reader) return;
      const { facts, tile, serves } = reader;
      const numbers = channels.map(({ channel }) => channel);
      wanted = wantedPlaces(facts, sight, numbers, facts.planes);
      images.want(
        wanted.map((place) => ({
          key: tileKey(place),
          read: (signal) => tile(place, signal),
          serves: serves && ((one) => serves(one, place.channel)),
        })),
      );
      if (labels && withLabels) {
        const { facts: own, tile: labelTile } = labels;
        const stretched = { levels: own.levels, width: facts.width, height: facts.height };
        const places = wantedPlaces(stretched, sight, [0], own.planes);
        labelTiles.want(places.map((place) => ({ key: tileKey(place), read: (signal) => labelTile(place, signal) })));
      } else labelTiles.want([]);
      missing = images.missing + labelTiles.missing;
    },
    tiles: (sight, channels) => (reader ? paintedTiles(reader.facts, sight, channels, images.get, hasFailed) : []),
    labelTiles: (sight) => (reader && labels ? paintedLabels(labels.facts, reader.facts, sight, labelTiles.get) : []),
    coarse({ camera, screen, z, t }, channel) {
      if (!reader) return { tiles: [], whole: false };
      const { facts } = reader;
      const level = facts.levels.length - 1;
      const places = tilesIn(facts, level, seenBox(camera, screen)).map((tile) => ({ ...tile, channel, z, t }));
      const tiles = places.flatMap((place) => find(place) ?? []);
      return { tiles, whole: places.length > 0 && tiles.length === places.length };
    },
    at({ camera, ratio, z, t }, channel, x, y) {
      if (!reader) return undefined;
      const { facts } = reader;
      for (let level = levelFor(facts, camera.zoom, ratio); level < facts.levels.length; level++) {
        const { width, height, tileWidth, tileHeight } = facts.levels[level]!;
        const [across, down] = [Math.floor((x * width) / facts.width), Math.floor((y * height) / facts.height)];
        if (across < 0 || down < 0 || across >= width || down >= height) return undefined;
        const [row, column] = [Math.floor(down / tileHeight), Math.floor(across / tileWidth)];
        const tile = find({ level, row, column, channel, z, t });
        if (tile) return { tile, x: across - column * tileWidth, y: down - row * tileHeight };
      }
      return undefined;
    },
    labelAt({ camera, ratio, z, t }, x, y) {
      if (!reader || !labels) return undefined;
      const pyramid = { levels: labels.facts.levels, width: reader.facts.width, height: reader.facts.height };
      for (let level = levelFor(pyramid, camera.zoom, ratio); level < pyramid.levels.length; level++) {
        const { width, height, tileWidth, tileHeight } = pyramid.levels[level]!;
        const [across, down] = [Math.floor((x * width) / pyramid.width), Math.floor((y * height) / pyramid.height)];
        if (across < 0 || down < 0 || across >= width || down >= height) return undefined;
        const [row, column] = [Math.floor(down / tileHeight), Math.floor(across / tileWidth)];
        const tile = labelTiles.get(tileKey({ level, row, column, channel: 0, z, t }));
        if (tile) return tile.labels[(down - row * tileHeight) * tile.width + across - column * tileWidth];
      }
      return undefined;
    },
  };
}
