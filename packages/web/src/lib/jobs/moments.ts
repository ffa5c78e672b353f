/** Moments that people enter as a day and an optional time of theirs, and that the service gets in UTC. */
import { textOf } from '../admin/query.ts';

const two = (value: number) => String(value).padStart(2, '0');

/** `2026-11-09` and `08:30` in the reader's own zone. */
export function partsOf(iso: string | undefined): { day: string; time: string } {
  const date = iso === undefined ? undefined : new Date(iso);
  if (date === undefined || Number.isNaN(date.getTime())) return { day: '', time: '' };
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return { day, time: time === '00:00' ? '' : time };
}

/** Without a time the beginning of the day; without a day nothing. */
export function momentOf(day: string, time: string): string | undefined {
  if (day === '') return undefined;
  const date = new Date(`${day}T${time === '' ? '00:00' : time}`);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A moment in the address that is none asks for nothing. */
export function momentIn(search: URLSearchParams, key: string): string | undefined {
  const text = textOf(search, key);
  return text === undefined || Number.isNaN(Date.parse(text)) ? undefined : text;
}
