/** Statistics of groups of rows: of wells for a plate map, of treatments for a box plot. */
import type { TableGroups } from '@service/contract';

import type { Reading } from '../../zarr/store.ts';
import { unreadable } from '../../zarr/unreadable.ts';
import type { GroupsAsk, Value } from '../ask.ts';
import { cellsOf, type Column } from '../reading/columns.ts';
import { createGathered, createRoom, type Room } from './gathered.ts';
import { type OpenSelection, openSelection, type Part, readParts } from './parts.ts';

const MOST_GROUPS = 20_000;

interface Group {
  values: (Value | null)[];
  zarr_urls: Set<string>;
  rows: number;
  columns: ReturnType<typeof createGathered>[];
}

type Statistics = TableGroups['groups'][number]['columns'][number];

/** Between two values where it falls between them. */
function quantile(sorted: Float64Array, share: number): number {
  const place = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low === high ? low : low + (high - low) * (place - Math.floor(place));
}

const finite = (value: number) => (Number.isFinite(value) ? value : null);

/** What is missing is counted apart; the deviation is that of a sample. */
function statisticsOf(name: string, values: Float32Array | Float64Array): Statistics {
  const known = Float64Array.from(values)
    .filter((value) => !Number.isNaN(value))
    .sort();
  const count = known.length;
  const nothing = { mean: null, median: null, std: null, min: null, max: null, q1: null, q3: null };
  if (count === 0) return { name, count, num_missing: values.length, ...nothing };
  const mean = known.reduce((sum, value) => sum + value, 0) / count;
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    name,
    count,
    num_missing: values.length - count,
    mean: finite(mean),
    median: finite(quantile(known, 0.5)),
    std: count > 1 ? finite(Math.sqrt(squares / (count - 1))) : null,
    min: finite(known[0]!),
    max: finite(known[count - 1]!),
    q1: finite(quantile(known, 0.25)),
    q3: finite(quantile(known, 0.75)),
  };
}

function check({ columns, attributes }: OpenSelection, { of, by, table }: GroupsAsk): void {
  const types = new Map(columns.map(({ name, type }) => [name, type]));
  for (const name of of) {
    if (!types.has(name)) throw unreadable(`The table ${table} has no column ${name.slice(0, 100)}.`);
    if (types.get(name) === 'text')
      throw unreadable(`The column ${name.slice(0, 100)} holds texts, which have no mean.`);
  }
  const isKnown = (name: string) => attributes.includes(name) || types.has(name);
  // plate and well are asked for by default, and images need not have them
  const unknown = by.find((name) => !isKnown(name) && name !== 'plate' && name !== 'well');
  if (unknown !== undefined)
    throw unreadable(`Neither images nor the table ${table} have ${unknown.slice(0, 100)} to group by.`);
}

function createGroups(count: number, room: Room) {
  const groups = new Map<string, Group>();
  return {
    groups,
    of(values: (Value | null)[]): Group {
      const key = JSON.stringify(values);
      const before = groups.get(key);
      if (before) return before;
      if (groups.size >= MOST_GROUPS)
        throw unreadable(`These are more than ${MOST_GROUPS} groups. Choose another one.`);
      const columns = Array.from({ length: count }, () => createGathered(room));
      const group = { values, zarr_urls: new Set<string>(), rows: 0, columns };
      groups.set(key, group);
      return group;
    },
  };
}

/** Rows of an image by their group, where columns of the table make it. */
function rowsByGroup(part: Part, by: string[], isColumn: (name: string) => boolean): Map<string, number[]> {
  const cells = by.map((name) => {
    const column = isColumn(name) ? part.columns.get(name) : undefined;
    return column ? cellsOf(column) : () => part.image.attributes[name] ?? null;
  });
  const rows = new Map<string, number[]>();
  for (let row = 0; row < part.rows; row++) {
    const key = JSON.stringify(cells.map((cell) => cell(row)));
    const list = rows.get(key);
    if (list) list.push(row);
    else rows.set(key, [row]);
  }
  return rows;
}

const some = (column: Column | undefined, rows: number[]): Column | undefined =>
  column === undefined || column.type === 'text'
    ? column
    : { ...column, values: Float64Array.from(rows, (row) => column.values[row]!) };

export async function tableGroups(ask: GroupsAsk, reading: Reading): Promise<TableGroups> {
  const open = await openSelection(ask, reading);
  check(open, ask);
  const { of, by } = ask;
  const isColumn = (name: string) => !open.attributes.includes(name) && open.columns.some((one) => one.name === name);
  const inTable = by.filter(isColumn);
  const { groups, of: groupOf } = createGroups(of.length, createRoom());
  for await (const part of readParts(open, [...of, ...inTable])) {
    const { image, columns, rows } = part;
    const add = (values: (Value | null)[], list: number[] | undefined) => {
      const group = groupOf(values);
      group.zarr_urls.add(image.zarr_url);
      group.rows += list?.length ?? rows;
      of.forEach((name, at) => {
        const column = columns.get(name);
        group.columns[at]!.add(list ? some(column, list) : column, list?.length ?? rows);
      });
    };
    if (inTable.length === 0)
      add(
        by.map((name) => image.attributes[name] ?? null),
        undefined,
      );
    else for (const [key, list] of rowsByGroup(part, by, isColumn)) add(JSON.parse(key) as (Value | null)[], list);
  }
  return {
    by,
    groups: Array.from(groups.values(), (group) => ({
      values: group.values,
      zarr_urls: [...group.zarr_urls],
      num_rows: group.rows,
      columns: group.columns.map(({ column }, at) =>
        // a column that is one of texts in some image after all has no mean
        statisticsOf(of[at]!, column.type === 'text' ? new Float64Array(group.rows).fill(NaN) : column.values),
      ),
    })),
    ...open.problems.told(),
  };
}
