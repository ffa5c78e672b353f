/**
 * What is worth reading in a log. Of something that failed: its first line, and the error that the last Python traceback
 * ends with; what lies between is folded away.
 *
 *     const lines = logLines(text);
 *     structureOf(lines, true); // { fold: { from: 1, to: 18 }, error: 18 }
 */
import type { Job } from '@service/contract';
import type { LogNews } from '../live/watch.ts';

export interface Structure {
  /** Lines that are folded, by index: from the first to before the last. */
  fold?: { from: number; to: number };
  /** Where the relevant error begins; it goes on to the end. */
  error?: number;
}

const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[\\d;]*[A-Za-z]`, 'g');

/** The lines without the end that every file has, and without what terminals understand as colours. */
export function logLines(text: string): string[] {
  const lines = text.replace(COLOURS, '').split(/\r?\n/);
  while (lines.length > 0 && lines.at(-1)!.trim() === '') lines.pop();
  // progress bars write over their own line: the last state of it is what a terminal would show
  return lines.map((line) => (line.includes('\r') ? line.slice(line.lastIndexOf('\r') + 1) : line));
}

export const isWarning = (line: string): boolean => /warning/i.test(line);

const HEADER = 'Traceback (most recent call last):';

/** Where the error of the last traceback begins: after its indented lines. */
function errorIn(lines: readonly string[]): number | undefined {
  const header = lines.findLastIndex((line) => line.includes(HEADER));
  if (header < 0) return undefined;
  const after = lines.findIndex((line, index) => index > header && /^\S/.test(line));
  return after < 0 ? undefined : after;
}

/** Fewer lines than these are not worth a click. */
const LEAST_FOLDED = 2;

export function structureOf(lines: readonly string[], failed: boolean): Structure {
  const error = failed ? errorIn(lines) : undefined;
  if (error === undefined) return {};
  return error - 1 < LEAST_FOLDED ? { error } : { fold: { from: 1, to: error }, error };
}

const MARKER = /^\s*TRACEBACK:/;
const SHORT = 5;

/** The first lines of the relevant error, for a notice. */
export function shortError(text: string): string {
  const lines = logLines(text);
  const marker = lines.findIndex((line) => MARKER.test(line));
  const from = errorIn(lines) ?? marker + 1;
  const relevant = lines.slice(from);
  if (marker >= 0 && from === marker + 1) relevant.unshift(lines[marker]!.replace(MARKER, '').trim());
  const said = relevant.slice(relevant.findIndex((line) => line.trim() !== ''));
  return said.length > SHORT ? [...said.slice(0, SHORT), '…'].join('\n') : said.join('\n');
}

const SCHEDULER_WORDS = [
  'oom',
  'killed',
  'srun: error',
  'out of memory',
  'due to time limit',
  'exceeded job memory limit',
  'application launch failed',
  'job credential expired',
  'job step aborted',
  'permission denied',
];

/** What the scheduler said, when it says more than the log of the job. */
export function schedulerError(job: Pick<Job, 'status' | 'executor_error_log'>): string | undefined {
  const said = job.executor_error_log;
  if (job.status !== 'failed' || said === null) return undefined;
  const words = said.toLowerCase();
  return SCHEDULER_WORDS.some((word) => words.includes(word)) ? said : undefined;
}

/** The lines in which the text occurs, in whatever case. */
export function findLines(lines: readonly string[], text: string): number[] {
  const wanted = text.toLowerCase();
  if (wanted === '') return [];
  return lines.flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index] : []));
}

export interface Piece {
  text: string;
  found: boolean;
}

/** A line in pieces: what was looked for, and the rest. */
export function piecesOf(line: string, text: string): Piece[] {
  const [wanted, searched] = [text.toLowerCase(), line.toLowerCase()];
  // letters that change their length with their case would shift what is marked
  if (wanted === '' || searched.length !== line.length) return [{ text: line, found: false }];
  const pieces: Piece[] = [];
  let at = 0;
  for (let hit = searched.indexOf(wanted); hit >= 0; hit = searched.indexOf(wanted, at)) {
    if (hit > at) pieces.push({ text: line.slice(at, hit), found: false });
    at = hit + wanted.length;
    pieces.push({ text: line.slice(hit, at), found: true });
  }
  if (at < line.length) pieces.push({ text: line.slice(at), found: false });
  return pieces;
}

/** Stands for the line that says how many are folded. */
export const FOLD = -1;

/** What is shown, row by row: the index of a line, or the fold. */
export function rowsOf(count: number, { fold }: Structure, open: boolean): number[] {
  const lines = Array.from({ length: count }, (_, index) => index);
  if (!fold) return lines;
  return [...lines.slice(0, fold.from), FOLD, ...lines.slice(open ? fold.from : fold.to)];
}

/** A log that comes in pieces. */
export interface StreamedLog {
  text: string;
  bytes: number;
}

const length = (text: string) => new TextEncoder().encode(text).length;

export const streamedLog = (text: string): StreamedLog => ({ text, bytes: length(text) });

/** The log with the news at its end; undefined when something between is missing. */
export function withNews(log: StreamedLog, { offset, text }: LogNews): StreamedLog | undefined {
  if (offset === 0) return streamedLog(text);
  if (offset > log.bytes) return undefined;
  if (offset === log.bytes) return { text: log.text + text, bytes: log.bytes + length(text) };
  // a stream that came back may repeat what is known
  return offset + length(text) <= log.bytes ? log : undefined;
}
