/** The contrast of one well, from the picture of its plate. */
import { type Limits, percentiles } from '@service/contract/ome';

import { valueAt } from '../../pixels/facts.ts';
import type { DrawnPlate } from './picture.ts';

/** Of each channel that is drawn. Pixels without an image are black, and are not counted. */
export function wellLimits({ info, tileOf }: DrawnPlate, { row, column }: { row: number; column: number }) {
  return info.channels.map((_, channel): Limits | undefined => {
    const tile = tileOf(channel);
    if (!tile) return undefined;
    const cell = Math.floor(tile.width / info.columns.length);
    const values: number[] = [];
    for (let y = row * cell; y < (row + 1) * cell; y++) {
      for (let x = column * cell; x < (column + 1) * cell; x++) values.push(valueAt(tile, x, y));
    }
    const seen = values.filter((value) => value > tile.range![0]);
    return seen.length === 0 ? undefined : percentiles([Float32Array.from(seen)]);
  });
}
