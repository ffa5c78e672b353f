/** What is known about a plate beside its picture. */
import { z } from 'zod';

import { answer } from '../wire/scalars.ts';

const FieldOfWell = z.object({
  zarr_url: answer.text(),
  x: answer.number(),
  y: answer.number(),
  width: answer.number(),
  height: answer.number(),
});

const WellOfPlate = z.object({
  name: answer.text(),
  row: answer.integer(),
  column: answer.integer(),
  state: z.enum(['ready', 'missing', 'unreadable', 'being_written']),
  /** Why it is missing or unreadable. */
  problem: answer.text().nullable(),
  zarr_urls: z.array(answer.text()),
  /** In the cell of the well, as parts of 1. */
  fields: z.array(FieldOfWell),
});

const ChannelOfPlate = z.object({
  name: answer.text(),
  color: answer.text(),
  visible: answer.boolean(),
  low: answer.number(),
  high: answer.number(),
  limits_from: z.enum(['file', 'pixels']),
});

const LevelOfPlate = z.object({
  level: answer.integer(),
  cell_size: answer.integer(),
  width: answer.integer(),
  height: answer.integer(),
});

export const PlatePictureInfo = z
  .object({
    plate: answer.text(),
    rows: z.array(answer.text()),
    columns: z.array(answer.text()),
    wells: z.array(WellOfPlate),
    fields_placed_by: z.enum(['position', 'reading_order']),
    channels: z.array(ChannelOfPlate),
    /** Names of label images that some of its wells have. */
    labels: z.array(answer.text()),
    planes: answer.integer(),
    times: answer.integer(),
    pixel_size: z.object({ x: answer.number(), y: answer.number(), unit: answer.text() }).nullable(),
    /** The side of a cell in pixels of the images at their full size. */
    cell_pixels: answer.integer(),
    acquisitions: z.array(answer.integer()),
    tile_size: answer.integer(),
    levels: z.array(LevelOfPlate),
  })
  .meta({ id: 'PlatePictureInfo' });

export type PlatePictureInfo = z.output<typeof PlatePictureInfo>;
