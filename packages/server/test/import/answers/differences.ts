/** Where an answer is not the expected one: a line for each place, at most a few. */
import { AnyOrder, Exactly, SOME_TEXT } from './expected.ts';

const SHOWN = 300;
const shown = (value: unknown) => (JSON.stringify(value) ?? String(value)).slice(0, SHOWN);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** For lists without an order: what of an object tells it from others. */
const keyOf = (value: unknown): string => {
  if (!isObject(value)) return JSON.stringify(value);
  return 'id' in value ? String(value['id']) : JSON.stringify(Object.entries(value).sort());
};
const inOneOrder = (items: unknown[]) =>
  [...items].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : keyOf(one) > keyOf(other) ? 1 : 0));

function differencesOfLists(expected: unknown[], got: unknown, at: string, exact: boolean): string[] {
  if (!Array.isArray(got)) return [`${at}: no list but ${shown(got)}`];
  if (expected.length !== got.length) return [`${at}: ${got.length} instead of ${expected.length}: ${shown(got)}`];
  return expected.flatMap((one, index) => differences(one, got[index], `${at}[${index}]`, exact));
}

export function differences(expected: unknown, got: unknown, at = '', exact = false): string[] {
  if (expected instanceof Exactly) return differences(expected.value, got, at, true);
  if (expected === SOME_TEXT) return typeof got === 'string' ? [] : [`${at}: no text but ${shown(got)}`];
  if (expected instanceof AnyOrder)
    return differencesOfLists(inOneOrder(expected.items), Array.isArray(got) ? inOneOrder(got) : got, at, exact);
  if (Array.isArray(expected)) return differencesOfLists(expected, got, at, exact);
  if (isObject(expected) && isObject(got)) {
    const names = Object.keys(exact ? { ...expected, ...got } : expected);
    return names.flatMap((name) =>
      name in got || (name in expected && expected[name] === undefined)
        ? differences(expected[name], got[name], `${at}.${name}`, exact)
        : [`${at}.${name}: missing`],
    );
  }
  return Object.is(expected, got) ? [] : [`${at}: ${shown(got)} instead of ${shown(expected)}`];
}
