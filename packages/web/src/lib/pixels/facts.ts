/** What is known about something that can be viewed, an image or a whole plate, once it is opened. Plain data. */
import type { Channel, Colour, Limits } from '@service/contract/ome';

/** One level of the pyramid, cut into tiles. */
export interface LevelFacts {
  width: number;
  height: number;
  tileWidth: number;
  tileHeight: number;
}

export interface ChannelFacts {
  name: string;
  colour: Colour;
  shown: boolean;
  /** Of the file or of the plate; undefined where it has to be found in the pixels. */
  limits: Limits | undefined;
}

/** Size of a pixel at full size. */
export interface PixelSize {
  x: number;
  y: number;
  z: number | undefined;
  unit: string;
}

export interface Facts {
  width: number;
  height: number;
  /** The largest first. */
  levels: LevelFacts[];
  channels: ChannelFacts[];
  planes: number;
  times: number;
  pixel: PixelSize | undefined;
  /** Type of the numbers: `uint16`. */
  values: string;
  /** Names of its label images. */
  labels: string[];
  /** Whether they are shown before the reader asks for them. */
  labelsAtFirst: boolean;
}

export interface LabelFacts {
  width: number;
  height: number;
  levels: LevelFacts[];
  planes: number;
  /** Its size differs from the image, and nothing says how they belong together. */
  stretched: boolean;
}

/** Which tile: `z` is a plane or the brightest of all. */
export interface TilePlace {
  level: number;
  channel: number;
  z: number | 'max';
  t: number;
  row: number;
  column: number;
}

/** Numbers as they are in the file, where a texture can hold them; else as floating-point numbers. */
export type Pixels = Uint8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

export interface Tile {
  width: number;
  height: number;
  pixels: Pixels;
  /** Which values a byte of 0 and one of 255 stand for, in pictures that the service made. */
  range?: Limits;
}

/** Of each pixel the number of its object; 0 is none. */
export interface LabelTile {
  width: number;
  height: number;
  labels: Uint32Array<ArrayBuffer>;
}

export const channelFacts = ({ name, colour, shown }: Channel, limits: Limits | undefined): ChannelFacts => ({
  name,
  colour,
  shown,
  limits,
});

export const tileKey = ({ level, channel, z, t, row, column }: TilePlace): string =>
  `${level}/${channel}/${z}/${t}/${row}/${column}`;

/** The value that a pixel stands for. */
export function valueAt({ width, pixels, range }: Tile, x: number, y: number): number {
  const value = pixels[y * width + x]!;
  return range ? range[0] + (value / 255) * (range[1] - range[0]) : value;
}
