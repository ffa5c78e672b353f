/**
 * The contrast and colours that a reader chose, kept in the browser for each person and dataset, by the names of channels:
 * the next image of the dataset looks alike. Choices can be kept under a name, as presets.
 */
import type { ChannelFacts } from '../pixels/facts.ts';
import { type ChannelSetting, hexOf, type LabelSetting, readHex } from '../pixels/settings.ts';

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>;
type Named = Pick<ChannelFacts, 'name'>;

interface KeptChannel {
  shown: boolean;
  colour: string;
  limits: [number, number] | null;
}

type KeptChannels = Record<string, KeptChannel>;

export interface Preset {
  name: string;
  channels: KeptChannels;
}

export interface Kept {
  channels: KeptChannels;
  labels: Pick<LabelSetting, 'look' | 'strength' | 'random' | 'shown'> | undefined;
  presets: Preset[];
}

export const NOTHING_KEPT: Kept = { channels: {}, labels: undefined, presets: [] };

/** Whose choice, of which dataset, and where it is kept. */
export interface Shelf {
  storage: Storage;
  person: string;
  dataset: number;
}

const keyOf = ({ person, dataset }: Shelf) => `viewer:${encodeURIComponent(person)}:${dataset}`;

export function readKept(shelf: Shelf): Kept {
  try {
    const text = shelf.storage.getItem(keyOf(shelf));
    return text === null ? NOTHING_KEPT : { ...NOTHING_KEPT, ...(JSON.parse(text) as Partial<Kept>) };
  } catch {
    return NOTHING_KEPT;
  }
}

/** Over what was kept before. A browser without room keeps nothing, which costs a click. */
export function keep(shelf: Shelf, change: Partial<Kept>): void {
  try {
    shelf.storage.setItem(keyOf(shelf), JSON.stringify({ ...readKept(shelf), ...change }));
  } catch {
    // nothing depends on it
  }
}

/** Presets stay: somebody gave them a name. */
export const forget = (shelf: Shelf): void => keep(shelf, { ...NOTHING_KEPT, presets: readKept(shelf).presets });

export function withKept(
  settings: readonly ChannelSetting[],
  channels: readonly Named[],
  kept: KeptChannels,
): ChannelSetting[] {
  return settings.map((setting, at) => {
    const { name } = channels[at]!;
    const mine = Object.hasOwn(kept, name) ? kept[name]! : undefined;
    if (!mine) return setting;
    return {
      shown: mine.shown,
      colour: readHex(mine.colour) ?? setting.colour,
      limits: mine.limits ?? setting.limits,
    };
  });
}

export const keptChannels = (settings: readonly ChannelSetting[], channels: readonly Named[]): KeptChannels =>
  Object.fromEntries(
    settings.map(({ shown, colour, limits }, at) => [
      channels[at]!.name,
      { shown, colour: hexOf(colour), limits: limits ? [limits[0], limits[1]] : null },
    ]),
  );

export const keptLabels = ({ look, strength, random, shown }: LabelSetting): Kept['labels'] => ({
  look,
  strength,
  random,
  shown,
});

const MOST_PRESETS = 30;
const byName = new Intl.Collator('en', { numeric: true });

/** One of the same name is replaced. */
export function withPreset(presets: readonly Preset[], preset: Preset): Preset[] {
  const others = withoutPreset(presets, preset.name);
  return [...others.slice(0, MOST_PRESETS - 1), preset].sort((one, other) => byName.compare(one.name, other.name));
}

export const withoutPreset = (presets: readonly Preset[], name: string): Preset[] =>
  presets.filter((one) => one.name !== name);
