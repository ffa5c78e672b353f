/**
 * Reads a journal, which only grows, as records that can be believed.
 *
 *     const journal = createIntake({ has: (number) => number < 3, largestOutput: 1000 });
 *     journal.take(Buffer.from('{"start": 0, "time": 1.5}\n{"sta')); // [{ start: 0, time: 1.5 }]
 *
 * A line without its end, left by a crash, is not a record yet. Lines that no worker writes are counted, and left out: a task
 * may have written them. A journal with many of them, or with one of endless length, is not read any further.
 */
import { plural } from '@service/contract/plural';

import { openRegular } from '../hosts/index.ts';
import { createLines } from './lines.ts';
import { recordIn, type WorkerRecord } from './records.ts';

const CHUNK = 2 ** 20;
/** Quotes, line ends and letters beyond ASCII are written with up to three times as many bytes as they have. */
const ESCAPED = 3;
/** The log, its end and the rest of a record. */
const BESIDE_OUTPUT = 4 * 2 ** 20;
const MOST_STRANGE_LINES = 1000;
const RECORD_BEGINS = '{'.charCodeAt(0);

export const longestRecord = (largestOutput: number): number => ESCAPED * largestOutput + BESIDE_OUTPUT;

export interface IntakeOptions {
  /** The units that the journal is about. */
  has(number: number): boolean;
  largestOutput: number;
}

export interface Intake {
  /** The records in the bytes that follow those of before. */
  take(bytes: Buffer): WorkerRecord[];
  /** Bytes up to the end of the last line that was taken. */
  offset(): number;
  /** Bytes that were taken, those of a line without its end included. */
  position(): number;
  /** Drops a line without its end: it will be read again. */
  forget(): void;
  /** How many lines were left out. */
  strange(): number;
  /** Why nothing more is read; for the person who ran the job. */
  problem(): string | undefined;
  giveUp(problem: string): void;
}

const NO_LINE =
  'The journal of the tasks holds something that is no line of the service. A task may have written to it.';
const NO_FILE = 'The journal of the tasks is gone, or is no longer a file. A task may have removed it.';
const TOO_MANY = `The journal of the tasks has more than ${MOST_STRANGE_LINES} lines that the service did not write. A task may have written to it.`;

export function createIntake({ has, largestOutput }: IntakeOptions): Intake {
  const longest = longestRecord(largestOutput);
  const lines = createLines({ longest: () => longest, begins: RECORD_BEGINS });
  const [started, ended] = [new Set<number>(), new Set<number>()];
  let [offset, strange, strangeBytes] = [0, 0, 0];
  let problem: string | undefined;

  /** Each unit starts once and then ends once. */
  function fits(record: WorkerRecord): boolean {
    if ('start' in record) return has(record.start) && !started.has(record.start) && !!started.add(record.start);
    if (!('end' in record)) return true;
    const { end, output } = record;
    if (!started.has(end) || ended.has(end) || (output?.length ?? 0) > largestOutput) return false;
    return !!ended.add(end);
  }

  function recordOf(line: Buffer): WorkerRecord[] {
    offset += line.length + 1;
    if (line.length === 0 || problem !== undefined) return [];
    const record = recordIn(line.toString('utf8'));
    if (record && fits(record)) return [record];
    strange += 1;
    strangeBytes += line.length;
    if (strange > MOST_STRANGE_LINES || strangeBytes > longest) problem = TOO_MANY;
    return [];
  }

  return {
    take(bytes) {
      const records: WorkerRecord[] = [];
      if (problem !== undefined) return records;
      const within = lines.take(bytes, (line) => void records.push(...recordOf(line)));
      if (!within) problem ??= NO_LINE;
      return records;
    },
    offset: () => offset,
    position: () => offset + lines.waiting(),
    forget: () => lines.forget(),
    strange: () => strange,
    problem: () => problem,
    giveUp: (why) => void (problem ??= why),
  };
}

/** What is said when lines were left out. */
export const strangeWords = (count: number): string =>
  `${count} ${plural(count, 'line')} in the journal of the tasks ${plural(count, 'was', 'were')} not written by the service and left out`;

export interface JournalReader {
  /** The records since the last call; about a megabyte at a time, so call again until there are none. */
  read(): Promise<WorkerRecord[]>;
}

/** Reads a journal of this machine, which is there from the beginning. */
export function journalReader(path: string, intake: Intake): JournalReader {
  let buffer = Buffer.alloc(0);

  /** Undefined when there is nothing new. */
  async function chunk(): Promise<Buffer | undefined> {
    const file = await openRegular(path);
    if (!file) return void intake.giveUp(NO_FILE);
    try {
      const size = Math.min(CHUNK, file.size - intake.position());
      if (size <= 0) return undefined;
      // the same again and again: the system takes its time to collect large ones
      if (buffer.length < size) buffer = Buffer.allocUnsafeSlow(size);
      const { bytesRead } = await file.handle.read(buffer, 0, size, intake.position());
      return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead);
    } finally {
      await file.handle.close();
    }
  }

  return {
    async read() {
      while (intake.problem() === undefined) {
        const bytes = await chunk();
        if (bytes === undefined) return [];
        const records = intake.take(bytes);
        if (records.length > 0) return records;
      }
      return [];
    },
  };
}
