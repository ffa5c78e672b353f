/**
 * Condition tables: what was done to wells, as columns. One beside an image says it of the image, in its one row; one beside a
 * plate says it of wells, by `well`, or by `row` and `column`, and of one image of a well where it has `path_in_well`.
 */
import { readAttributes } from '../../zarr/attributes.ts';
import type { Reading } from '../../zarr/store.ts';
import { Unreadable } from '../../zarr/unreadable.ts';
import type { AskedImage, Value } from '../ask.ts';
import { cellsOf } from '../reading/columns.ts';
import { isName } from '../../zarr/names.ts';
import { openTable } from '../reading/table.ts';

type Row = Record<string, Value>;

const MOST_ROWS = 10_000;
const MOST_TABLES = 1000;
const PLACES = new Set(['well', 'row', 'column', 'path_in_well']);

/** The tables that a group names; none where there is no group. */
export async function tableNames(folder: string, reading: Reading): Promise<string[]> {
  const found = await readAttributes(`${folder}/tables`, reading);
  const names = (found?.values as { tables?: unknown } | null | undefined)?.tables;
  return Array.isArray(names) ? [...new Set(names.slice(0, MOST_TABLES).filter(isName))] : [];
}

async function isCondition(path: string, reading: Reading): Promise<boolean> {
  const found = await readAttributes(path, reading);
  return (found?.values as { type?: unknown } | null | undefined)?.type === 'condition_table';
}

async function rowsOf(path: string, reading: Reading): Promise<Row[]> {
  const table = await openTable(path, reading);
  if ((table.rows ?? 0) > MOST_ROWS) return [];
  const { rows, columns } = await table.read(table.columns.map(({ name }) => name));
  const cells = Array.from(columns, ([name, column]) => [name, cellsOf(column)] as const);
  return Array.from({ length: Math.min(rows, MOST_ROWS) }, (_, row) =>
    Object.fromEntries(cells.flatMap(([name, cell]) => (cell(row) === null ? [] : [[name, cell(row)!]]))),
  );
}

/** Of all condition tables beside an image or a plate. One that cannot be read says nothing. */
async function conditionRows(folder: string, reading: Reading): Promise<Row[][]> {
  const found: Row[][] = [];
  try {
    for (const name of await tableNames(folder, reading)) {
      const path = `${folder}/tables/${name}`;
      if (await isCondition(path, reading)) found.push(await rowsOf(path, reading));
    }
  } catch (error) {
    reading.signal.throwIfAborted();
    if (!(error instanceof Unreadable)) throw error;
  }
  return found;
}

/** `B03`, `B/03` and `b3` are one well. */
function wellName(text: string): string {
  const [, row, column] = /^([A-Za-z]{1,2})\/?0*(\d{1,3})$/.exec(text.trim()) ?? [];
  return row === undefined ? text : `${row.toUpperCase()}/${column}`;
}

function concerns(row: Row, { place, attributes }: AskedImage): boolean {
  const [placeRow, placeColumn, placeImage] = place?.split('/') ?? [];
  const { well, row: rowName, column, path_in_well: image } = row;
  const own = place === null ? attributes['well'] : `${placeRow}/${placeColumn}`;
  const said = well ?? (rowName === undefined || column === undefined ? undefined : `${rowName}/${column}`);
  if (said !== undefined && (own === undefined || wellName(String(said)) !== wellName(String(own)))) return false;
  return image === undefined || String(image) === placeImage;
}

export interface Conditions {
  /** What the image's own attributes and condition tables say; its own attributes come first. */
  of(image: AskedImage): Promise<Row>;
}

export function createConditions(reading: Reading): Conditions {
  const plates = new Map<string, Promise<Row[][]>>();
  const ofPlate = (plate: string) => {
    const before = plates.get(plate);
    if (before) return before;
    const rows = conditionRows(plate, reading);
    rows.catch(() => undefined);
    plates.set(plate, rows);
    return rows;
  };
  return {
    async of(image) {
      const own = await conditionRows(image.zarr_url, reading);
      const fromPlate = image.plate === null ? [] : await ofPlate(image.plate);
      const all: Row = {};
      // rows about objects say nothing about the image
      const rows = [...own.filter((table) => table.length === 1).flat(), ...fromPlate.flat()];
      for (const row of rows.filter((one) => concerns(one, image))) {
        for (const [name, value] of Object.entries(row)) if (!PLACES.has(name)) all[name] ??= value;
      }
      return { ...all, ...image.attributes };
    },
  };
}
