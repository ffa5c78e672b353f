/**
 * What the metadata of an OME-Zarr image says about its pixels, in versions 0.1 to 0.5: axes, levels of the pyramid,
 * channels with name, colour and contrast, and how large a pixel is.
 *
 *     const image = readOme(attributes);
 *     image?.channels[0] // { name: 'DAPI', colour: [0, 0, 255], window: [100, 2000], shown: true }
 */

import { isNumber, isObject, type Json, objects, omeOf } from './attributes.ts';

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
  /** Where the first pixel lies, where it is known. */
  translation: number[] | undefined;
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

/** Before version 0.3 there was one order of axes. */
const FIRST_AXES = ['t', 'c', 'z', 'y', 'x'];

function axesOf({ axes }: Json): string[] {
  if (!Array.isArray(axes)) return FIRST_AXES;
  return axes.map((axis: unknown) => String(isObject(axis) ? axis['name'] : axis).toLowerCase());
}

function transformOf(holder: Json, type: 'scale' | 'translation'): number[] | undefined {
  const found = objects(holder['coordinateTransformations']).find((one) => one['type'] === type)?.[type];
  return Array.isArray(found) && found.every(isNumber) ? found : undefined;
}

const combined = (
  own: number[] | undefined,
  common: number[] | undefined,
  combine: (one: number, other: number) => number,
) => own?.map((value, axis) => (common?.[axis] === undefined ? value : combine(value, common[axis]))) ?? common;

function levelsOf(multiscale: Json): Level[] {
  const [scale, translation] = [transformOf(multiscale, 'scale'), transformOf(multiscale, 'translation')];
  return objects(multiscale['datasets']).flatMap((dataset) => {
    if (typeof dataset['path'] !== 'string') return [];
    return {
      path: dataset['path'],
      scale: combined(transformOf(dataset, 'scale'), scale, (one, other) => one * other),
      translation: combined(transformOf(dataset, 'translation'), translation, (one, other) => one + other),
    };
  });
}

const UNITS: Record<string, string> = { micrometer: 'µm', nanometer: 'nm', millimeter: 'mm', angstrom: 'Å' };

function unitOf({ axes }: Json): string | undefined {
  const unit = objects(axes).find(({ name }) => name === 'x')?.['unit'];
  return typeof unit === 'string' ? UNITS[unit] : undefined;
}

/** Channels without a colour: the first four can be told apart by everybody. */
const COLOURS: Colour[] = [
  [0x6f, 0xa8, 0xff],
  [0x5b, 0xe0, 0x8a],
  [0xff, 0x6a, 0xc8],
  [0xff, 0xc2, 0x4a],
  [0x4f, 0xe3, 0xe8],
  [0xf4, 0xf6, 0xf7],
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

/** Of one image: damaged metadata can name thousands of millions, and nobody could choose between them. */
const MOST_CHANNELS = 1000;

/** Of as many channels as the pixels have, up to a thousand: metadata may tell of fewer. */
export function channelsOf(told: readonly Channel[], count: number): Channel[] {
  return Array.from({ length: Math.min(count, MOST_CHANNELS) }, (_, at) => {
    const colour = count === 1 ? WHITE : COLOURS[at % COLOURS.length]!;
    return told[at] ?? { name: count === 1 ? 'Image' : `Channel ${at + 1}`, colour, window: undefined, shown: true };
  });
}

function toldChannels(omero: unknown): Channel[] {
  const told = objects(isObject(omero) ? omero['channels'] : undefined).slice(0, MOST_CHANNELS);
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

/** Undefined for what is no image. */
export function readOme(attributes: unknown): OmeImage | undefined {
  const ome = omeOf(attributes);
  const [multiscale] = objects(ome['multiscales']);
  if (!multiscale) return undefined;
  const [axes, levels] = [axesOf(multiscale), levelsOf(multiscale)];
  if (levels.length === 0 || axes.at(-1) !== 'x' || axes.at(-2) !== 'y') return undefined;
  return { axes, levels, channels: toldChannels(ome['omero']), unit: unitOf(multiscale) };
}

/** What channels are called in arguments of tasks: by their label, or by the wavelength that they were taken at. */
export interface ChannelNames {
  label: string | null;
  wavelength_id: string | null;
}

export function readChannelNames(attributes: unknown): ChannelNames[] {
  const { omero } = omeOf(attributes);
  const named = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  return objects(isObject(omero) ? omero['channels'] : undefined)
    .map((channel) => ({ label: named(channel['label']), wavelength_id: named(channel['wavelength_id']) }))
    .filter(({ label, wavelength_id }) => label !== null || wavelength_id !== null);
}

/** Names of label images that an image has. */
export function readLabels(attributes: unknown): string[] {
  const { labels } = omeOf(attributes);
  return Array.isArray(labels) ? labels.filter((name): name is string => typeof name === 'string' && name !== '') : [];
}
