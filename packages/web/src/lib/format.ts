/** Numbers, times and sizes as pages show them. */
import type { WorkflowTask } from '@service/contract';
import { plural } from '@service/contract/plural';

/** U+202F: a space that does not break, narrower than others. */
const THIN = '\u202f';

/** `1 536` */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+(?!\d))/g, THIN);

const MINUS = '\u2212';
const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function withPower(value: number): string {
  const power = Math.floor(Math.log10(Math.abs(value)) + 1e-9);
  const part = Number((value / 10 ** power).toPrecision(3));
  const digits = [...String(Math.abs(power))].map((digit) => SUPERSCRIPT[Number(digit)]).join('');
  return `${part === 1 ? '' : `${part}·`}10${power < 0 ? '⁻' : ''}${digits}`;
}

/** At most so many digits: `1 212.5`, `0.325`, `2·10⁷`. */
export function formatNumber(value: number, digits = 5): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'none' : value > 0 ? '∞' : `${MINUS}∞`;
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return withPower(value).replace('-', MINUS);
  const [whole, rest] = String(Number(size.toPrecision(digits))).split('.') as [string, string | undefined];
  return `${value < 0 ? MINUS : ''}${formatCount(Number(whole))}${rest === undefined ? '' : `.${rest}`}`;
}

/** What a pixel holds: a whole number with all its digits, another with so many. */
export const formatPixel = (value: number, digits: number): string =>
  Number.isInteger(value) ? formatCount(value) : formatNumber(value, digits);

/** `1 image`, `6 images` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${plural(count, one, many)}`;

const two = (value: number) => String(value).padStart(2, '0');

/** `42:18` under an hour, `1 h 06 min` above. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${hours} h ${two(minutes)} min` : `${minutes}:${two(whole % 60)}`;
}

/** `2.1 s`, `24 s`, `1:42`, for what often takes less than a minute. */
export function formatSeconds(seconds: number): string {
  const given = Math.max(0, seconds);
  if (given < 9.95) return `${given.toFixed(1)} s`;
  return given < 59.5 ? `${Math.round(given)} s` : formatDuration(given);
}

/** From one moment to another, or until now. Never below zero: the clock of the reader may be behind that of the service. */
export const secondsBetween = (from: string, to: string | number): number =>
  Math.max(0, ((typeof to === 'number' ? to : Date.parse(to)) - Date.parse(from)) / 1000);

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

function sized(bytes: number, step: 1000 | 1024): string {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= step;
    unit += 1;
  }
  const text = unit === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '');
  return `${text} ${UNITS[unit]}`;
}

/** `6.1 GB`; sizes of files count by thousands, as disks do. */
export const formatBytes = (bytes: number): string => sized(bytes, 1000);

/** `16 GB` for what a task asks as `16G`; memory counts by 1024, as schedulers do. */
export const formatMemory = (bytes: number): string => sized(bytes, 1024);

/** Date and time in the reader's own zone and language. */
export const formatTime = (timestamp: string): string =>
  new Date(timestamp).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** `today 14:55`, `yesterday 14:55`, `Nov 3, 14:55`; with the year where it is another one, and without the time then. */
export function formatWhen(timestamp: string, now = Date.now()): string {
  const [then, today] = [new Date(timestamp), new Date(now)];
  const time = then.toLocaleTimeString(undefined, { timeStyle: 'short' });
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (then.toDateString() === today.toDateString()) return `today ${time}`;
  if (then.toDateString() === yesterday.toDateString()) return `yesterday ${time}`;
  const day = { month: 'short', day: 'numeric' } as const;
  if (then.getFullYear() === today.getFullYear()) return `${then.toLocaleDateString(undefined, day)}, ${time}`;
  return then.toLocaleDateString(undefined, { ...day, year: 'numeric' });
}

const STEPS: [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [86_400 * 365, 'year'],
  [86_400 * 30, 'month'],
  [86_400 * 7, 'week'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** `3 hours ago` */
export function formatAgo(timestamp: string, now = Date.now()): string {
  const seconds = (now - Date.parse(timestamp)) / 1000;
  const step = STEPS.find(([size]) => seconds >= size);
  if (!step) return 'just now';
  const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  return words.format(-Math.floor(seconds / step[0]), step[1]);
}

/** Two letters for an avatar: `m.keller@…` is MK. */
export function initials(email: string): string {
  const parts = shortName(email)
    .split(/[._-]+/)
    .filter((part) => part !== '');
  const letters = parts.length > 1 ? parts[0]![0]! + parts.at(-1)![0]! : (parts[0] ?? '?').slice(0, 2);
  return letters.toUpperCase();
}

/** A task of a workflow, in words. */

/** Its own label here, else the name of the task. */
export const nameOf = ({ alias, task }: Pick<WorkflowTask, 'alias'> & { task: { name: string } }): string =>
  alias ?? task.name;

/** How people call each other: the part before the @. */
export const shortName = (email: string): string => email.split('@')[0]!;

/** `this task`, `tasks 2 and 4`, for sentences about several. */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
