/**
 * AnnData in Zarr 2 and 3: `obs` has columns of any kind and names the rows, `X` is a matrix of numbers, dense or sparse, and
 * `var` names its columns. Everything that files say is checked before anything is read or made room for.
 */
import { isName } from '../../zarr/names.ts';
import { readAttributes } from '../../zarr/attributes.ts';
import type { Reading } from '../../zarr/store.ts';
import { unreadable } from '../../zarr/unreadable.ts';
import { arrayFacts, readTexts, readValues, readWhole, typeOfArray } from './arrays.ts';
import { type Column, type ColumnFacts, type ColumnType, MOST_COLUMNS, MOST_ROWS } from './columns.ts';
import { openMatrix } from './matrix.ts';
import type { Content, TableSource } from './source.ts';

type Attributes = Record<string, unknown>;

/** The index of a frame whose rows have no names: it counts them. */
const NO_NAME = '_index';

interface Frame {
  index: string;
  columns: string[];
}

async function attributesOf(path: string, reading: Reading): Promise<Attributes | undefined> {
  const found = await readAttributes(path, reading);
  return found && ((found.values ?? {}) as Attributes);
}

/** What `obs` and `var` are: named columns, one of which is the index. */
async function readFrame(path: string, reading: Reading): Promise<Frame> {
  const attributes = await attributesOf(path, reading);
  if (!attributes) throw unreadable(`${path} is missing.`);
  const { _index: index = NO_NAME, 'column-order': order = [] } = attributes;
  if (!isName(index)) throw unreadable(`${path} is damaged: its index has no usable name.`);
  if (!Array.isArray(order) || !order.every(isName)) {
    throw unreadable(`${path} is damaged: its column-order is no list of names.`);
  }
  if (order.length > MOST_COLUMNS) throw unreadable(`${path} has more than ${MOST_COLUMNS} columns.`);
  return { index, columns: order };
}

function encodingOf(attributes: Attributes | undefined): string {
  const encoding = attributes?.['encoding-type'];
  return typeof encoding === 'string' ? encoding : '';
}

/** A column of `obs`: an array, or a group with codes and categories, or with values and a mask. */
async function readColumn(path: string, version: 2 | 3, reading: Reading): Promise<Column> {
  const attributes = await attributesOf(path, reading);
  const encoding = encodingOf(attributes);
  if (encoding === 'categorical') return readCategorical(path, version, reading);
  if (!encoding.startsWith('nullable-')) return readValues(path, version, reading);
  const [column, mask] = await Promise.all([
    readValues(`${path}/values`, version, reading),
    readValues(`${path}/mask`, version, reading),
  ]);
  if (mask.type === 'text') throw unreadable(`${path}/mask is damaged: it holds texts.`);
  const isMissing = (row: number) => mask.values[row] !== 0;
  if (column.type === 'text') {
    return { ...column, codes: column.codes.map((code, row) => (isMissing(row) ? -1 : code)) };
  }
  return { ...column, values: column.values.map((value, row) => (isMissing(row) ? NaN : value)) };
}

async function readCategorical(path: string, version: 2 | 3, reading: Reading): Promise<Column> {
  const [codes, categories] = await Promise.all([
    readValues(`${path}/codes`, version, reading),
    readColumn(`${path}/categories`, version, reading),
  ]);
  if (codes.type === 'text') throw unreadable(`${path}/codes is damaged: it holds texts.`);
  const count = categories.type === 'text' ? categories.codes.length : categories.values.length;
  if (codes.values.some((code) => code >= count)) {
    throw unreadable(`${path} is damaged: a code is larger than the number of its categories.`);
  }
  if (categories.type === 'text') {
    const { texts, codes: places } = categories;
    return { type: 'text', texts, codes: Int32Array.from(codes.values, (code) => (code < 0 ? -1 : places[code]!)) };
  }
  return {
    type: categories.type,
    values: Float64Array.from(codes.values, (code) => (code < 0 ? NaN : categories.values[code]!)),
  };
}

async function typeOfColumn(path: string, version: 2 | 3, reading: Reading): Promise<ColumnType> {
  const encoding = encodingOf(await attributesOf(path, reading));
  const values =
    encoding === 'categorical' ? `${path}/categories` : encoding.startsWith('nullable-') ? `${path}/values` : path;
  // categories that are nullable themselves are texts
  if (encoding === 'categorical' && encodingOf(await attributesOf(values, reading)).startsWith('nullable-'))
    return 'text';
  return typeOfArray(await arrayFacts(values, version, reading));
}

/** The columns of `obs` by the names that they are shown with. Labels are a column of their own, or the names of the rows. */
function placesOf({ index, columns }: Frame, indexKey: string | null): Map<string, string> {
  const places = new Map<string, string>();
  const isColumn = indexKey !== null && columns.includes(indexKey);
  if (!isColumn && (indexKey !== null || index !== NO_NAME)) places.set(indexKey ?? index, index);
  for (const name of columns) if (!places.has(name)) places.set(name, name);
  return places;
}

export async function openAnnData({ path, version, index: indexKey, isWhole, reading }: TableSource): Promise<Content> {
  const obs = `${path}/obs`;
  const frame = await readFrame(obs, reading);
  const { shape } = await arrayFacts(`${obs}/${frame.index}`, version, reading);
  const rows = shape[0] ?? 0;
  if (rows > MOST_ROWS) throw unreadable(`${path} has ${rows} rows. Tables of an image have at most ${MOST_ROWS}.`);
  const places = placesOf(frame, indexKey);
  const obsColumns = await Promise.all(
    Array.from(places, async ([name, place]): Promise<ColumnFacts> => {
      return { name, type: await typeOfColumn(`${obs}/${place}`, version, reading) };
    }),
  );
  const matrix = await openMatrix(path, version, reading);
  const variables = matrix ? await readVariables(path, version, reading) : [];
  if (matrix && (matrix.rows !== rows || matrix.columns !== variables.length)) {
    throw unreadable(
      `${path} is damaged: X is ${matrix.rows} x ${matrix.columns}, and obs and var name ${rows} x ${variables.length}.`,
    );
  }
  const inMatrix = new Map(variables.map((name, at) => [name, at]));
  for (const name of places.keys()) inMatrix.delete(name);
  const readObs = async (name: string) => {
    const place = `${obs}/${places.get(name)!}`;
    const whole = isWhole && places.get(name) === frame.index ? await readWhole(place, version, reading) : undefined;
    return whole ?? readColumn(place, version, reading);
  };
  return {
    columns: [...obsColumns, ...Array.from(inMatrix.keys(), (name) => ({ name, type: matrix!.type }))],
    rows,
    async read(names) {
      const wanted = names.filter((name) => inMatrix.has(name));
      const [ofObs, ofMatrix] = await Promise.all([
        Promise.all(
          names
            .filter((name) => places.has(name))
            .map(async (name): Promise<[string, Column]> => {
              return [name, await readObs(name)];
            }),
        ),
        wanted.length === 0 ? [] : matrix!.read(wanted.map((name) => inMatrix.get(name)!)),
      ]);
      return new Map([...ofObs, ...ofMatrix.map((column, at): [string, Column] => [wanted[at]!, column])]);
    },
  };
}

async function readVariables(path: string, version: 2 | 3, reading: Reading): Promise<string[]> {
  const { index } = await readFrame(`${path}/var`, reading);
  const names = `${path}/var/${index}`;
  const { shape } = await arrayFacts(names, version, reading);
  if (!(shape[0]! <= MOST_COLUMNS)) throw unreadable(`${path} has more than ${MOST_COLUMNS} columns.`);
  return readTexts(names, version, reading);
}
