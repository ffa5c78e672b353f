/** Units of a run, in words. */
import type { HistoryUnit } from '@service/contract';

import { relativePath } from '../images/filters.ts';
import { counted } from '../format.ts';
import { causeWords, type State } from '../ui/status.ts';

type UnitLike = Pick<
  HistoryUnit,
  'status' | 'cause' | 'signal' | 'has_warnings' | 'num_warnings' | 'timestamp_started'
>;

export function unitState(unit: UnitLike): State {
  if (unit.status === 'failed')
    return { look: unit.cause === 'stopped' ? 'stopped' : 'failed', word: causeWords(unit.cause, unit.signal) };
  if (unit.status === 'submitted')
    return unit.timestamp_started === null
      ? { look: 'waiting', word: 'Waiting' }
      : { look: 'running', word: 'Running' };
  if (!unit.has_warnings) return { look: 'done', word: 'Done' };
  return {
    look: 'warning',
    word: `Done, ${unit.num_warnings > 0 ? counted(unit.num_warnings, 'warning') : 'with warnings'}`,
  };
}

export function unitTitle(unit: Pick<HistoryUnit, 'id' | 'zarr_urls' | 'is_init'>, zarrDir: string): string {
  if (unit.is_init) return 'the initialisation';
  if (unit.zarr_urls.length === 1) return relativePath(unit.zarr_urls[0]!, zarrDir);
  return unit.zarr_urls.length === 0 ? `unit ${unit.id}` : counted(unit.zarr_urls.length, 'image');
}
