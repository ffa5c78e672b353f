/** The picture of a plate, or a tile of it: every well at its place, all at one scale. */
import {
  addChannel,
  bytesOfLight,
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
import { plural } from '@service/contract/plural';

import type { PlateAsk } from '../ask.ts';
import { inPicture, shared, TILE, zoomLevels } from '../drawing/mosaic.ts';
import { encodePng } from '../drawing/png.ts';
import { neededFor, type Rectangle, resample } from '../drawing/resample.ts';
import { eachAtOnce } from '../../zarr/each-at-once.ts';
import { levelFor } from '../reading/image.ts';
import { readPlane } from '../reading/plane.ts';
import type { Made } from '../../studio/order.ts';
import type { Reading } from '../../zarr/store.ts';
import { unreadable, Unreadable } from '../../zarr/unreadable.ts';
import { bytesOfNumbers, checkLabelName, drawnLabels } from './labels.ts';
import { writtenNumber } from './written-number.ts';
import { channelsOfPlate, type Field, type LaidWell, type Layout } from './plate-layout.ts';

const FIELDS_AT_ONCE = 8;
const MOST_VISIBLE = 16;
const MOST_NAMED = 100;
const SAMPLE = 400_000;

const nameOf = ({ row, column }: LaidWell) => `${row}${column}`;

/** How large a well is, and which part of the whole is drawn. */
interface Frame {
  cell: number;
  part: Rectangle;
}

function frameOf({ rows, columns, fullSize, wells }: Layout, { size, tile, well }: PlateAsk): Frame {
  if (well !== undefined) {
    const found = wells.find((one) => nameOf(one) === well);
    if (!found) throw unreadable(`No image of this plate is in a well ${well}.`);
    const { row, column } = found.cell;
    return { cell: size, part: { left: column * size, top: row * size, width: size, height: size } };
  }
  if (tile === undefined) {
    const cell = Math.max(1, Math.floor(size / Math.max(rows.length, columns.length)));
    return { cell, part: { left: 0, top: 0, width: columns.length * cell, height: rows.length * cell } };
  }
  const levels = zoomLevels(rows.length, columns.length, fullSize);
  const level = levels[tile.level];
  if (!level)
    throw unreadable(
      `This plate has ${levels.length} ${plural(levels.length, 'level')}, counted from 0. There is no level ${tile.level}.`,
    );
  const [left, top] = [tile.column * TILE, tile.row * TILE];
  const part = shared(
    { left, top, width: TILE, height: TILE },
    { left: 0, top: 0, width: level.width, height: level.height },
  );
  if (!part) throw unreadable(`Level ${tile.level} has no tile in row ${tile.row} and column ${tile.column}.`);
  return { cell: level.cell_size, part };
}

interface Drawn {
  well: LaidWell;
  field: Field;
  /** In the whole picture. */
  place: Rectangle;
  /** Of it, what is drawn. */
  seen: Rectangle;
}

function fieldsIn(layout: Layout, { cell, part }: Frame): Drawn[] {
  return layout.wells.flatMap((well) =>
    well.fields.flatMap((field) => {
      const place = inPicture(field.place, well.cell, cell);
      const seen = shared(place, part);
      return seen ? [{ well, field, place, seen }] : [];
    }),
  );
}

async function fieldPixels({ field, place, seen }: Drawn, channel: number, ask: PlateAsk, reading: Reading) {
  const level = await levelFor(field.image, place);
  const whole = { width: level.width, height: level.height, drawnWidth: place.width, drawnHeight: place.height };
  const drawn = { ...seen, left: seen.left - place.left, top: seen.top - place.top };
  const window = neededFor(whole, drawn);
  const pixels = await readPlane(level, { channel, z: ask.z, t: ask.t }, window, reading.signal);
  return resample({ pixels, ...window }, whole, drawn);
}

function put<T extends Float32Array | Float64Array>(pixels: T, { seen }: Drawn, to: T, { part }: Frame): void {
  for (let row = 0; row < seen.height; row++) {
    const line = pixels.subarray(row * seen.width, (row + 1) * seen.width);
    to.set(line, (seen.top - part.top + row) * part.width + seen.left - part.left);
  }
}

/** All fields of one channel; wells that fail are noted with their reason. */
async function drawChannel(
  fields: readonly Drawn[],
  frame: Frame,
  channel: number,
  ask: PlateAsk,
  reading: Reading,
  bad: Map<LaidWell, string>,
): Promise<Float32Array> {
  const mosaic = new Float32Array(frame.part.width * frame.part.height).fill(NaN);
  await eachAtOnce(fields, FIELDS_AT_ONCE, async (field) => {
    try {
      put(await fieldPixels(field, channel, ask, reading), field, mosaic, frame);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      bad.set(field.well, error.text);
    }
  });
  return mosaic;
}

/** Of a label image the numbers of its objects, 0 where there is none. Fields that do not have it stay without. */
async function drawLabels(fields: readonly Drawn[], frame: Frame, ask: PlateAsk, reading: Reading) {
  const { labels = '', z, t } = ask;
  checkLabelName(labels);
  const mosaic = new Float64Array(frame.part.width * frame.part.height);
  await eachAtOnce(fields, FIELDS_AT_ONCE, async (field) => {
    const { place, seen } = field;
    const drawn = { ...seen, left: seen.left - place.left, top: seen.top - place.top };
    try {
      put(await drawnLabels(field.field.image.path, { labels, z, t }, place, drawn, reading), field, mosaic, frame);
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
    }
  });
  return mosaic;
}

export async function drawPlate(layout: Layout, ask: PlateAsk, reading: Reading): Promise<Made> {
  const bad = new Map<LaidWell, string>();
  for (const well of layout.wells) if (well.problem !== undefined) bad.set(well, well.problem.text);
  const frame = frameOf(layout, ask);
  const fields = fieldsIn(layout, frame);
  const { width, height } = frame.part;
  const draw = (channel: number) => drawChannel(fields, frame, channel, ask, reading, bad);

  const outlines = async () =>
    ask.labels === undefined ? [] : outline(await drawLabels(fields, frame, ask, reading), width);

  async function grey(channel: number): Promise<Made> {
    const mosaic = await draw(channel);
    const range = rangeOf(mosaic);
    // tiles and wells fit together, so their contrast is that of the plate
    const told = ask.limits?.[channel];
    const limits: Limits = [ask.low ?? told?.[0] ?? range[0], ask.high ?? told?.[1] ?? range[1]];
    const bytes = shades(mosaic, limits);
    for (const at of await outlines()) bytes[at] = 255;
    return {
      content: await encodePng(bytes, width, height),
      facts: {
        'x-picture-low': writtenNumber(limits[0]),
        'x-picture-high': writtenNumber(limits[1]),
        'x-picture-range': `${writtenNumber(range[0])} ${writtenNumber(range[1])}`,
      },
    };
  }

  async function inColour(): Promise<Made> {
    const light = darkness(width * height);
    const visible = channelsOfPlate(layout).map((channel, at) => ({ channel, at }));
    for (const { channel, at } of visible.filter(({ channel: { shown } }) => shown).slice(0, MOST_VISIBLE)) {
      const mosaic = await draw(at);
      const found = ask.limits?.[at] ?? toldLimits(channel) ?? percentiles([sampleOf(mosaic, SAMPLE)]);
      addChannel(light, mosaic, channel.colour, [ask.low ?? found[0], ask.high ?? found[1]]);
    }
    const bytes = bytesOfLight(light);
    for (const at of await outlines()) bytes.set([...ON_PICTURE, 255], at * 4);
    return { content: await encodePng(bytes, width, height), facts: {} };
  }

  const numbers = async (): Promise<Made> => ({
    content: await encodePng(bytesOfNumbers(await drawLabels(fields, frame, ask, reading)), width, height),
    facts: {},
  });

  const picture = () => (ask.channel === undefined ? inColour() : grey(ask.channel));
  const { content, facts } = await (ask.layer === 'labels' ? numbers() : picture());
  if (bad.size > 0 && bad.size === layout.wells.length) throw unreadable([...bad.values()][0]!);
  const names = [...bad.keys()].map(nameOf);
  return {
    content,
    facts: {
      ...facts,
      'x-picture-size': `${width} ${height}`,
      'x-picture-cell-size': String(frame.cell),
      'x-picture-bad-wells': names.slice(0, MOST_NAMED).join(','),
      'x-picture-bad-wells-count': String(names.length),
    },
  };
}
