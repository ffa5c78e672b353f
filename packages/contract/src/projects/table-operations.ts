/** The operations that read tables of measurements. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { reader, type Reading, wrong } from '../wire/problem.ts';
import { choice, id, integer, readInteger, text, trimmedText } from '../wire/scalars.ts';
import { TableGroups, TableList, TablePage, TableQuery } from './table.ts';

const ofDataset = z.object({ project_id: id(), dataset_id: id() });
const ofTable = z.object({ project_id: id(), dataset_id: id(), name: text() });
const all = '/api/v2/project/{project_id}/dataset/{dataset_id}/tables/';
const one = `${all}{name}/`;
const REFUSALS = {
  404: 'There is no such project or dataset.',
  422: 'No image has this table, or it cannot be read; the text says why.',
  503: 'Too many tables are being read. Try again in a few seconds.',
};

/** Lists of columns in an address, which is not as long as a body. */
const LISTS_REFUSALS = {
  ...REFUSALS,
  431: 'The address is too long. Ask with POST, and send the columns in the body.',
};

const MOST_ON_PAGE = 10_000;
const pageSize = reader(
  (input): Reading<number> => {
    const reading = readInteger(input);
    if ('problem' in reading) return reading;
    return reading.value >= 1 && reading.value <= MOST_ON_PAGE
      ? reading
      : wrong('value_error', `Value error, Choose a page size from 1 to ${MOST_ON_PAGE}.`);
  },
  { type: 'integer', minimum: 1, maximum: MOST_ON_PAGE },
);

const chosen = {
  plate: trimmedText().optional(),
  images: choice(['newest', 'original', 'all']).default('newest'),
};

const level = { level: choice(['image', 'plate']).default('image') };

const shown = {
  ...level,
  format: choice(['json', 'csv', 'parquet', 'columns']).default('json'),
  /** Left out: the order of the images. */
  sort: trimmedText().optional(),
  page: integer({ least: 1 }).default(1),
  page_size: pageSize.default(100),
  precision: choice(['full', 'single']).default('full'),
};

const FORMATS =
  '`json` is a page of rows (`page`, `page_size`, `sort`: the name of a column, with `-` in front for descending), `csv` and ' +
  '`parquet` are all rows as a file, and `columns` is all rows as typed arrays for plots: `readColumns` of the contract reads ' +
  'them; `precision=single` halves what numbers take. Rows have the attributes of their image, and what condition tables of ' +
  'the image or its plate say. Images that lack the table, or whose table cannot be read, are named, and counted in ' +
  '`x-table-problems`.';

export const listTables = operation({
  id: 'list_tables',
  method: 'GET',
  path: all,
  access: 'reader',
  tag: 'tables',
  summary: 'The tables that images and plates of a dataset have',
  params: ofDataset,
  query: z.object(chosen),
  answer: [200, TableList],
  file: true,
  refusals: REFUSALS,
});

export const getTable = operation({
  id: 'get_table',
  method: 'GET',
  path: one,
  access: 'reader',
  tag: 'tables',
  summary: 'Rows of a table, joined with the attributes of their images',
  description: FORMATS,
  params: ofTable,
  query: z.object({ ...chosen, ...shown, column: z.array(text()).max(1000).optional() }),
  answer: [200, TablePage],
  file: true,
  refusals: LISTS_REFUSALS,
});

export const queryTable = operation({
  id: 'query_table',
  method: 'POST',
  path: `${one}query/`,
  access: 'reader',
  scope: 'read',
  tag: 'tables',
  summary: 'Rows of a table for chosen images and by conditions',
  description: FORMATS,
  params: ofTable,
  query: z.object(shown),
  body: TableQuery,
  optionalBody: true,
  answer: [200, TablePage],
  file: true,
  refusals: REFUSALS,
});

const grouped = {
  ...level,
  column: z.array(text()).max(100).default([]),
  by: z.array(text()).max(10).default(['plate', 'well']),
};

const GROUPS =
  'For plate maps and box plots: rows grouped by attributes of their images or columns of the table (`by`), and of each group ' +
  'and `column` the count, mean, median, standard deviation (of a sample), lowest and highest value and quartiles. Missing ' +
  'values are counted apart.';

export const getTableGroups = operation({
  id: 'get_table_groups',
  method: 'GET',
  path: `${one}groups/`,
  access: 'reader',
  tag: 'tables',
  summary: 'Statistics of a table, by well or any other attribute',
  description: GROUPS,
  params: ofTable,
  query: z.object({ ...chosen, ...grouped }),
  answer: [200, TableGroups],
  file: true,
  refusals: LISTS_REFUSALS,
});

export const queryTableGroups = operation({
  id: 'query_table_groups',
  method: 'POST',
  path: `${one}groups/`,
  access: 'reader',
  scope: 'read',
  tag: 'tables',
  summary: 'Statistics of a table for chosen images and by conditions',
  description: GROUPS,
  params: ofTable,
  query: z.object(grouped),
  body: TableQuery,
  optionalBody: true,
  answer: [200, TableGroups],
  file: true,
  refusals: REFUSALS,
});
