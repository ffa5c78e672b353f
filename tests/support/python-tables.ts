/** Tables as Python writes and reads them (tables.py), beside what the service reads. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

import { expect } from 'vitest';

import { readColumns } from '@service/contract';

import type { PythonReader } from './python-readers.ts';

const PROGRAM = join(import.meta.dirname, 'tables.py');

type Cell = string | number | boolean | null;
/** By image, table and column. */
type Tables = Record<string, Record<string, Record<string, Cell[]>>>;

function python({ python: command }: Pick<PythonReader, 'python'>, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env: { ...process.env, PYTHONWARNINGS: 'ignore' }, maxBuffer: 2 ** 28 };
    execFile(command, [PROGRAM, ...args], options, (error, out, err) => {
      if (error) reject(new Error(`${error.message}\n${err}`));
      else resolve(out.trim().split('\n').at(-1)!);
    });
  });
}

/** The columns of a table of one image, as plots get them. */
async function columnsOf({ url, token }: PythonReader, base: string, image: string, table: string) {
  const response = await fetch(`${url}${base}/tables/${table}/query/?format=columns`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ zarr_urls: [image] }),
  });
  if (!response.ok) return { problem: await response.text() };
  const { header, arrays } = readColumns(await response.arrayBuffer());
  const columns = header.columns.map(({ name, type, texts }): [string, Cell[]] => {
    const cell = (value: number): Cell => {
      if (texts) return texts[value] ?? null;
      if (Number.isNaN(value)) return null;
      return type === 'boolean' ? value !== 0 : value;
    };
    return [name, Array.from(arrays.get(name)!, cell)];
  });
  return { columns: Object.fromEntries(columns) };
}

/**
 * Flags that went through a matrix of numbers are numbers for one, and flags for the other; and nothing between two commas is
 * a missing value for us, and a text without letters for ngio.
 */
const isSame = (ours: Cell | undefined, theirs: Cell) =>
  ours === theirs || (typeof theirs === 'boolean' && ours === Number(theirs)) || (ours === null && theirs === '');

/** The first difference in each column that differs; nothing where all values are the same. */
function differences(ours: Record<string, Cell[]>, theirs: Record<string, Cell[]>): string[] {
  const found = Object.keys(ours)
    .filter((name) => !(name in theirs))
    .map((name) => `${name} is only ours`);
  for (const [name, values] of Object.entries(theirs)) {
    const own = ours[name];
    if (!own) found.push(`${name} is not read`);
    else if (own.length !== values.length) found.push(`${name} has ${own.length} rows instead of ${values.length}`);
    else {
      const at = values.findIndex((value, row) => !isSame(own[row], value));
      if (at >= 0)
        found.push(`${name}, row ${at}: ${JSON.stringify(own[at])} instead of ${JSON.stringify(values[at])}`);
    }
  }
  return found;
}

/** Writes tables of every kind, and reads them by the service and by Python; all that differs, by table. */
export async function compareTables(reader: PythonReader, more: string[] = []) {
  const { images, encodings } = JSON.parse(await python(reader, ['write', reader.folder])) as Record<string, string[]>;
  const all = [...images!, ...encodings!, ...more];
  const theirs = JSON.parse(await python(reader, ['read', ...all])) as Tables;
  const { client, folder } = reader;
  const project = await client.post('/api/v2/project/', { name: `tables ${Math.random()}` });
  const listed = all.map((zarr_url) => ({ zarr_url, attributes: {}, types: {} }));
  const zarr_dir = more.length > 0 ? join(folder, '..') : folder;
  const dataset = await client.post(`/api/v2/project/${project.body.id}/dataset/import/`, {
    name: 'tables',
    zarr_dir,
    images: listed,
  });
  expect([dataset.status, dataset.text]).toEqual([201, dataset.text]);
  const base = `/api/v2/project/${project.body.id}/dataset/${dataset.body.id}`;
  const differing: Record<string, string[]> = {};
  let compared = 0;
  for (const [image, tables] of Object.entries(theirs)) {
    for (const [table, columns] of Object.entries(tables)) {
      const { columns: ours, problem } = await columnsOf(reader, base, image, table);
      const found = ours ? differences(ours, columns) : [problem];
      if (found.length > 0) differing[`${image.split('/').at(-1)} ${table}`] = found;
      compared++;
    }
  }
  return { compared, differing };
}
