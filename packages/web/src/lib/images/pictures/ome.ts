/**
 * What the metadata of an OME-Zarr image says about its pixels, in versions 0.1 to 0.5: axes, levels of the pyramid,
 * channels with name, colour and contrast, and how large a pixel is.
 *
 *     const image = readOme(attributes);
 *     image?.channels[0] // { name: 'DAPI', colour: [0, 0, 255], window: [100, 2000], shown: true }
 */

export type Colour = readonly [red: number, green: number, blue: number];

export interface Channel {
  name: string;
  colour: Colour;
  /** What is black and what is full colour; undefined where it has to be found in the pixels. */
  window: readonly [number, number] | undefined;
  /** Whether it is part of the picture of all channels. */
  shown: boolean;
}

export interface Level {
  path: string;
  /** Size of a pixel along each axis, where it is known. */
  scale: number[] | undefined;
}

export interface OmeImage {
  /** `['c', 'z', 'y', 'x']` */
  axes: string[];
  /** The largest first. */
  levels: Level[];
  channels: Channel[];
  /** Of x, in words: `µm`. */
  unit: string | undefined;
}

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Before version 0.3 there was one order of axes. */
const FIRST_AXES = ['t', 'c', 'z', 'y', 'x'];

function axesOf({ axes }: Json): string[] {
  if (!Array.isArray(axes)) return FIRST_AXES;
  return axes.map((axis: unknown) => String(isObject(axis) ? axis['name'] : axis).toLowerCase());
}

function scaleOf(holder: Json): number[] | undefined {
  const found = objects(holder['coordinateTransformations']).find(({ type }) => type === 'scale')?.['scale'];
  return Array.isArray(found) && found.every(isNumber) ? found : undefined;
}

function levelsOf(multiscale: Json): Level[] {
  const common = scaleOf(multiscale);
  return objects(multiscale['datasets']).flatMap((dataset) => {
    const own = scaleOf(dataset);
    const scale = own?.map((size, axis) => size * (common?.[axis] ?? 1)) ?? common;
    return typeof dataset['path'] === 'string' ? [{ path: dataset['path'], scale }] : [];
  });
}

const UNITS: Record<string, string> = { micrometer: 'µm', nanometer: 'nm', millimeter: 'mm', angstrom: 'Å' };

function unitOf({ axes }: Json): string | undefined {
  const unit = objects(axes).find(({ name }) => name === 'x')?.['unit'];
  return typeof unit === 'string' ? UNITS[unit] : undefined;
}

/** Channels without a colour: those that people know from microscopes. */
const COLOURS: Colour[] = [
  [0, 128, 255],
  [0, 255, 64],
  [255, 0, 160],
  [255, 208, 0],
  [0, 255, 255],
  [255, 64, 0],
];
const WHITE: Colour = [255, 255, 255];

/** `00FF00`, `#00ff00` */
export function readColour(text: unknown): Colour | undefined {
  const [, hex] = typeof text === 'string' ? (/^#?([0-9a-f]{6})/i.exec(text.trim()) ?? []) : [];
  if (hex === undefined) return undefined;
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16);
  return [part(0), part(2), part(4)];
}

function windowOf(window: unknown): Channel['window'] {
  if (!isObject(window)) return undefined;
  const [start, end] = [window['start'], window['end']];
  return isNumber(start) && isNumber(end) && end > start ? [start, end] : undefined;
}

/** Of as many channels as the pixels have: metadata may tell of fewer. */
export function channelsOf(told: readonly Channel[], count: number): Channel[] {
  return Array.from({ length: count }, (_, at) => {
    const colour = count === 1 ? WHITE : COLOURS[at % COLOURS.length]!;
    return told[at] ?? { name: count === 1 ? 'Image' : `Channel ${at + 1}`, colour, window: undefined, shown: true };
  });
}

function toldChannels(omero: unknown): Channel[] {
  const told = objects(isObject(omero) ? omero['channels'] : undefined);
  return told.map((channel, at) => {
    const name = channel['label'] ?? channel['wavelength_id'];
    return {
      name: typeof name === 'string' && name !== '' ? name : `Channel ${at + 1}`,
      colour: readColour(channel['color']) ?? (told.length === 1 ? WHITE : COLOURS[at % COLOURS.length]!),
      window: windowOf(channel['window']),
      shown: channel['active'] !== false,
    };
  });
}

/** Since version 0.5 it lies under a key of its own. */
const omeOf = (attributes: unknown): Json =>
  isObject(attributes) ? (isObject(attributes['ome']) ? attributes['ome'] : attributes) : {};

/** Undefined for what is no image. */
export function readOme(attributes: unknown): OmeImage | undefined {
  const ome = omeOf(attributes);
  const [multiscale] = objects(ome['multiscales']);
  if (!multiscale) return undefined;
  const [axes, levels] = [axesOf(multiscale), levelsOf(multiscale)];
  if (levels.length === 0 || axes.at(-1) !== 'x' || axes.at(-2) !== 'y') return undefined;
  return { axes, levels, channels: toldChannels(ome['omero']), unit: unitOf(multiscale) };
}

/** Names of label images that an image has. */
export function readLabels(attributes: unknown): string[] {
  const { labels } = omeOf(attributes);
  return Array.isArray(labels) ? labels.filter((name): name is string => typeof name === 'string' && name !== '') : [];
}
