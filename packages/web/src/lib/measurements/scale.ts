/**
 * Axes: from values to places and back, and round values to write beside them.
 *
 *     const scale = scaleFor('linear', 12, 4870);   // from 0 to 5 000, a little room on both sides
 *     place(scale, 2500)                            // 0.5, in parts of the axis
 *     ticksOf(scale)                                // [0, 1000, 2000, 3000, 4000, 5000]
 */
export const SCALE_KINDS = ['linear', 'log'] as const;
export type ScaleKind = (typeof SCALE_KINDS)[number];

export interface Scale {
  kind: ScaleKind;
  from: number;
  to: number;
}

/** Of the axis, left free at each end. */
const ROOM = 0.03;
const LEAST_PART = 1e-9;
const LEAST_SIZE = 1e-300;

/** Where lines that are straight on the screen are straight too. */
export const flat = (kind: ScaleKind, value: number): number => (kind === 'log' ? Math.log10(value) : value);
const unflat = (kind: ScaleKind, value: number): number => (kind === 'log' ? 10 ** value : value);

/** A logarithm shows what is above zero; where nothing is, the axis is that of a single value. */
export function scaleFor(kind: ScaleKind, least: number, most: number): Scale {
  const isEmpty = !Number.isFinite(least) || !Number.isFinite(most) || (kind === 'log' && most <= 0);
  const [low, high] = isEmpty ? [kind === 'log' ? 1 : 0, kind === 'log' ? 10 : 1] : [least, most];
  const [from, to] = [flat(kind, low), flat(kind, high)];
  // so near that numbers between them can hardly be written
  const size = Math.max(Math.abs(from), Math.abs(to));
  const isOne = to - from <= size * LEAST_PART || size < LEAST_SIZE;
  const room = isOne ? (size < LEAST_SIZE ? 1 : size * 0.1) : (to - from) * ROOM;
  // amounts have no room below zero
  const start = kind === 'linear' && low >= 0 ? Math.max(0, from - room) : from - room;
  return { kind, from: unflat(kind, start), to: unflat(kind, to + room) };
}

/** In parts of the axis; beyond 0 and 1 for what lies outside, NaN for what has no place. */
export const place = ({ kind, from, to }: Scale, value: number): number =>
  (flat(kind, value) - flat(kind, from)) / (flat(kind, to) - flat(kind, from));

export const valueAt = ({ kind, from, to }: Scale, part: number): number =>
  unflat(kind, flat(kind, from) + part * (flat(kind, to) - flat(kind, from)));

/** Without the dust of calculating: 0.30000000000000004 is 0.3. */
const clean = (value: number) => Number(value.toPrecision(13));

const ROUND = [1, 2, 2.5, 5];

function ticksBy(step: number, { from, to }: Scale): number[] {
  const [first, last] = [Math.ceil(from / step - 1e-9), Math.floor(to / step + 1e-9)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => clean((first + at) * step));
}

/** As many as there may be, at the smallest round step. */
function linearTicks(scale: Scale, most: number): number[] {
  const power = 10 ** Math.floor(Math.log10((scale.to - scale.from) / most));
  const steps = [power, 10 * power].flatMap((one) => ROUND.map((part) => part * one));
  const fitting = steps.map((step) => ticksBy(step, scale)).find((ticks) => ticks.length <= most);
  return fitting ?? [];
}

function logTicks(scale: Scale, most: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(scale.from) - 1e-9), Math.floor(Math.log10(scale.to) + 1e-9)];
  const decades = last - first + 1;
  if (decades >= 3) {
    const every = Math.ceil(decades / most);
    return Array.from({ length: Math.ceil(decades / every) }, (_, at) => 10 ** (first + at * every));
  }
  const parts = Array.from({ length: decades + 1 }, (_, at) => first - 1 + at).flatMap((power) =>
    [1, 2, 5].map((part) => part * 10 ** power),
  );
  const inside = parts.filter((value) => value >= scale.from && value <= scale.to).map(clean);
  // a part of a decade has room for other steps
  return inside.length < 2 ? linearTicks(scale, most) : inside;
}

/** Round values that lie on the axis, mostly four to six. */
export const ticksOf = (scale: Scale, most = 6): number[] =>
  scale.kind === 'log' ? logTicks(scale, most) : linearTicks(scale, most);
