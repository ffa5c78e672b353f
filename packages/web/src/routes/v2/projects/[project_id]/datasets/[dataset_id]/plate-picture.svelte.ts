/** The picture of the plate that is shown: what is known about it, how it looks, and whether it is what the map shows. */
import type { Limits } from '@service/contract/ome';

import { call, type DatasetIds } from '#lib/api/client.ts';
import { createAnswer } from '#lib/images/answer.svelte.ts';
import { type DrawnPlate, hasPicture } from '#lib/images/plates/picture.ts';
import {
  type ChannelSetting,
  type LabelSetting,
  newLabels,
  type PlateLook,
  readHex,
  settingsOf,
} from '#lib/pixels/settings.ts';
import {
  keep,
  type Kept,
  keptChannels,
  NOTHING_KEPT,
  type Preset,
  readKept,
  type Shelf,
  withKept,
} from '#lib/viewer/kept.ts';
import { createPresets } from '#lib/viewer/presets.svelte.ts';

export type Show = 'picture' | 'status' | 'attribute' | 'measurement';

interface Question {
  ids: DatasetIds;
  plate: string;
  version: number;
}

/** Nothing is kept while the page is made on the server. */
const NO_STORAGE = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };

export type PlatePicture = ReturnType<typeof createPlatePicture>;

/** `person`: whose colours and contrast. */
export function createPlatePicture(person: string, dataset: number, question: () => Question | undefined) {
  const answer = createAnswer(question, ({ ids, plate }, options) =>
    call('projects.getPlatePictureInfo', { params: ids, query: { plate } }, options),
  );
  const info = $derived(hasPicture(answer.value) ? answer.value : undefined);
  const shelf: Shelf = { storage: typeof localStorage === 'undefined' ? NO_STORAGE : localStorage, person, dataset };
  const presets = createPresets(shelf);
  /** What the reader chose, by the names of channels: the next plate looks alike. */
  let chosen = $state.raw<Kept['channels']>(readKept(shelf).channels);
  let labels = $state.raw<LabelSetting>({ ...newLabels(undefined), shown: false });
  let isMax = $state(true);
  let problem = $state<string>();
  let drawn = $state.raw<DrawnPlate>();

  const channels = $derived(
    (info?.channels ?? []).map(({ name, color, visible, low, high }) => ({
      name,
      colour: readHex(color) ?? ([255, 255, 255] as const),
      shown: visible,
      limits: [low, high] as const,
    })),
  );
  const settings = $derived(withKept(settingsOf(channels), channels, chosen));
  const isOfPlate = $derived(settings.every(({ limits }, at) => String(limits) === String(channels[at]!.limits)));

  const shownLabels = $derived.by((): LabelSetting => {
    const name = labels.name ?? info?.labels[0];
    return { ...labels, name, shown: labels.shown && name !== undefined && (info?.labels.includes(name) ?? false) };
  });

  function setSettings(next: readonly ChannelSetting[]) {
    chosen = { ...chosen, ...keptChannels(next, channels) };
    keep(shelf, { channels: chosen });
  }

  const takeLimits = (limits: readonly (Limits | undefined)[]) =>
    setSettings(settings.map((setting, at) => ({ ...setting, limits: limits[at] ?? setting.limits })));

  return {
    presets,
    get info() {
      return info;
    },
    get settings() {
      return settings;
    },
    get contrast(): 'plate' | 'own' {
      return isOfPlate ? 'plate' : 'own';
    },
    get labels() {
      return shownLabels;
    },
    get isMax() {
      return isMax;
    },
    look: (version: number): PlateLook => ({ settings, labels: shownLabels, z: isMax ? 'max' : undefined, version }),
    get problem() {
      return problem;
    },
    /** Undefined until pixels are there. */
    get drawn() {
      return drawn;
    },
    /** What the address asks for; a picture where there is one. */
    show(asked: string | null, hasAttribute: boolean, canMeasure: boolean): Show {
      if (hasAttribute) return 'attribute';
      if (asked === 'measurement' && canMeasure) return 'measurement';
      if (asked === 'status' || info === undefined) return 'status';
      return 'picture';
    },
    setChannel: (channel: number, change: Partial<ChannelSetting>) =>
      setSettings(settings.map((setting, at) => (at === channel ? { ...setting, ...change } : setting))),
    toggle(channel: number) {
      const setting = settings[channel];
      if (setting) this.setChannel(channel, { shown: !setting.shown });
    },
    takeLimits,
    takePlateLimits: () => takeLimits(channels.map(({ limits }) => limits)),
    applyPreset: (preset: Preset) => setSettings(withKept(settings, channels, preset.channels)),
    savePreset: (name: string) => presets.save(name, settings, channels),
    reset() {
      chosen = NOTHING_KEPT.channels;
      keep(shelf, { channels: chosen });
    },
    setLabels: (change: Partial<LabelSetting>) => (labels = { ...labels, ...change }),
    setMax: (next: boolean) => (isMax = next),
    fail: (words: string | undefined) => (problem = words),
    take: (next: DrawnPlate | undefined) => (drawn = next),
  };
}
