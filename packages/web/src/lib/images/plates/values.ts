/** The value of an attribute in each well, and its colour on a scale. */
import { ownOf } from '../../json.ts';
import { valueWords } from '../filters.ts';
import type { Well } from './plate.ts';

/** Mean of numbers; of texts the one that all images have, or nothing when they differ. */
export function wellValue({ groups }: Pick<Well, 'groups'>, key: string): number | string | undefined {
  const given = groups.flatMap(({ values, num_images }) => {
    const value = ownOf(values, key);
    return value === undefined ? [] : [{ value, count: num_images }];
  });
  if (given.length === 0) return undefined;
  const numbers = given.map(({ value }) => asNumber(value));
  if (numbers.every(Number.isFinite)) {
    const sum = given.reduce((total, { count }, at) => total + numbers[at]! * count, 0);
    return sum / given.reduce((total, { count }) => total + count, 0);
  }
  const words = new Set(given.map(({ value }) => valueWords(value)));
  return words.size === 1 ? [...words][0] : undefined;
}

const asNumber = (value: unknown): number =>
  typeof value === 'string' || typeof value === 'boolean' ? NaN : Number(valueWords(value));

export const COLOURS = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6'] as const;
export type Colour = (typeof COLOURS)[number];

export type Scale =
  | { kind: 'numbers'; least: number; most: number }
  | { kind: 'words'; values: { value: string; colour: Colour }[] }
  | { kind: 'nothing' };

/** Few categories lie far apart on the scale. */
const APART = [0, 4, 2, 6, 1, 3, 5];

function colourOfCategory(index: number, count: number): Colour {
  if (count <= COLOURS.length) return COLOURS[[...APART.slice(0, count)].sort((one, other) => one - other)[index]!]!;
  return COLOURS[Math.floor((index / (count - 1)) * (COLOURS.length - 1))]!;
}

export function scaleOf(wells: Iterable<Well>, key: string): Scale {
  const values = [...wells].flatMap((well) => wellValue(well, key) ?? []);
  const numbers = values.filter((value) => typeof value === 'number');
  if (values.length === 0) return { kind: 'nothing' };
  if (numbers.length === values.length)
    return { kind: 'numbers', least: Math.min(...numbers), most: Math.max(...numbers) };
  const words = [...new Set(values.map(String))].sort((one, other) =>
    one.localeCompare(other, 'en', { numeric: true }),
  );
  return {
    kind: 'words',
    values: words.map((value, index) => ({ value, colour: colourOfCategory(index, words.length) })),
  };
}

export function colourOf(scale: Scale, value: number | string | undefined): Colour | undefined {
  if (value === undefined || scale.kind === 'nothing') return undefined;
  if (scale.kind === 'words') return scale.values.find((one) => one.value === String(value))?.colour;
  const range = scale.most - scale.least;
  const part = range === 0 ? 0.5 : (Number(value) - scale.least) / range;
  return COLOURS[Math.min(COLOURS.length - 1, Math.floor(part * COLOURS.length))];
}

/** Five digits at most: `1 212.5`, `0.325`. */
export const shortNumber = (value: number): string => String(Number(value.toPrecision(5)));
