/** An OME-Zarr image, opened: what is known about it, and its levels. */
import { type Channel, channelsOf, readLabels, readOme, toldLimits } from '@service/contract/ome';
import { isZarritaError } from 'zarrita';

import { channelFacts, type Facts, type LabelFacts, type LevelFacts } from '../facts.ts';
import { tileSide } from '../tiles.ts';
import { problemOf, ReadProblem } from './problem.ts';
import { type OpenArray, openArray, openGroup, type OpenGroup, openPart } from './store.ts';

export interface OpenLevel {
  array: OpenArray;
  axes: string[];
  path: string;
  facts: LevelFacts;
}

export interface OpenImage {
  facts: Facts;
  levels: OpenLevel[];
}

export interface OpenLabels {
  facts: LabelFacts;
  levels: OpenLevel[];
}

const KNOWN_AXES = 'tczyx';
const MOST_LEVELS = 30;

const NOT_HERE =
  'No OME-Zarr image here. It was removed, is not written yet, or its files are on a cluster that this service can’t see.';

export const along = ({ array, axes }: OpenLevel, axis: string): number =>
  axes.includes(axis) ? array.shape[axes.indexOf(axis)]! : 1;

function levelOf(array: OpenArray, axes: string[], path: string): OpenLevel {
  if (array.shape.length !== axes.length)
    throw new ReadProblem(
      'unreadable',
      `Level ${path} has ${array.shape.length} axes, the image names ${axes.length}.`,
    );
  const [height, width] = array.shape.slice(-2) as [number, number];
  const [chunkHeight, chunkWidth] = array.chunks.slice(-2) as [number, number];
  const facts = { width, height, tileWidth: tileSide(chunkWidth, width), tileHeight: tileSide(chunkHeight, height) };
  return { array, axes, path, facts };
}

interface OpenPyramid {
  group: OpenGroup;
  axes: string[];
  scale: number[] | undefined;
  unit: string | undefined;
  channels: Channel[];
  levels: OpenLevel[];
}

async function openPyramid(group: OpenGroup, signal: AbortSignal): Promise<OpenPyramid> {
  const image = readOme(group.attrs);
  if (!image)
    throw new ReadProblem(
      'unreadable',
      'The metadata names no image: multiscales are missing, or axes without y and x.',
    );
  const { axes, levels, channels, unit } = image;
  if (!axes.every((axis) => KNOWN_AXES.includes(axis)))
    throw new ReadProblem(
      'unreadable',
      `The image has the axes ${axes.join(', ')}. This viewer shows t, c, z, y and x.`,
    );
  const opened = await Promise.all(
    levels.slice(0, MOST_LEVELS).map(async ({ path }) => levelOf(await openArray(group, path, signal), axes, path)),
  );
  return { group, axes, channels, unit, levels: opened, scale: levels[0]!.scale };
}

async function labelNames(address: string, signal: AbortSignal): Promise<string[]> {
  try {
    return readLabels((await openPart(address, 'labels', signal)).attrs);
  } catch (error) {
    if (isZarritaError(error)) return [];
    throw error;
  }
}

async function groupAt(address: string, signal: AbortSignal): Promise<OpenGroup> {
  try {
    return await openGroup(address, signal);
  } catch (error) {
    if (isZarritaError(error)) throw new ReadProblem('missing', NOT_HERE);
    throw error;
  }
}

export async function openImage(address: string, signal: AbortSignal): Promise<OpenImage> {
  try {
    const group = await groupAt(address, signal);
    const [pyramid, labels] = await Promise.all([openPyramid(group, signal), labelNames(address, signal)]);
    const { levels, axes, scale, unit, channels } = pyramid;
    const [first] = levels;
    const { width, height } = first!.facts;
    const scaleOf = (axis: string) => (axes.includes(axis) ? scale?.[axes.indexOf(axis)] : undefined);
    const [x, y, z] = [scaleOf('x'), scaleOf('y'), scaleOf('z')];
    return {
      levels,
      facts: {
        width,
        height,
        levels: levels.map(({ facts }) => facts),
        channels: channelsOf(channels, along(first!, 'c')).map((channel) => channelFacts(channel, toldLimits(channel))),
        planes: along(first!, 'z'),
        times: along(first!, 't'),
        pixel: x !== undefined && y !== undefined && unit !== undefined ? { x, y, z, unit } : undefined,
        values: first!.array.dtype,
        labels,
        labelsAtFirst: true,
      },
    };
  } catch (error) {
    throw problemOf(error, 'The image');
  }
}

export async function openLabels(address: string, name: string, signal: AbortSignal): Promise<OpenLabels> {
  try {
    const { levels, scale } = await openPyramid(
      await openPart(address, `labels/${encodeURIComponent(name)}`, signal),
      signal,
    );
    const { width, height } = levels[0]!.facts;
    const facts = { width, height, levels: levels.map((level) => level.facts), planes: along(levels[0]!, 'z') };
    return { levels, facts: { ...facts, stretched: scale === undefined } };
  } catch (error) {
    throw problemOf(error, `Label image ${name}`);
  }
}
