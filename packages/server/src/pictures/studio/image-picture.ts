/** The picture of one image, or of an object in it. */
import {
  addChannel,
  bytesOfLight,
  type Channel,
  channelsOf,
  darkness,
  type Limits,
  ON_PICTURE,
  outline,
  percentiles,
  rangeOf,
  sampleOf,
  shades,
  toldLimits,
} from '@service/contract/ome';

import type { ImageAsk } from '../ask.ts';
import { encodePng } from '../drawing/png.ts';
import { neededFor, type Rectangle, resample } from '../drawing/resample.ts';
import { levelFor, openImage, type OpenImage, type OpenLevel } from '../reading/image.ts';
import { readPlane, wholeOf } from '../reading/plane.ts';
import type { Made } from '../../studio/order.ts';
import type { Reading } from '../../zarr/store.ts';
import { bytesOfNumbers, checkLabelName, drawnLabels } from './labels.ts';
import { findObject, type Size } from './objects.ts';
import { writtenNumber } from './written-number.ts';

const MOST_VISIBLE = 16;
const SAMPLE = 200_000;

/** What is drawn: an image at a size, or a part of it. */
interface Frame {
  level: OpenLevel;
  /** Of the whole image. */
  size: Size;
  part: Rectangle;
}

/** As large as wanted, and never larger than the image. */
function sizeWithin({ width, height }: Size, largest: number): Size {
  const factor = Math.min(1, largest / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/** The smallest level that is large enough, and the size of the picture. */
async function wholeFrame(image: OpenImage, largest: number): Promise<Frame> {
  for (let index = image.levels.length - 1; ; index--) {
    const level = await image.level(index);
    if (index > 0 && Math.max(level.width, level.height) < largest) continue;
    const size = sizeWithin(level, largest);
    return { level, size, part: { left: 0, top: 0, ...size } };
  }
}

/** A square of the image, drawn no larger than it is there. */
async function frameOf(image: OpenImage, region: Rectangle, largest: number): Promise<Frame> {
  const full = await image.level(0);
  const factor = Math.min(1, largest / Math.max(region.width, region.height));
  const drawn = (pixels: number) => Math.max(1, Math.round(pixels * factor));
  const size = { width: drawn(full.width), height: drawn(full.height) };
  const [width, height] = [Math.min(drawn(region.width), size.width), Math.min(drawn(region.height), size.height)];
  const left = Math.min(Math.round(region.left * factor), size.width - width);
  const top = Math.min(Math.round(region.top * factor), size.height - height);
  return { level: await levelFor(image, size), size, part: { left, top, width, height } };
}

async function channelPixels({ level, size, part }: Frame, channel: number, ask: ImageAsk, reading: Reading) {
  const whole = { width: level.width, height: level.height, drawnWidth: size.width, drawnHeight: size.height };
  const window = neededFor(whole, part);
  const pixels = await readPlane(level, { channel, z: ask.z, t: ask.t }, window, reading.signal);
  if (size.width === level.width && size.height === level.height) return pixels;
  return resample({ pixels, ...window }, whole, part);
}

/** Of an object that is drawn alone, only its own. */
async function labelsAt({ size, part }: Frame, { path, labels, object, z, t }: ImageAsk, reading: Reading) {
  checkLabelName(labels!);
  const numbers = await drawnLabels(path, { labels: labels!, z, t }, size, part, reading);
  return object === undefined ? numbers : numbers.map((number) => (number === object ? number : 0));
}

/** Of a part, the contrast is that of the whole image: parts are there to be compared. */
async function limitsOf(
  image: OpenImage,
  { channel, at }: { channel: Channel; at: number },
  pixels: Float32Array,
  ask: ImageAsk,
  reading: Reading,
): Promise<Limits> {
  const { low, high, object, z, t } = ask;
  const told = toldLimits(channel);
  if (told) return [low ?? told[0], high ?? told[1]];
  const coarse = await image.level(image.levels.length - 1);
  const all =
    object === undefined ? pixels : await readPlane(coarse, { channel: at, z, t }, wholeOf(coarse), reading.signal);
  const found = percentiles([sampleOf(all, SAMPLE)]);
  return [low ?? found[0], high ?? found[1]];
}

async function grey(frame: Frame, ask: ImageAsk, reading: Reading): Promise<Made> {
  const { width, height } = frame.part;
  const pixels = await channelPixels(frame, ask.channel!, ask, reading);
  const range = rangeOf(pixels);
  const limits: Limits = [ask.low ?? range[0], ask.high ?? range[1]];
  const bytes = shades(pixels, limits);
  if (ask.labels !== undefined) {
    for (const at of outline(await labelsAt(frame, ask, reading), width)) bytes[at] = 255;
  }
  const facts = {
    'x-picture-low': writtenNumber(limits[0]),
    'x-picture-high': writtenNumber(limits[1]),
    'x-picture-range': `${writtenNumber(range[0])} ${writtenNumber(range[1])}`,
  };
  return { content: await encodePng(bytes, width, height), facts };
}

async function inColour(image: OpenImage, frame: Frame, ask: ImageAsk, reading: Reading): Promise<Made> {
  const { width, height } = frame.part;
  const channels = channelsOf(image.channels, frame.level.channels);
  const visible = channels.map((channel, at) => ({ channel, at })).filter(({ channel }) => channel.shown);
  const light = darkness(width * height);
  for (const one of visible.slice(0, MOST_VISIBLE)) {
    const pixels = await channelPixels(frame, one.at, ask, reading);
    addChannel(light, pixels, one.channel.colour, await limitsOf(image, one, pixels, ask, reading));
  }
  const bytes = bytesOfLight(light);
  if (ask.labels !== undefined) {
    const labels = await labelsAt(frame, ask, reading);
    for (const at of outline(labels, width)) bytes.set([...ON_PICTURE, 255], at * 4);
  }
  return { content: await encodePng(bytes, width, height), facts: {} };
}

async function numbers(frame: Frame, ask: ImageAsk, reading: Reading): Promise<Made> {
  const bytes = bytesOfNumbers(await labelsAt(frame, ask, reading));
  return { content: await encodePng(bytes, frame.part.width, frame.part.height), facts: {} };
}

export async function drawImage(ask: ImageAsk, reading: Reading): Promise<Made> {
  const image = await openImage(ask.path, reading);
  const found = ask.object === undefined ? undefined : await findObject(image, ask, reading);
  const frame = found ? await frameOf(image, found.region, ask.size) : await wholeFrame(image, ask.size);
  const picture = () => (ask.channel === undefined ? inColour(image, frame, ask, reading) : grey(frame, ask, reading));
  const { content, facts } = await (ask.layer === 'labels' ? numbers(frame, ask, reading) : picture());
  const { width, height } = frame.part;
  const place = ({ left, top, width: across, height: down }: Rectangle) => [left, top, across, down].join(' ');
  const where: Record<string, string> = found
    ? { 'x-picture-region': place(found.region), 'x-picture-object': place(found.own) }
    : {};
  return { content, facts: { 'x-picture-size': `${width} ${height}`, ...where, ...facts } };
}
