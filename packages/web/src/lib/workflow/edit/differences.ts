/**
 * What differs between two JSON values, place by place. The order of keys does not count; numbers count as they are written.
 *
 *     differences({ a: 1, b: { c: 2 } }, { b: { c: 3 }, d: 4 })
 *     // a removed 1, b › c changed 2 → 3, d added 4
 */
import { isObject, sameJson, writeJson } from '#lib/json.ts';

export interface Difference {
  /** `b › c`; empty for the whole value. */
  path: string;
  kind: 'added' | 'removed' | 'changed';
  before?: unknown;
  after?: unknown;
}

const below = (path: string, key: string | number) => (path === '' ? String(key) : `${path} › ${key}`);

export function differences(before: unknown, after: unknown, path = ''): Difference[] {
  if (sameJson(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => {
      const place = below(path, key);
      if (!Object.hasOwn(after, key)) return [{ path: place, kind: 'removed' as const, before: before[key] }];
      if (!Object.hasOwn(before, key)) return [{ path: place, kind: 'added' as const, after: after[key] }];
      return differences(before[key], after[key], place);
    });
  }
  // lists of different length have no places that belong together
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item, index) => differences(item, after[index], below(path, index + 1)));
  }
  return [{ path, kind: 'changed', before, after }];
}

/** A value in one line; long ones are cut. */
export function valueText(value: unknown, most = 120): string {
  const text = writeJson(value);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
