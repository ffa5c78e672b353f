/** What was used, by day or week and by person. */
import type { AccountingRecord } from '@service/contract';
import { csvOf } from '@service/contract/csv';

import { momentIn, wholeOf } from '../ui/asked.ts';

export interface AccountingFilters {
  user_id?: number | undefined;
  timestamp_min?: string | undefined;
  timestamp_max?: string | undefined;
}

export const accountingFilters = (search: URLSearchParams): AccountingFilters => ({
  user_id: wholeOf(search, 'user_id'),
  timestamp_min: momentIn(search, 'timestamp_min'),
  timestamp_max: momentIn(search, 'timestamp_max'),
});

type Counts = Pick<AccountingRecord, 'num_tasks' | 'num_new_images'>;
type Dated = Counts & Pick<AccountingRecord, 'timestamp' | 'user_id'>;

export interface Period extends Counts {
  /** Its first moment, in the reader's own zone. */
  start: Date;
}

export type PeriodLength = 'day' | 'week';

/** Longer than this many days, weeks are shown. */
const MOST_DAYS = 62;
const MOST_PERIODS = 400;

/** Midnight of a day, or of the Monday before it. */
export function startOf(time: Date, length: PeriodLength): Date {
  const day = new Date(time.getFullYear(), time.getMonth(), time.getDate());
  if (length === 'week') day.setDate(day.getDate() - ((day.getDay() + 6) % 7));
  return day;
}

function after(start: Date, length: PeriodLength): Date {
  const next = new Date(start);
  next.setDate(next.getDate() + (length === 'week' ? 7 : 1));
  return next;
}

const DAY_MS = 86_400_000;

export function suitableLength(records: readonly Pick<Dated, 'timestamp'>[]): PeriodLength {
  const times = records.map(({ timestamp }) => Date.parse(timestamp));
  if (times.length === 0) return 'day';
  const days = (times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b))) / DAY_MS;
  return days > MOST_DAYS ? 'week' : 'day';
}

/** From the first record to the last, also the periods in which nothing ran. */
export function periodsOf(records: readonly Dated[], length: PeriodLength): Period[] {
  const sums = new Map<number, Counts>();
  for (const { timestamp, num_tasks, num_new_images } of records) {
    const key = startOf(new Date(timestamp), length).getTime();
    const sum = sums.get(key) ?? { num_tasks: 0, num_new_images: 0 };
    sums.set(key, { num_tasks: sum.num_tasks + num_tasks, num_new_images: sum.num_new_images + num_new_images });
  }
  const keys = [...sums.keys()].sort((a, b) => a - b);
  const [first, last] = [keys[0], keys.at(-1)];
  const periods: Period[] = [];
  if (first === undefined || last === undefined) return periods;
  for (let start = new Date(first); start.getTime() <= last; start = after(start, length))
    periods.push({ start, ...(sums.get(start.getTime()) ?? { num_tasks: 0, num_new_images: 0 }) });
  return periods.slice(-MOST_PERIODS);
}

export interface PersonUse extends Counts {
  user_id: number;
  records: number;
}

/** Who used most first. */
export function peopleUse(records: readonly Dated[]): PersonUse[] {
  const sums = new Map<number, PersonUse>();
  for (const { user_id, num_tasks, num_new_images } of records) {
    const sum = sums.get(user_id) ?? { user_id, num_tasks: 0, num_new_images: 0, records: 0 };
    sums.set(user_id, {
      user_id,
      num_tasks: sum.num_tasks + num_tasks,
      num_new_images: sum.num_new_images + num_new_images,
      records: sum.records + 1,
    });
  }
  return [...sums.values()].sort((a, b) => b.num_tasks - a.num_tasks || a.user_id - b.user_id);
}

export const accountingCsv = (records: readonly AccountingRecord[], nameOf: (user: number) => string): string =>
  csvOf(
    ['id', 'user_id', 'user_email', 'timestamp', 'num_tasks', 'num_new_images'],
    records.map(({ id, user_id, timestamp, num_tasks, num_new_images }) => [
      id,
      user_id,
      nameOf(user_id),
      timestamp,
      num_tasks,
      num_new_images,
    ]),
  );

/** A round number at or above the highest value, for the top of a chart. */
export function roundTop(value: number): number {
  if (value <= 5) return Math.max(1, Math.ceil(value));
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * power).find((top) => top >= value)!;
}
