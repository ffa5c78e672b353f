/** What the page of measurements asks the service for. */
import { readColumns } from '@service/contract/columns';

import { addressOf, answered, call, type CallOptions, type DatasetIds } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { bodyOf, type ImagesQuery, newQuery } from '../images/filters.ts';
import { writeJson } from '../json.ts';
import { saveFrom } from '../ui/export.ts';
import { type Objects, type Rows, rowsOf } from './rows.ts';
import type { ListedTable, Range } from './state.ts';

/** `version`: changes when tables may have been written again. */
export interface TablesQuestion {
  ids: DatasetIds;
  version?: number | string;
}

export const askTables = ({ ids }: TablesQuestion, options: CallOptions) =>
  call('projects.listTables', { params: ids, query: {} }, options);

/** Which rows of which table. */
export interface Question {
  ids: DatasetIds;
  table: Pick<ListedTable, 'name' | 'level'>;
  query: Pick<ImagesQuery, 'attributes' | 'types'>;
  ranges: readonly Range[];
  /** Only of these images. */
  zarr_urls?: string[];
}

const JSON_HEADERS = { 'content-type': 'application/json' };

interface Part {
  columns?: string[];
  objects?: Objects;
}

const bodyFor = ({ query, ranges, zarr_urls }: Question, part: Part) => ({
  ...bodyOf({ ...newQuery(), ...query }),
  ...(zarr_urls ? { zarr_urls } : {}),
  ranges: ranges.map(({ column, from, to }) => ({ column, from, to })),
  ...part,
});

const requestOf = (question: Question, part: Part) => ({
  method: 'POST',
  headers: JSON_HEADERS,
  body: writeJson(bodyFor(question, part)),
});

const addressFor = ({ ids, table }: Question, query: object) =>
  addressOf('projects.queryTable', { params: { ...ids, name: table.name }, query: { level: table.level, ...query } });

export async function askRows(question: Question & { columns: string[] }, options: CallOptions): Promise<Rows> {
  const address = addressFor(question, { format: 'columns', precision: 'single' });
  const response = await answered(address, requestOf(question, { columns: question.columns }), options);
  if (!response.ok) throw await problemOf(response);
  return rowsOf(readColumns(await response.arrayBuffer()));
}

/** What the objects of each well have in common, counted by the service: no row is sent. */
export const askGroups = (
  { columns, by = ['plate', 'well'], ...question }: Question & { columns: string[]; by?: string[] },
  options: CallOptions,
) =>
  call(
    'projects.queryTableGroups',
    {
      params: { ...question.ids, name: question.table.name },
      query: { level: question.table.level, column: columns, by },
      body: bodyFor(question, {}),
    },
    options,
  );

/** Everything that is known of some objects. */
export const askObjects = (question: Question & { objects: Objects }, options: CallOptions) =>
  call(
    'projects.queryTable',
    {
      params: { ...question.ids, name: question.table.name },
      query: { level: question.table.level, page_size: 100 },
      body: bodyFor(question, { objects: question.objects }),
    },
    options,
  );

export type FileFormat = 'csv' | 'parquet';

/** All rows, or those of some objects, with all columns and what is known of their images. */
export const saveRows = (question: Question, format: FileFormat, name: string, objects?: Objects): Promise<void> =>
  saveFrom(addressFor(question, { format }), `${name}.${format}`, requestOf(question, objects ? { objects } : {}));
