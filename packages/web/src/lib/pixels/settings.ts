/** How it is drawn: channels with colour and contrast, and labels. What the reader sets, over what the files say. */
import { type Colour, type Limits, readColour } from '@service/contract/ome';

import type { ChannelFacts } from './facts.ts';

export interface ChannelSetting {
  shown: boolean;
  colour: Colour;
  /** Undefined until it is found in the pixels. */
  limits: Limits | undefined;
}

export const LABEL_LOOKS = ['outline', 'both', 'fill'] as const;
export type LabelLook = (typeof LABEL_LOOKS)[number];

export interface LabelSetting {
  /** Undefined: none is chosen. */
  name: string | undefined;
  shown: boolean;
  look: LabelLook;
  /** Of the filling, 0 to 0.8. */
  strength: number;
  /** Every object in a colour of its own, to see which touch. */
  random: boolean;
  /** The feature that objects are coloured by, as a table calls it. */
  by?: string | undefined;
}

/** How the picture of a plate, or of a part of it, is drawn. */
export interface PlateLook {
  settings: readonly ChannelSetting[];
  labels: LabelSetting;
  /** The brightest of all planes, or the one in the middle. */
  z: 'max' | undefined;
  /** Changes when files may have changed. */
  version: number;
}

export const newLabels = (name: string | undefined): LabelSetting => ({
  name,
  shown: true,
  look: 'outline',
  strength: 0.2,
  random: false,
});

/** So many channels are shown at first; more of them cannot be told apart. */
const FIRST_SHOWN = 4;
const FIRST_OF_MANY = 3;

export function settingsOf(channels: readonly ChannelFacts[]): ChannelSetting[] {
  const most = channels.length > FIRST_SHOWN ? FIRST_OF_MANY : FIRST_SHOWN;
  const told = channels.filter(({ shown }) => shown).length;
  let count = 0;
  return channels.map(({ colour, limits, shown }) => ({
    shown: told === 0 || (shown && (told < channels.length || count++ < most)),
    colour,
    limits,
  }));
}

/** Colours that people with any kind of sight can tell apart, in their order. */
export const PALETTE: readonly { name: string; colour: Colour }[] = [
  { name: 'Blue', colour: [0x6f, 0xa8, 0xff] },
  { name: 'Green', colour: [0x5b, 0xe0, 0x8a] },
  { name: 'Magenta', colour: [0xff, 0x6a, 0xc8] },
  { name: 'Amber', colour: [0xff, 0xc2, 0x4a] },
  { name: 'Cyan', colour: [0x4f, 0xe3, 0xe8] },
  { name: 'White', colour: [0xf4, 0xf6, 0xf7] },
];

const WHITE: Colour = [255, 255, 255];

export const hexOf = (colour: Colour): string =>
  colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('');

export const readHex = (text: string): Colour | undefined =>
  /^[0-9a-f]{6}$/i.test(text) ? readColour(text) : undefined;

const isReddish = ([red, green, blue]: Colour) => red > 150 && green < 110 && blue < 110;
const isGreenish = ([red, green, blue]: Colour) => green > 150 && red < 110 && blue < 160;

/** Red beside green: many people see one colour. */
export const isHardToTell = (settings: readonly ChannelSetting[]): boolean => {
  const shown = settings.filter(({ shown: is }) => is);
  return shown.some(({ colour }) => isReddish(colour)) && shown.some(({ colour }) => isGreenish(colour));
};

/** Shown channels as they are drawn: one alone is white. */
export interface DrawnChannel {
  channel: number;
  colour: Colour;
  limits: Limits | undefined;
}

export function drawnChannels(settings: readonly ChannelSetting[], alone: number | undefined): DrawnChannel[] {
  const drawn = settings.flatMap(({ shown, colour, limits }, channel) =>
    (alone === undefined ? shown : channel === alone) ? [{ channel, colour, limits }] : [],
  );
  return drawn.length === 1 ? drawn.map((one) => ({ ...one, colour: WHITE })) : drawn;
}
