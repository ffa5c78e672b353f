/**
 * The whole view in an address, so that a link shows a colleague the same picture.
 *
 *     ?image=/data/a.zarr/B/03/0&at=812,440,1.5&z=3&c=0,on,6fa8ff,180,4200&c=1,off,5be08a,240,9800&labels=nuclei,outline
 *     ?plate=P3&ruler=100,100,340,100
 *     ?image=/data/a.zarr/B/03/0&mark=310,422,18,20&mark=97,15,22,19
 */
import type { Camera } from '../pixels/camera.ts';
import type { Ruler } from '../pixels/scale-bar.ts';
import {
  type ChannelSetting,
  hexOf,
  LABEL_LOOKS,
  type LabelLook,
  type LabelSetting,
  readHex,
} from '../pixels/settings.ts';

const COMPARISONS = ['side', 'slider'] as const;
export type Comparison = (typeof COMPARISONS)[number];

/** Something to look at: left, top, width and height in pixels of the image. */
interface Mark {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface ViewState {
  /** What is viewed: one image, or a plate by its name. */
  image: string | undefined;
  plate: string | undefined;
  camera: Camera | undefined;
  z: number | 'max' | undefined;
  t: number;
  channels: Map<number, ChannelSetting>;
  /** Undefined: as it is by itself. */
  labels: LabelSetting | undefined;
  /** Another image of the same place, or this one without labels: `labels`. */
  compare: { with: string; how: Comparison } | undefined;
  ruler: Ruler | undefined;
  /** Objects that the reader came for. */
  marks: readonly Mark[];
}

const isIn = <T extends string>(list: readonly T[], text: string | undefined): text is T =>
  (list as readonly string[]).includes(text ?? '');

const numbersOf = (text: string | null): number[] => (text ?? '').split(',').map((part) => (part === '' ? NaN : +part));

function readCamera(text: string | null): Camera | undefined {
  const [x = NaN, y = NaN, zoom = NaN] = numbersOf(text);
  return [x, y, zoom].every(Number.isFinite) && zoom > 0 ? { x, y, zoom } : undefined;
}

function readRuler(text: string | null): Ruler | undefined {
  const ends = numbersOf(text);
  const [fromX, fromY, toX, toY] = ends as [number, number, number, number];
  const isWhole = ends.length === 4 && ends.every(Number.isFinite);
  return isWhole ? { from: { x: fromX, y: fromY }, to: { x: toX, y: toY } } : undefined;
}

const MOST_MARKS = 200;

function readMark(text: string): Mark[] {
  const parts = numbersOf(text);
  const [left, top, width, height] = parts as [number, number, number, number];
  return parts.length === 4 && parts.every(Number.isFinite) && width > 0 && height > 0
    ? [{ left, top, width, height }]
    : [];
}

function readChannel(text: string): [number, ChannelSetting] | undefined {
  const [index = '', shown, hex = '', low = '', high = ''] = text.split(',');
  const colour = readHex(hex);
  if (!/^\d{1,4}$/.test(index) || !colour) return undefined;
  const limits = [low, high].map((part) => (part === '' ? NaN : Number(part))) as [number, number];
  const hasLimits = limits.every(Number.isFinite) && limits[1] > limits[0];
  return [Number(index), { shown: shown === 'on', colour, limits: hasLimits ? limits : undefined }];
}

const BY = 'by:';

/** `nuclei,both,0.4,random`, `nuclei,outline,0.2,by:area`; `-` in front of the name: it is chosen and not shown. */
function readLabels(text: string | null): LabelSetting | undefined {
  if (text === null) return undefined;
  const [given = '', look, strength = '', colour = ''] = text.split(',').map(decodeURIComponent);
  const name = given.replace(/^-/, '');
  const part = Number(strength);
  return {
    name: name === '' ? undefined : name,
    shown: name !== '' && !given.startsWith('-'),
    look: isIn<LabelLook>(LABEL_LOOKS, look) ? look : 'outline',
    strength: strength !== '' && part >= 0 && part <= 0.8 ? part : 0.2,
    random: colour === 'random',
    by: colour.startsWith(BY) ? colour.slice(BY.length) : undefined,
  };
}

function readPlane(text: string | null): number | 'max' | undefined {
  if (text === 'max') return 'max';
  return text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined;
}

/** What cannot be read is left out, so that a link with a slip still shows its image. */
export function readView(params: Pick<URLSearchParams, 'get' | 'getAll'>): ViewState {
  const [how, other] = [params.get('compare') ?? undefined, params.get('with')];
  const time = readPlane(params.get('t'));
  let labels: LabelSetting | undefined;
  try {
    labels = readLabels(params.get('labels'));
  } catch {
    // an escape that is none
  }
  return {
    image: params.get('image') ?? undefined,
    plate: params.get('plate') ?? undefined,
    camera: readCamera(params.get('at')),
    z: readPlane(params.get('z')),
    t: typeof time === 'number' ? time : 0,
    channels: new Map(params.getAll('c').flatMap((text) => [readChannel(text)].filter((one) => one !== undefined))),
    labels,
    compare: other !== null && isIn(COMPARISONS, how) ? { with: other, how } : undefined,
    ruler: readRuler(params.get('ruler')),
    marks: params.getAll('mark').slice(0, MOST_MARKS).flatMap(readMark),
  };
}

/** By the number of the channel. */
export const channelsOfAddress = (settings: readonly ChannelSetting[]): ViewState['channels'] =>
  new Map(settings.entries());

const short = (value: number): string => String(Number(value.toPrecision(7)));

/** Keeps what else is in the address. */
export function writeView(view: ViewState, before: URLSearchParams = new URLSearchParams()): URLSearchParams {
  const params = new URLSearchParams(before);
  const set = (name: string, value: string | undefined) =>
    value === undefined ? params.delete(name) : params.set(name, value);
  const { image, plate, camera, z, t, labels, compare, ruler } = view;
  set('image', image);
  set('plate', plate);
  set('at', camera && [camera.x, camera.y, camera.zoom].map(short).join(','));
  set('z', z === undefined ? undefined : String(z));
  set('t', t > 0 ? String(t) : undefined);
  params.delete('c');
  for (const [index, { shown, colour, limits }] of [...view.channels].sort(([one], [other]) => one - other)) {
    const parts = [index, shown ? 'on' : 'off', hexOf(colour), ...(limits ?? []).map(short)];
    params.append('c', parts.join(','));
  }
  params.delete('mark');
  for (const { left, top, width, height } of view.marks)
    params.append('mark', [left, top, width, height].map(short).join(','));
  set('labels', labels && labelWords(labels));
  set('compare', compare?.how);
  set('with', compare?.with);
  set('ruler', ruler && [ruler.from.x, ruler.from.y, ruler.to.x, ruler.to.y].map(short).join(','));
  return params;
}

function labelWords({ name = '', shown, look, strength, random, by }: LabelSetting): string {
  const colour = by !== undefined ? [encodeURIComponent(BY + by)] : random ? ['random'] : [];
  return [(shown ? '' : '-') + encodeURIComponent(name), look, short(strength), ...colour].join(',');
}
