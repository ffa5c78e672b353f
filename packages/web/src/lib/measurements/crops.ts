/** Pictures of single objects, and where they are in the viewer. */
import { whileBusy } from '../api/busy.ts';
import { addressOf, answered, type CallOptions, type DatasetIds } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { route } from '../route.ts';

export interface ObjectPlace {
  zarr_url: string;
  labels: string;
  object: number;
}

interface Rectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Crop {
  bitmap: ImageBitmap;
  /** What is seen of the image, and the object alone, in pixels of its full size. */
  region: Rectangle;
  own: Rectangle;
}

function rectangleOf(text: string | null): Rectangle {
  const [left = 0, top = 0, width = 1, height = 1] = (text ?? '').split(' ').map(Number);
  return { left, top, width, height };
}

const MOST_ATTEMPTS = 4;

async function fetchCrop(address: string, options: CallOptions): Promise<Response> {
  const patience = { attempts: MOST_ATTEMPTS, signal: options.signal };
  const response = await whileBusy(() => answered(address, {}, options), patience);
  if (!response.ok) throw await problemOf(response);
  return response;
}

interface CropSize {
  /** Of the picture. */
  size: number;
  /** Of what is seen, in pixels of the image; undefined: what most objects of that image need. */
  square: number | undefined;
}

export async function readCrop(
  ids: DatasetIds,
  { zarr_url, labels, object }: ObjectPlace,
  { size, square }: CropSize,
  options: CallOptions,
): Promise<Crop> {
  const query = { zarr_url, labels, object, size, square, z: 'max' };
  const response = await fetchCrop(addressOf('projects.getPicture', { params: ids, query }), options);
  const [region, own] = ['region', 'object'].map((part) => rectangleOf(response.headers.get(`x-picture-${part}`)));
  return { bitmap: await createImageBitmap(await response.blob()), region: region!, own: own! };
}

/** So many say how large the others are. */
const PROBES = 4;

/** A square that serves objects of several images: the largest that some of them need. Undefined where none can be drawn. */
export async function commonSquare(
  ids: DatasetIds,
  places: readonly ObjectPlace[],
  size: number,
  options: CallOptions,
): Promise<number | undefined> {
  const step = Math.max(1, Math.floor(places.length / PROBES));
  const some = places.filter((_, at) => at % step === 0).slice(0, PROBES);
  const found = await Promise.allSettled(
    some.map((place) => readCrop(ids, place, { size, square: undefined }, options)),
  );
  const sides = found.flatMap((one) => (one.status === 'fulfilled' ? [one.value.region.width] : []));
  return sides.length === 0 ? undefined : Math.max(...sides);
}

/** Of the square around an object, on the screen of the viewer. */
const SEEN_PIXELS = 420;
const MOST_ZOOM = 8;

/** The viewer with an object in its middle, and others of the same image marked with it. */
export function viewAddress(
  ids: DatasetIds,
  { zarr_url, labels }: ObjectPlace,
  { region, own }: Pick<Crop, 'region' | 'own'>,
  marked: readonly Rectangle[],
): string {
  const [x, y] = [own.left + own.width / 2, own.top + own.height / 2];
  const zoom = Math.min(MOST_ZOOM, SEEN_PIXELS / region.width);
  const at = [x, y, zoom].map((value) => Number(value.toPrecision(6))).join(',');
  const mark = marked.map(({ left, top, width, height }) => [left, top, width, height].join(','));
  return route.view(ids, { image: zarr_url, at, labels: `${encodeURIComponent(labels)},outline`, mark });
}
