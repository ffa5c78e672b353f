/** What the service asks of the process that draws. Plain data: it goes from process to process. */

interface View {
  /** One channel in grey; undefined: all visible ones in their colours. */
  channel: number | undefined;
  /** Black and full light; undefined: the range of the pixels, or what the file says. */
  low: number | undefined;
  high: number | undefined;
  z: number | 'max' | undefined;
  t: number;
  /** A label image to outline; or the numbers of its objects instead of any channel. */
  labels: string | undefined;
  layer: 'picture' | 'labels';
}

export interface ImageAsk extends View {
  kind: 'image';
  path: string;
  /** The largest side. */
  size: number;
  /** Only what is around this object of the label image. */
  object: number | undefined;
  /** The side of what is around it, in pixels of the image; undefined: what most objects need. */
  square: number | undefined;
}

export interface Well {
  row: string;
  column: string;
  /** Its fields. */
  images: string[];
}

/** A plate as the image list knows it. */
export interface Plate {
  /** Where its metadata lies; undefined where addresses do not tell. */
  path: string | undefined;
  wells: Well[];
}

interface Tile {
  level: number;
  row: number;
  column: number;
}

export interface PlateAsk extends View {
  kind: 'plate';
  plate: Plate;
  /** The largest side of the picture, or a tile of one. */
  size: number;
  tile: Tile | undefined;
  /** Only this well, as large as the picture. */
  well: string | undefined;
  /** Contrast of all its channels, for pictures in colour. */
  limits: [low: number, high: number][] | undefined;
}

interface InfoAsk {
  kind: 'info';
  plate: Plate;
}

/** Contrast of the channels that files say nothing about, from some wells. */
interface LimitsAsk {
  kind: 'limits';
  plate: Plate;
}

export type Ask = ImageAsk | PlateAsk | InfoAsk | LimitsAsk;
