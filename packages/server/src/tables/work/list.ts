/** The tables that images and plates have, with their columns. */
import type { TableList } from '@service/contract';

import { readAttributes } from '../../zarr/attributes.ts';
import type { Reading } from '../../zarr/store.ts';
import { Unreadable } from '../../zarr/unreadable.ts';
import type { AskedImage, ListAsk } from '../ask.ts';
import { openTable, type OpenTable } from '../reading/table.ts';
import { createConditions, tableNames } from './conditions.ts';
import { inOrder } from './in-order.ts';
import { commonType } from './parts.ts';
import { createProblems, type Problems } from './problems.ts';

const AHEAD = 16;

type Found = [name: string, table: OpenTable][];

async function tablesOf(image: AskedImage, problems: Problems, reading: Reading): Promise<Found> {
  const { zarr_url } = image;
  const tables: Found = [];
  const note = (table: string | null, error: unknown) => {
    reading.signal.throwIfAborted();
    if (!(error instanceof Unreadable)) throw error;
    problems.add({ zarr_url, table, kind: 'unreadable', text: error.text });
  };
  let names: string[] = [];
  try {
    names = await tableNames(zarr_url, reading);
    if (names.length === 0 && !(await readAttributes(zarr_url, reading))) {
      const text = `There is no image at ${zarr_url}, or it is on a file system that this service does not see.`;
      problems.add({ zarr_url, table: null, kind: 'no_image', text });
    }
  } catch (error) {
    note(null, error);
  }
  for (const name of names) {
    try {
      tables.push([name, await openTable(`${zarr_url}/tables/${name}`, reading)]);
    } catch (error) {
      note(name, error);
    }
  }
  return tables;
}

const known = (values: Iterable<string | null>) => [...new Set([...values].filter((value) => value !== null))].sort();

function described(name: string, level: 'image' | 'plate', tables: OpenTable[]): TableList['tables'][number] {
  const columns = new Map<string, TableList['tables'][number]['columns'][number]>();
  for (const { columns: own } of tables) {
    for (const { name: column, type } of own) {
      const before = columns.get(column);
      if (!before) columns.set(column, { name: column, type, num_images: 1 });
      else {
        before.type = commonType(before.type, type);
        before.num_images++;
      }
    }
  }
  return {
    name,
    level,
    types: known(tables.map(({ type }) => type)),
    backends: known(tables.map(({ backend }) => backend)),
    versions: known(tables.map(({ version }) => version)),
    index: tables.find(({ index }) => index !== null)?.index ?? null,
    labels: known(tables.map(({ label }) => label)),
    num_images: tables.length,
    num_rows: tables.reduce((sum, { rows }) => sum + (rows ?? 0), 0),
    columns: [...columns.values()],
  };
}

export async function tableList(ask: ListAsk, reading: Reading): Promise<TableList> {
  const problems = createProblems(ask.problems);
  const conditions = createConditions(reading);
  const attributes = new Set<string>();
  const gather = async (images: AskedImage[], isImage: boolean) => {
    const byName = new Map<string, OpenTable[]>();
    const look = async (image: AskedImage) => {
      const tables = await tablesOf(image, problems, reading);
      return { tables, keys: isImage ? Object.keys(await conditions.of(image)) : [] };
    };
    for await (const { tables, keys } of inOrder(images, AHEAD, look)) {
      for (const key of keys) attributes.add(key);
      for (const [name, table] of tables) {
        const before = byName.get(name);
        if (before) before.push(table);
        else byName.set(name, [table]);
      }
    }
    return Array.from(byName, ([name, tables]) => described(name, isImage ? 'image' : 'plate', tables));
  };
  const tables = [...(await gather(ask.images, true)), ...(await gather(ask.plates, false))];
  return { num_images: ask.images.length, attributes: [...attributes], tables, ...problems.told() };
}
