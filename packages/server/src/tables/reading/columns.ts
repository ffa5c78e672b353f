/**
 * Columns of a table, as typed arrays: numbers as they are, with NaN for what is missing, and texts as numbers into a list of
 * the different ones. A million values take some megabytes, whatever they are.
 */
export type ColumnType = 'number' | 'integer' | 'boolean' | 'text';

export interface NumberColumn {
  /** Flags are 0 and 1. */
  type: Exclude<ColumnType, 'text'>;
  values: Float32Array | Float64Array;
}

export interface TextColumn {
  type: 'text';
  /** Into `texts`; -1 for what is missing. */
  codes: Int32Array;
  texts: string[];
}

export type Column = NumberColumn | TextColumn;

export interface ColumnFacts {
  name: string;
  type: ColumnType;
}

export const MOST_ROWS = 5_000_000;
export const MOST_COLUMNS = 10_000;
/** Of the different texts of a column. */
const MOST_TEXT = 16 * 2 ** 20;

export const lengthOf = (column: Column) => (column.type === 'text' ? column.codes.length : column.values.length);

/** Gathers texts by what they say. */
export function createTexts() {
  const known = new Map<string, number>();
  const texts: string[] = [];
  let size = 0;
  return {
    texts,
    codeOf(text: string): number {
      const before = known.get(text);
      if (before !== undefined) return before;
      size += text.length;
      if (size > MOST_TEXT) throw new RangeError('too many different texts');
      known.set(text, texts.length);
      texts.push(text);
      return texts.length - 1;
    },
  };
}

export function textColumn(values: ArrayLike<string | null | undefined>): TextColumn {
  const { texts, codeOf } = createTexts();
  const codes = new Int32Array(values.length);
  for (let row = 0; row < codes.length; row++) {
    const text = values[row];
    codes[row] = text === null || text === undefined ? -1 : codeOf(text);
  }
  return { type: 'text', codes, texts };
}

/** Whole numbers of 64 bits are numbers where all of them are exact, and texts otherwise. */
export function wideColumn(values: ArrayLike<bigint | null | undefined>): Column {
  const numbers = new Float64Array(values.length);
  for (let row = 0; row < numbers.length; row++) {
    const value = values[row];
    const number = value === null || value === undefined ? NaN : Number(value);
    if (Math.abs(number) > Number.MAX_SAFE_INTEGER) return textColumn(Array.from(values, (one) => one?.toString()));
    numbers[row] = number;
  }
  return { type: 'integer', values: numbers };
}

export const isInteger = /^[+-]?\d{1,15}$/;

/** Texts that are whole numbers as numbers, as labels are written where an index has to be of texts. */
export function asIntegers(column: Column): Column {
  if (column.type !== 'text') return column;
  if (!column.texts.every((text) => isInteger.test(text))) return column;
  const numbers = column.texts.map(Number);
  return { type: 'integer', values: Float64Array.from(column.codes, (code) => numbers[code] ?? NaN) };
}

/** Only some rows. */
export function pick<C extends Column>(column: C, rows: Uint32Array): C {
  if (column.type === 'text') return { ...column, codes: Int32Array.from(rows, (row) => column.codes[row]!) };
  const values = new (column.values.constructor as Float64ArrayConstructor)(rows.length);
  for (let at = 0; at < rows.length; at++) values[at] = column.values[rows[at]!]!;
  return { ...column, values };
}

/** The shortest number that is the same with 32 bits: 0.1, not 0.10000000149011612. */
export function shortest(value: number): number {
  if (Number.isInteger(value) || !Number.isFinite(value)) return value;
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

export type Cell = string | number | boolean | null;

/** How the values of a column are read one by one. */
export function cellsOf(column: Column): (row: number) => Cell {
  if (column.type === 'text') return (row) => column.texts[column.codes[row]!] ?? null;
  const { values, type } = column;
  const isSingle = values instanceof Float32Array && type === 'number';
  return (row) => {
    const value = values[row]!;
    if (Number.isNaN(value)) return null;
    if (type === 'boolean') return value !== 0;
    return isSingle ? shortest(value) : value;
  };
}
