/**
 * Tables as CSV: `table.csv`, read as it comes. Columns have no types there, so they are taken from what they hold: numbers as
 * long as all are numbers, flags as long as all are flags, else texts, for which the file is read again.
 */
import { pipeline } from 'node:stream';

import { parse } from 'csv-parse';

import { openFile, type Reading } from '../../zarr/store.ts';
import { unreadable, Unreadable } from '../../zarr/unreadable.ts';
import { type Column, type ColumnFacts, type ColumnType, createTexts, isInteger, MOST_ROWS } from './columns.ts';
import type { Content, TableSource } from './source.ts';

const LARGEST_FILE = 256 * 2 ** 20;
const LARGEST_RECORD = 2 ** 20;
/** Enough to tell what a column holds. */
const LOOKED_AT = 1000;

/** What programs of the field write for "no value" among numbers. */
const MISSING = new Set(
  [
    '',
    'NaN',
    'nan',
    '-NaN',
    '-nan',
    'NA',
    'N/A',
    'n/a',
    '#N/A',
    '#N/A N/A',
    '#NA',
    '<NA>',
    'NULL',
    'null',
    'None',
  ].concat(['-1.#IND', '1.#IND', '-1.#QNAN', '1.#QNAN']),
);
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const INFINITE = /^([+-]?)(inf|infinity)$/i;
/** No object: a cell may say `constructor`. */
const FLAGS = new Map([
  ['true', 1],
  ['false', 0],
]);

/** NaN for a missing value, undefined for what is no number. */
function numberOf(text: string): number | undefined {
  if (NUMBER.test(text)) return Number(text);
  if (MISSING.has(text)) return NaN;
  const sign = INFINITE.exec(text)?.[1];
  return sign === undefined ? undefined : sign === '-' ? -Infinity : Infinity;
}

/** The records of a file. Ends with what it refuses. */
async function* records(path: string, reading: Reading): AsyncGenerator<string[]> {
  const opened = await openFile(path, reading);
  if (!opened) throw unreadable(`${path} is missing.`);
  if (opened.stats.size > LARGEST_FILE) {
    await opened.file.close();
    throw unreadable(`${path} is too large: more than ${LARGEST_FILE / 2 ** 20} MiB. Write the table as Parquet.`);
  }
  const source = opened.file.createReadStream();
  const options = { bom: true, skip_empty_lines: true, max_record_size: LARGEST_RECORD };
  // what the file says wrong comes out of the parser
  const parser = pipeline(source, parse(options), () => undefined);
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      reading.signal.throwIfAborted();
      yield record;
    }
  } catch (error) {
    reading.signal.throwIfAborted();
    if (error instanceof Unreadable) throw error;
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
    throw unreadable(`${path} is damaged: ${reason}. It may be being written.`);
  } finally {
    source.destroy();
    parser.destroy();
  }
}

/** A column whose kind is still being found out. */
class Guess {
  kind: 'nothing' | 'numbers' | 'flags' | 'texts' = 'nothing';
  isWhole = true;
  values = new Float64Array(1024);
  length = 0;

  add(text: string): void {
    if (this.kind === 'texts') return;
    const flag = FLAGS.get(text.toLowerCase());
    const value = flag ?? numberOf(text);
    const kind = flag === undefined ? 'numbers' : 'flags';
    if (value === undefined) return this.giveUp();
    if (!Number.isNaN(value)) {
      if (this.kind !== 'nothing' && this.kind !== kind) return this.giveUp();
      this.kind = kind;
      if (kind === 'numbers' && !isInteger.test(text)) {
        // more digits than numbers keep
        if (/^[+-]?\d+$/.test(text)) return this.giveUp();
        this.isWhole = false;
      }
    }
    if (this.length === this.values.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  giveUp(): void {
    this.kind = 'texts';
    this.values = new Float64Array(0);
  }

  get type(): ColumnType {
    if (this.kind === 'texts') return 'text';
    if (this.kind === 'flags') return 'boolean';
    return this.kind === 'numbers' && this.isWhole ? 'integer' : 'number';
  }
}

const tooMany = (path: string) => unreadable(`${path} has more than ${MOST_ROWS} rows.`);

/** Guesses of some columns, from all rows or the first ones. */
async function guesses(path: string, at: readonly number[], most: number, reading: Reading): Promise<Guess[]> {
  const found = at.map(() => new Guess());
  let row = -1;
  for await (const record of records(path, reading)) {
    if (++row === 0) continue;
    if (row > most) break;
    at.forEach((place, index) => found[index]!.add(record[place]!));
  }
  if (row > MOST_ROWS) throw tooMany(path);
  return found;
}

async function texts(path: string, at: readonly number[], reading: Reading): Promise<Column[]> {
  const found = at.map(() => ({ ...createTexts(), codes: new Int32Array(1024) }));
  let row = -1;
  for await (const record of records(path, reading)) {
    if (row++ < 0) continue;
    const place = row - 1;
    at.forEach((column, index) => {
      const one = found[index]!;
      if (place === one.codes.length) {
        const larger = new Int32Array(2 * place);
        larger.set(one.codes);
        one.codes = larger;
      }
      const text = record[column]!;
      // among texts, None may be a treatment
      one.codes[place] = text === '' ? -1 : one.codeOf(text);
    });
  }
  return found.map(({ texts: different, codes }) => ({ type: 'text', texts: different, codes: codes.slice(0, row) }));
}

async function namesOf(path: string, reading: Reading): Promise<string[]> {
  for await (const record of records(path, reading)) return record;
  throw unreadable(`${path} is empty: it has no line with names of columns.`);
}

export async function openCsv({ path: folder, reading }: TableSource): Promise<Content> {
  const path = `${folder}/table.csv`;
  const names = await namesOf(path, reading);
  if (new Set(names).size !== names.length) throw unreadable(`${path} is damaged: two columns have the same name.`);
  const all = names.map((_, at) => at);
  const looked = await guesses(path, all, LOOKED_AT, reading);
  const columns = names.map((name, at): ColumnFacts => ({ name, type: looked[at]!.type }));
  return {
    columns,
    rows: undefined,
    async read(wanted) {
      const at = wanted.map((name) => names.indexOf(name));
      const found = await guesses(path, at, MOST_ROWS + 1, reading);
      const asTexts = at.filter((_, index) => found[index]!.kind === 'texts');
      const read = asTexts.length === 0 ? [] : await texts(path, asTexts, reading);
      return new Map(
        wanted.map((name, index): [string, Column] => {
          const guess = found[index]!;
          if (guess.type === 'text') return [name, read[asTexts.indexOf(at[index]!)]!];
          return [name, { type: guess.type, values: guess.values.slice(0, guess.length) }];
        }),
      );
    },
  };
}
