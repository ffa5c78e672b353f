/** The value of an attribute in each well, and its colour on a scale. */
import { ownOf } from '../../json.ts';
import { valueWords } from '../filters.ts';
import type { Well } from './plate.ts';

export interface WellValue {
  /** The value that all images have, or the mean of numbers; undefined where texts differ. */
  value: number | string | undefined;
  /** The different values, where there are several, in order. */
  several: string[];
}

const inOrder = new Intl.Collator('en', { numeric: true });

/** Undefined where no image of the well has a value. */
export function wellValue({ groups }: Pick<Well, 'groups'>, key: string): WellValue | undefined {
  const given = groups.flatMap(({ values, num_images }) => {
    const value = ownOf(values, key);
    return value === undefined ? [] : [{ value, count: num_images }];
  });
  if (given.length === 0) return undefined;
  const words = [...new Set(given.map(({ value }) => valueWords(value)))].sort(inOrder.compare);
  const several = words.length > 1 ? words : [];
  const numbers = given.map(({ value }) => asNumber(value));
  if (!numbers.every(Number.isFinite)) return { value: several.length > 0 ? undefined : words[0], several };
  const sum = given.reduce((total, { count }, at) => total + numbers[at]! * count, 0);
  return { value: sum / given.reduce((total, { count }) => total + count, 0), several };
}

const asNumber = (value: unknown): number =>
  typeof value === 'string' || typeof value === 'boolean' ? NaN : Number(valueWords(value));

export const COLOURS = ['v0', 'v1', 'v2', 'v3', 'v4', 'v5', 'v6'] as const;
export type Colour = (typeof COLOURS)[number];

/** A colour of its own, `#2c728e`. */
export interface Fill {
  fill: string;
}

export type Scale =
  /** `means`: some wells show the mean of several values. */
  | { kind: 'numbers'; least: number; most: number; means: boolean }
  | { kind: 'words'; values: { value: string; colour: Colour }[] }
  | { kind: 'nothing' };

/** Few categories lie far apart on the scale. */
const APART = [0, 4, 2, 6, 1, 3, 5];

function colourOfCategory(index: number, count: number): Colour {
  if (count <= COLOURS.length) return COLOURS[[...APART.slice(0, count)].sort((one, other) => one - other)[index]!]!;
  return COLOURS[Math.floor((index / (count - 1)) * (COLOURS.length - 1))]!;
}

function scaleOver(values: readonly (number | string)[], means: boolean): Scale {
  if (values.length === 0) return { kind: 'nothing' };
  if (values.every((value) => typeof value === 'number')) {
    const least = values.reduce((one, other) => Math.min(one, other));
    return { kind: 'numbers', least, most: values.reduce((one, other) => Math.max(one, other)), means };
  }
  const words = [...new Set(values.map(String))].sort(inOrder.compare);
  return {
    kind: 'words',
    values: words.map((value, index) => ({ value, colour: colourOfCategory(index, words.length) })),
  };
}

/** Of these wells; or, with the values of all plates, one that is the same for each of them. */
export function scaleOf(wells: Iterable<Well>, key: string, ofAllPlates?: readonly unknown[]): Scale {
  const found = [...wells].flatMap((well) => wellValue(well, key) ?? []);
  const means = found.some(({ value, several }) => typeof value === 'number' && several.length > 0);
  if (ofAllPlates === undefined) {
    return scaleOver(
      // where texts differ in every well, they are told all the same
      found.flatMap(({ value, several }) => (value === undefined ? several : [value])),
      means,
    );
  }
  const numbers = ofAllPlates.map(asNumber);
  return scaleOver(numbers.every(Number.isFinite) ? numbers : ofAllPlates.map(valueWords), means);
}

/** `mixed` for wells whose images have several texts. */
export function colourOf(scale: Scale, value: WellValue | undefined): Colour | 'mixed' | undefined {
  if (value === undefined || scale.kind === 'nothing') return undefined;
  if (value.value === undefined) return 'mixed';
  if (scale.kind === 'words') return scale.values.find((one) => one.value === String(value.value))?.colour;
  const range = scale.most - scale.least;
  const part = range === 0 ? 0.5 : (Number(value.value) - scale.least) / range;
  return COLOURS[Math.min(COLOURS.length - 1, Math.max(0, Math.floor(part * COLOURS.length)))];
}
