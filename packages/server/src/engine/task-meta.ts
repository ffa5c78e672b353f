/** The configuration (`meta_parallel`, `meta_non_parallel`) of a workflow task, made from that of its task. */
import { type JsonObject, NumberAsWritten } from '@service/contract';

/** Of a new workflow task: the task's own, key by key overruled by what was given; null when nothing is left. */
export function metaOnInsertion(ofTask: JsonObject | null, given: JsonObject | null): JsonObject | null {
  const meta = { ...ofTask, ...given };
  return Object.keys(meta).length === 0 ? null : meta;
}

type WrittenNumber = number | NumberAsWritten;
const isNumber = (value: unknown): value is WrittenNumber =>
  typeof value === 'number' || value instanceof NumberAsWritten;

/** `1`, `1.0` and `1e0` are one number; integers beyond 2^53 are told apart. */
function canonical(number: WrittenNumber): string {
  const source = number instanceof NumberAsWritten ? number.source : String(number);
  return /^-?\d+$/.test(source) ? BigInt(source).toString() : String(Number(source));
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two JSON values say the same. */
export function sameJson(one: unknown, other: unknown): boolean {
  if (isNumber(one) && isNumber(other)) return canonical(one) === canonical(other);
  if (isNumber(one) || isNumber(other)) return false;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => sameJson(item, other[index]));
  }
  if (isObject(one) && isObject(other)) {
    const keys = Object.keys(one);
    return (
      keys.length === Object.keys(other).length &&
      keys.every((key) => Object.hasOwn(other, key) && sameJson(one[key], other[key]))
    );
  }
  return one === other;
}

interface Replacement {
  before: JsonObject | null;
  stored: JsonObject | null;
  after: JsonObject | null;
}

/**
 * When another task takes the place: the new task's own (`after`), with what somebody changed (`stored`) or removed
 * against the old task's own (`before`).
 */
export function metaOnReplacement({ before, stored, after }: Replacement): JsonObject | null {
  if (before === null) return stored;
  if (stored === null) return after;
  const changed = Object.entries(stored).filter(
    ([key, value]) => !(Object.hasOwn(before, key) && sameJson(before[key], value)),
  );
  const removed = new Set(Object.keys(before).filter((key) => !Object.hasOwn(stored, key)));
  const meta = { ...after, ...Object.fromEntries(changed) };
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !removed.has(key)));
}
