/**
 * What an existing server answers: the API's description, written a second time and without the import, so that the two can
 * be compared.
 */
import type { Caller } from './old.ts';

/** A request that only reads, and what has to come back. */
export interface Read {
  path: string;
  /** Sent with POST. */
  body?: object;
  status: number;
  /** More keys than these are fine, except where a value is `exactly` something. */
  answer?: unknown;
}

/** A value that was stored: no key more, none less. */
export class Exactly {
  readonly value: unknown;
  constructor(value: unknown) {
    this.value = value;
  }
}
export const exactly = (value: unknown) => new Exactly(value);

/** A list whose order nobody promises. */
export class AnyOrder {
  readonly items: unknown[];
  constructor(items: unknown[]) {
    this.items = items;
  }
}
export const anyOrder = (items: unknown[]) => new AnyOrder(items);

/** Some text. */
export const SOME_TEXT = Symbol('some text');

export const page = (items: unknown[], more: object = {}) => ({
  current_page: 1,
  page_size: items.length,
  total_count: items.length,
  items,
  ...more,
});

/** What keeps a caller from operations that read projects and tasks, or nothing. */
export function refusalOf({ is_active, is_verified, profile_id }: Caller): number | undefined {
  if (!is_active) return 401;
  return is_verified && profile_id !== null ? undefined : 403;
}

export function adminRefusalOf({ is_active, is_superuser }: Caller): number | undefined {
  if (!is_active) return 401;
  return is_superuser ? undefined : 403;
}

/** Paths with one answer for who is refused, whatever they would have said. */
export const refused = (paths: string[], status: number): Read[] => paths.map((path) => ({ path, status }));
