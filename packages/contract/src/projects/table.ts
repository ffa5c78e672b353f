/** Tables of measurements: which ones images have, rows of one, and what groups of rows have in common. */
import { z } from 'zod';

import { attributeFilters, flagMap, jsonAnswer } from '../wire/json.ts';
import { zarrUrl } from '../wire/paths.ts';
import { addProblem, found, reader, type Reading, wrong } from '../wire/problem.ts';
import { answer, choice, number, text } from '../wire/scalars.ts';

export const COLUMN_TYPES = ['number', 'integer', 'boolean', 'text'] as const;
export type ColumnType = (typeof COLUMN_TYPES)[number];

/** Why rows of an image are not there, or not as the others are. */
export const TABLE_PROBLEMS = [
  'no_access',
  'no_image',
  'no_table',
  'unreadable',
  'other_columns',
  'duplicate_labels',
] as const;

const TableProblem = z.object({
  zarr_url: answer.text(),
  table: answer.text().nullable(),
  kind: z.enum(TABLE_PROBLEMS),
  text: answer.text(),
});
export type TableProblem = z.output<typeof TableProblem>;

/** So many are told; all are counted. */
export const MOST_TABLE_PROBLEMS = 500;

const problems = {
  problems: z.array(TableProblem),
  num_problems: answer.integer(),
};

const TableOfDataset = z.object({
  name: answer.text(),
  /** Beside images, or beside a plate. */
  level: z.enum(['image', 'plate']),
  /** As it is written: feature_table, roi_table, … */
  types: z.array(answer.text()),
  backends: z.array(answer.text()),
  /** More than one where parts of the dataset were written by other versions of a task. */
  versions: z.array(answer.text()),
  /** The column that names the objects. */
  index: answer.text().nullable(),
  /** The label images whose objects are measured. */
  labels: z.array(answer.text()),
  num_images: answer.integer(),
  /** Of those images whose tables say it without being read. */
  num_rows: answer.integer(),
  columns: z.array(z.object({ name: answer.text(), type: z.enum(COLUMN_TYPES), num_images: answer.integer() })),
});

export const TableList = z
  .object({
    num_images: answer.integer(),
    /** Of images and from condition tables: what rows can be grouped by. */
    attributes: z.array(answer.text()),
    tables: z.array(TableOfDataset),
    ...problems,
  })
  .meta({ id: 'TableList' });
export type TableList = z.output<typeof TableList>;

const cell = () => z.union([z.string(), z.number(), z.boolean()]).nullable();

export const TablePage = z
  .object({
    current_page: answer.integer(),
    page_size: answer.integer(),
    total_count: answer.integer(),
    /** `zarr_url` and the attributes of the image come first. */
    columns: z.array(z.object({ name: answer.text(), type: z.enum(COLUMN_TYPES), source: z.enum(['image', 'table']) })),
    /** The values of each row, in the order of the columns. */
    items: z.array(z.array(cell())),
    ...problems,
  })
  .meta({ id: 'TablePage' });
export type TablePage = z.output<typeof TablePage>;

const statistic = () => answer.number().nullable();

export const TableGroups = z
  .object({
    by: z.array(answer.text()),
    groups: z.array(
      z.object({
        /** In the order of `by`. */
        values: z.array(jsonAnswer.scalar().nullable()),
        zarr_urls: z.array(answer.text()),
        num_rows: answer.integer(),
        /** One for each column. */
        columns: z.array(
          z.object({
            name: answer.text(),
            count: answer.integer(),
            num_missing: answer.integer(),
            mean: statistic(),
            median: statistic(),
            std: statistic(),
            min: statistic(),
            max: statistic(),
            q1: statistic(),
            q3: statistic(),
          }),
        ),
      }),
    ),
    ...problems,
  })
  .meta({ id: 'TableGroups' });
export type TableGroups = z.output<typeof TableGroups>;

const range = () =>
  z.strictObject({ column: text(), from: number().optional(), to: number().optional() }).superRefine((one, ctx) => {
    if (one.from === undefined && one.to === undefined)
      addProblem(ctx, { type: 'value_error', message: 'Value error, Give from, to, or both.' });
  });

function readCell(input: unknown): Reading<string | number | boolean> {
  if (typeof input === 'string' || typeof input === 'boolean' || Number.isFinite(input)) {
    return found(input as string | number | boolean);
  }
  return wrong('value_error', 'Value error, Enter a number, a text or a flag.');
}
const cellValue = () => reader(readCell, { anyOf: [{ type: 'number' }, { type: 'string' }, { type: 'boolean' }] });

/** Most conditions and values of one question. */
const MOST_CONDITIONS = 100;
const MOST_CHOSEN = 100_000;

/** Which rows: of which images, and which of these. */
export const TableQuery = z
  .strictObject({
    zarr_urls: z.array(zarrUrl()).optional(),
    attribute_filters: attributeFilters().default({}),
    type_filters: flagMap().default({}),
    images: choice(['newest', 'original', 'all']).default('newest'),
    /** Rows whose numbers lie between two, both included. */
    ranges: z.array(range()).max(MOST_CONDITIONS).default([]),
    /** Rows with one of some values, labels for example. */
    values: z
      .array(z.strictObject({ column: text(), values: z.array(cellValue()).max(MOST_CHOSEN) }))
      .max(MOST_CONDITIONS)
      .default([]),
    /** Rows of single objects: an image with the labels that are meant. */
    objects: z
      .array(z.strictObject({ zarr_url: zarrUrl(), labels: z.array(cellValue()).max(MOST_CHOSEN) }))
      .max(MOST_CHOSEN)
      .optional(),
    columns: z.array(text()).max(1000).optional(),
  })
  .meta({ id: 'TableQuery' });
export type TableQuery = z.output<typeof TableQuery>;
