/** Colours for values: even in lightness, in order for every kind of sight, the same in light and dark. */
export type MapKind = 'sequential' | 'diverging';

const STOPS: Record<MapKind, readonly string[]> = {
  sequential: ['#443983', '#3b528b', '#2c728e', '#21918c', '#35b779', '#90d743', '#fde725'],
  diverging: ['#033e7d', '#1e6f9d', '#71a8c4', '#ece5e0', '#d39774', '#be6533', '#8b2706'],
};

const parts = (hex: string) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

export const stopsOf = (kind: MapKind): readonly string[] => STOPS[kind];

/** From 0 to 1; what lies beyond has the colour of the end. */
export function colourAt(kind: MapKind, part: number): string {
  const stops = STOPS[kind];
  const at = Math.min(Math.max(part, 0), 1) * (stops.length - 1);
  const index = Math.min(Math.floor(at), stops.length - 2);
  const [from, to] = [parts(stops[index]!), parts(stops[index + 1]!)];
  const mixed = from.map((value, channel) => Math.round(value + (to[channel]! - value) * (at - index)));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

export interface Legend {
  kind: MapKind;
  from: number;
  to: number;
  /** Whether values lie beyond the ends. */
  isCut: { below: boolean; above: boolean };
}

/** The share of the values at each end that the colours leave to the ends. */
const BEYOND = 0.01;

const at = (sorted: readonly number[], share: number) => sorted[Math.round((sorted.length - 1) * share)]!;

/** Ends at the 1st and 99th percentile; the middle of a diverging map is always zero. Undefined without values. */
export function legendOf(kind: MapKind, values: readonly number[]): Legend | undefined {
  const sorted = values.filter(Number.isFinite).sort((one, other) => one - other);
  if (sorted.length === 0) return undefined;
  const [low, high] = [at(sorted, BEYOND), at(sorted, 1 - BEYOND)];
  const reach = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const [from, to] = kind === 'diverging' ? [-reach, reach] : [low, high];
  return { kind, from, to, isCut: { below: sorted[0]! < from, above: sorted.at(-1)! > to } };
}

/** Between given ends, of values that reach from the lowest to the highest. */
export const legendBetween = ({ from, to, least, most }: Record<'from' | 'to' | 'least' | 'most', number>): Legend => ({
  kind: 'sequential',
  from,
  to,
  isCut: { below: least < from, above: most > to },
});

export const colourOf = ({ kind, from, to }: Legend, value: number): string =>
  colourAt(kind, from === to ? 0.5 : (value - from) / (to - from));
