/**
 * Equal errors are one row with a count: a task that fails on six images for one reason has one thing to say.
 *
 *     equalErrors(units, (unit) => ({ ...unit, run: unit.history_run_id })) // [{ error: 'ValueError: no channel', items: […] }]
 */
import type { Cause } from '@service/contract';

/** What is known of something that failed. */
export interface Failed {
  run: number | undefined;
  cause: Cause | null;
  signal: number | null;
  message: string | null;
  zarr_urls: readonly string[];
}

export interface EqualErrors<Item> {
  key: string;
  /** `ValueError: no channel`; empty where nothing is known. */
  error: string;
  items: [Item, ...Item[]];
}

/** The first line of what is known about a failure, which names the error. */
export function errorOf(message: string | null | undefined): string {
  const lines = (message ?? '').split('\n').map((line) => line.trim());
  return lines.find((line) => line !== '') ?? '';
}

/** Where the path of an image stands in it, it is the same error for another image. */
const sameWords = (zarr_urls: readonly string[], error: string): string =>
  zarr_urls.length === 1 ? error.replaceAll(zarr_urls[0]!, '…') : error;

/** One entry for all of a run with the same error, in the order of their first ones; what did not fail stays by itself. */
export function equalErrors<Item>(
  items: readonly Item[],
  failedOf: (item: Item) => Failed | undefined,
): EqualErrors<Item>[] {
  const found = new Map<string, EqualErrors<Item>>();
  for (const [index, item] of items.entries()) {
    const failed = failedOf(item);
    const error = failed ? sameWords(failed.zarr_urls, errorOf(failed.message)) : '';
    const key = failed ? JSON.stringify([failed.run, failed.cause, failed.signal, error]) : String(index);
    const before = found.get(key);
    if (before) before.items.push(item);
    else found.set(key, { key, error, items: [item] });
  }
  return [...found.values()];
}

/** A line of a list: equal errors, or one by itself. */
export interface Line<Item> {
  item: Item;
  /** Undefined for a line of one. */
  equal?: EqualErrors<Item>;
  isOpen: boolean;
  /** Below its equal errors. */
  inner: boolean;
}

const single = <Item>(item: Item, inner: boolean): Line<Item> => ({ item, isOpen: false, inner });

export const linesOf = <Item>(
  groups: readonly EqualErrors<Item>[],
  isOpen: (equal: EqualErrors<Item>) => boolean,
): Line<Item>[] =>
  groups.flatMap((equal) => {
    if (equal.items.length === 1) return [single(equal.items[0], false)];
    const head = { item: equal.items[0], equal, isOpen: isOpen(equal), inner: false };
    return head.isOpen ? [head, ...equal.items.map((item) => single(item, true))] : [head];
  });
