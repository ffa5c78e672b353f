/** What is known about a plate beside its picture: wells, fields, channels, levels; and the contrast of its pixels. */
import { type Channel, percentiles, sampleOf, toldLimits } from '@service/contract/ome';

import { spread, TILE, zoomLevels } from '../drawing/mosaic.ts';
import { readPlane, wholeOf } from '../reading/plane.ts';
import type { Reading } from '../../zarr/store.ts';
import { Unreadable } from '../../zarr/unreadable.ts';
import { labelNames, MOST_LABELS } from './labels.ts';
import { channelsOfPlate, type LaidWell, type Layout } from './plate-layout.ts';

const SAMPLED_WELLS = 24;
const SAMPLES_PER_WELL = 40_000;
/** Of a channel. */
const LONGEST_NAME = 200;

const rounded = (value: number) => Number(value.toPrecision(6));

const hexOf = ({ colour }: Channel) => colour.map((part) => part.toString(16).padStart(2, '0')).join('');

const stateOf = (problem: Unreadable | undefined) =>
  problem === undefined ? ('ready' as const) : problem.isMissing ? ('missing' as const) : ('unreadable' as const);

/** Tasks may have reached some wells only, so several are looked at. */
const LABELLED_WELLS = 8;

async function labelsOf({ wells }: Layout, reading: Reading): Promise<string[]> {
  const readable = wells.filter(({ fields }) => fields.length > 0);
  const names = await Promise.all(
    spread(readable, LABELLED_WELLS).map(({ fields }) => labelNames(fields[0]!.image.path, reading)),
  );
  return [...new Set(names.flat())].slice(0, MOST_LABELS);
}

/** By their numbers in the list of images of the well, whose addresses whoever asks knows. */
function fieldsOf({ images, fields }: LaidWell) {
  const numbers = new Map(images.map((path, at) => [path, at]));
  return fields.map(({ image, place }) => ({
    image: numbers.get(image.path)!,
    x: rounded(place.x),
    y: rounded(place.y),
    width: rounded(place.width),
    height: rounded(place.height),
  }));
}

export async function plateFacts(layout: Layout, reading: Reading) {
  const { rows, columns, wells, byPosition, fullSize, sample } = layout;
  const scale = sample?.image.levels[0]?.scale;
  const unit = sample?.image.unit;
  return {
    rows,
    columns,
    wells: wells.map((well) => ({
      name: `${well.row}${well.column}`,
      row: well.cell.row,
      column: well.cell.column,
      state: stateOf(well.problem),
      problem: well.problem?.text ?? null,
      fields: fieldsOf(well),
    })),
    fields_placed_by: byPosition ? ('position' as const) : ('reading_order' as const),
    channels: channelsOfPlate(layout).map((channel) => ({
      name: channel.name.slice(0, LONGEST_NAME),
      color: hexOf(channel),
      visible: channel.shown,
      told: toldLimits(channel) ?? null,
    })),
    labels: await labelsOf(layout, reading),
    planes: sample?.level.planes ?? 0,
    times: sample?.level.times ?? 0,
    pixel_size: scale && unit !== undefined ? { x: scale.at(-1)!, y: scale.at(-2)!, unit } : null,
    cell_pixels: fullSize,
    tile_size: TILE,
    levels: sample ? zoomLevels(rows.length, columns.length, fullSize) : [],
  };
}

export type PlateFacts = Awaited<ReturnType<typeof plateFacts>>;

export interface PlateLimits {
  limits: [low: number, high: number][];
  /** How many wells they are from. */
  wells: number;
}

/** From the smallest level of the first field of some wells, spread over the plate; of all channels. */
export async function plateLimits(layout: Layout, reading: Reading): Promise<PlateLimits> {
  const channels = channelsOfPlate(layout);
  const readable = layout.wells.filter(({ fields }) => fields.length > 0);
  const samples = channels.map((): Float32Array[] => []);
  let wells = 0;
  for (const { fields } of spread(readable, SAMPLED_WELLS)) {
    try {
      const { image } = fields[0]!;
      const level = await image.level(image.levels.length - 1);
      for (const [channel, kept] of samples.entries()) {
        const choice = { channel, z: undefined, t: 0 };
        kept.push(sampleOf(await readPlane(level, choice, wholeOf(level), reading.signal), SAMPLES_PER_WELL));
      }
      wells++;
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
    }
  }
  return { limits: samples.map((kept) => [...percentiles(kept)] as [number, number]), wells };
}
