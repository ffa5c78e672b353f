/** Which values a grey picture of the service should hold: bytes have 256 shades, so they are spent on what is looked at. */
import type { Limits } from '@service/contract/ome';

const width = ([low, high]: Limits) => high - low;

/** A picture with a range of three times the contrast still has enough shades. */
const ENOUGH = 3;
const MARGIN = 0.25;

function fits(own: Limits, range: Limits): boolean {
  const tiny = width(range) * 1e-6;
  return own[0] >= range[0] - tiny && own[1] <= range[1] + tiny && width(own) * ENOUGH >= width(range);
}

/**
 * The range to ask for: that of the plate, which others asked for before, unless the contrast of the reader needs another
 * one. `current` is what was read: it stays while it is good enough, so that moving a handle asks for nothing.
 */
export function rangeFor(own: Limits | undefined, told: Limits, current?: Limits): Limits {
  if (own === undefined || fits(own, told)) return told;
  if (current && fits(own, current)) return current;
  const margin = width(own) * MARGIN;
  return [own[0] - margin, own[1] + margin];
}

export const isSameRange = (one: Limits, other: Limits): boolean => {
  const tiny = Math.max(width(one), width(other)) * 1e-5;
  return Math.abs(one[0] - other[0]) <= tiny && Math.abs(one[1] - other[1]) <= tiny;
};
