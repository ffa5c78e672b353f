/** A column over many images, which grows part by part; what it takes is bounded. */
import { unreadable } from '../../zarr/unreadable.ts';
import { type Column, type ColumnType, createTexts, shortest } from '../reading/columns.ts';
import { commonType } from './parts.ts';

/** 12 columns of a million numbers, and the memory that growing takes. */
const MOST_BYTES = 96 * 2 ** 20;
const FIRST = 4096;

export interface Room {
  /** Refuses where there is none left. */
  take(bytes: number): void;
}

export function createRoom(): Room {
  let taken = 0;
  return {
    take(bytes) {
      taken += bytes;
      if (taken > MOST_BYTES)
        throw unreadable('This asks for too many values at once. Choose fewer columns or images, or export the table.');
    },
  };
}

type List = Float32Array | Float64Array | Int32Array;

function grown<L extends List>(list: L, length: number, room: Room): L {
  if (length <= list.length) return list;
  const size = Math.max(FIRST, length, Math.ceil(list.length * 1.5));
  room.take((size - list.length) * list.BYTES_PER_ELEMENT);
  const larger = new (list.constructor as Float64ArrayConstructor)(size) as L;
  larger.set(list);
  return larger;
}

export function createGathered(room: Room) {
  let type: ColumnType | undefined;
  let length = 0;
  let numbers: Float32Array | Float64Array = new Float32Array(0);
  let codes = new Int32Array(0);
  const { texts, codeOf } = createTexts();

  function written(value: number, kind: ColumnType, isSingle: boolean): number {
    if (Number.isNaN(value)) return -1;
    return codeOf(String(kind === 'boolean' ? value !== 0 : isSingle ? shortest(value) : value));
  }

  function becomeTexts(): void {
    codes = grown(codes, length, room);
    const isSingle = numbers instanceof Float32Array;
    for (let row = 0; row < length; row++) codes[row] = written(numbers[row]!, type ?? 'number', isSingle);
    numbers = new Float32Array(0);
  }

  function addNumbers(values: Float32Array | Float64Array): void {
    if (values instanceof Float64Array && numbers instanceof Float32Array) {
      room.take(4 * numbers.length);
      numbers = Float64Array.from(numbers);
    }
    numbers = grown(numbers, length + values.length, room);
    numbers.set(values, length);
  }

  function addTexts(column: Column, rows: number): void {
    codes = grown(codes, length + rows, room);
    if (column.type === 'text') {
      const places = column.texts.map(codeOf);
      for (let row = 0; row < rows; row++) codes[length + row] = places[column.codes[row]!] ?? -1;
    } else {
      const { values, type: kind } = column;
      const isSingle = values instanceof Float32Array;
      for (let row = 0; row < rows; row++) codes[length + row] = written(values[row]!, kind, isSingle);
    }
  }

  return {
    /** Undefined where an image does not have it. */
    add(column: Column | undefined, rows: number): void {
      const next = column === undefined ? type : commonType(type ?? column.type, column.type);
      if (next === 'text' && type !== 'text') becomeTexts();
      type = next;
      if (column === undefined) {
        if (type === 'text') {
          codes = grown(codes, length + rows, room);
          codes.fill(-1, length, length + rows);
        } else addNumbers(new Float32Array(rows).fill(NaN));
      } else if (type === 'text') addTexts(column, rows);
      else addNumbers((column as Exclude<Column, { type: 'text' }>).values);
      length += rows;
    },
    get column(): Column {
      if (type === 'text') return { type, codes: codes.subarray(0, length), texts };
      return { type: type ?? 'number', values: numbers.subarray(0, length) };
    },
  };
}
