/** All rows as Parquet, one row group after the other. */
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, type ColumnSource, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer';

import type { Made } from '../../studio/order.ts';
import type { Reading } from '../../zarr/store.ts';
import type { ExportAsk } from '../ask.ts';
import { type Cell, cellsOf, type Column, type ColumnFacts, type ColumnType } from '../reading/columns.ts';
import { commonType, type OpenSelection, openSelection, type Part, readParts, shownColumns } from './parts.ts';
import { attributeColumns } from './shown.ts';

const ROWS_OF_GROUP = 50_000;
const VALUES_OF_GROUP = 2_000_000;

/**
 * What columns really are, which a file has to say before its rows: CSV does not tell before it was read, and whole numbers
 * that are too large become texts. So such columns are read twice.
 */
async function trueTypes(open: OpenSelection, shown: ColumnFacts[]): Promise<ColumnFacts[]> {
  const types = new Map(shown.map(({ name, type }) => [name, type]));
  const csv = open.images.filter(({ table }) => table.backend === 'csv');
  const others = open.images.filter(({ table }) => table.backend !== 'csv');
  const whole = shown.filter(({ type }) => type === 'integer').map(({ name }) => name);
  const look = async (images: typeof csv, names: string[]) => {
    if (images.length === 0 || names.length === 0) return;
    for await (const { columns } of readParts(open, names, { images, notes: false })) {
      for (const name of names) {
        const column = columns.get(name);
        if (column) types.set(name, commonType(types.get(name)!, column.type));
      }
    }
  };
  await look(csv, [...types.keys()]);
  await look(others, whole);
  return shown.map(({ name }) => ({ name, type: types.get(name)! }));
}

const AS: Record<ColumnType, ColumnSource['type']> = {
  number: 'DOUBLE',
  integer: 'INT64',
  boolean: 'BOOLEAN',
  text: 'STRING',
};

/** A value in the type of its column. */
const asValue = (cell: Cell, type: ColumnType): unknown => {
  if (cell === null) return type === 'number' ? NaN : null;
  if (type === 'integer') return BigInt(cell);
  if (type === 'text') return String(cell);
  return type === 'number' ? Number(cell) : cell;
};

interface Output {
  name: string;
  type: ColumnType;
  /** How the values of a part are read. */
  cells(part: Part): (row: number) => Cell;
}

const nothing = () => null;
const read = (column: Column | undefined): ((row: number) => Cell) => (column ? cellsOf(column) : nothing);

export async function parquetFile(ask: ExportAsk, reading: Reading): Promise<Made> {
  const open = await openSelection(ask, reading);
  const shown = await trueTypes(open, shownColumns(open));
  const outputs: Output[] = [
    ...attributeColumns(open).map(({ name, type, valueOf }) => ({
      name,
      type,
      cells: ({ image }: Part) => {
        const value = valueOf(image);
        return () => value;
      },
    })),
    ...shown.map(({ name, type }) => ({ name, type, cells: ({ columns }: Part) => read(columns.get(name)) })),
  ];
  const rowsOfGroup = Math.max(1000, Math.min(ROWS_OF_GROUP, Math.floor(VALUES_OF_GROUP / outputs.length)));
  const facts: Record<string, string> = { 'content-type': 'application/vnd.apache.parquet' };

  async function* parts(): AsyncGenerator<Uint8Array> {
    const bytes = new ByteWriter(2 ** 16);
    const columnData = (): ColumnSource[] =>
      outputs.map(({ name, type }) => ({ name, type: AS[type]!, data: [], nullable: type !== 'number' }));
    const schema: SchemaElement[] = schemaFromColumnData({ columnData: columnData() });
    const writer = new ParquetWriter({ writer: bytes, schema });
    const written = () => {
      const part = bytes.getBytes().slice();
      bytes.index = 0;
      return part;
    };
    let lists = outputs.map((): unknown[] => []);
    const writeGroup = async () => {
      await writer.write({
        columnData: columnData().map((column, at) => ({ ...column, data: lists[at] as never })),
        rowGroupSize: rowsOfGroup,
      });
      lists = outputs.map(() => []);
      return written();
    };
    for await (const part of readParts(
      open,
      shown.map(({ name }) => name),
    )) {
      const cells = outputs.map((output) => output.cells(part));
      for (let row = 0; row < part.rows; row++) {
        outputs.forEach(({ type }, at) => lists[at]!.push(asValue(cells[at]!(row), type)));
        if (lists[0]!.length === rowsOfGroup) yield await writeGroup();
      }
    }
    if (lists[0]!.length > 0) yield await writeGroup();
    await writer.finish();
    yield written();
    facts['x-table-problems'] = String(open.problems.told().num_problems);
  }

  return { content: parts(), facts };
}
