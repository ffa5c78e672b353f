/** The presets of a reader for a dataset, as a component uses them. */
import type { ChannelSetting } from '../pixels/settings.ts';
import { keep, keptChannels, type Preset, readKept, type Shelf, withoutPreset, withPreset } from './kept.ts';

export interface Presets {
  readonly list: readonly Preset[];
  save: (name: string, settings: readonly ChannelSetting[], channels: readonly { name: string }[]) => void;
  remove: (name: string) => void;
}

export function createPresets(shelf: Shelf): Presets {
  let list = $state.raw(readKept(shelf).presets);
  const set = (next: Preset[]) => {
    list = next;
    keep(shelf, { presets: next });
  };
  return {
    get list() {
      return list;
    },
    save: (name, settings, channels) => set(withPreset(list, { name, channels: keptChannels(settings, channels) })),
    remove: (name) => set(withoutPreset(list, name)),
  };
}
