/** Pictures that the service made, as tiles: grey ones say in their headers what is black and white. */
import { whileBusy } from '../../api/busy.ts';
import type { LabelTile, Tile } from '../facts.ts';
import { ReadProblem } from './problem.ts';

async function refusalOf(response: Response): Promise<ReadProblem> {
  const { detail } = (await response.json().catch(() => ({}))) as { detail?: unknown };
  const words = typeof detail === 'string' ? detail : `The service answered ${response.status}.`;
  const isMissing = response.status === 404 || /no OME-Zarr image|does not see/.test(words);
  return new ReadProblem(response.status === 403 ? 'access' : isMissing ? 'missing' : 'unreadable', words);
}

const MOST_ATTEMPTS = 6;

async function fetchPicture(address: string, signal: AbortSignal): Promise<Response> {
  const response = await whileBusy(() => fetch(address, { signal }), { attempts: MOST_ATTEMPTS, signal });
  if (!response.ok) throw await refusalOf(response);
  return response;
}

async function bytesOf(response: Response): Promise<ImageData> {
  const options = { colorSpaceConversion: 'none', premultiplyAlpha: 'none' } as const;
  const bitmap = await createImageBitmap(await response.blob(), options);
  const { width, height } = bitmap;
  const context = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true })!;
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return context.getImageData(0, 0, width, height);
}

export async function readPicture(address: string, signal: AbortSignal): Promise<Tile> {
  const response = await fetchPicture(address, signal);
  const [low, high] = ['low', 'high'].map((end) => Number(response.headers.get(`x-picture-${end}`) ?? NaN));
  const { data, width, height } = await bytesOf(response);
  const pixels = new Uint8Array(width * height);
  for (let at = 0; at < pixels.length; at++) pixels[at] = data[at * 4]!;
  return { width, height, pixels, range: [low!, high!] };
}

/** Numbers of objects: red is their lowest byte, blue their highest. */
export async function readNumbers(address: string, signal: AbortSignal): Promise<LabelTile> {
  const { data, width, height } = await bytesOf(await fetchPicture(address, signal));
  const labels = new Uint32Array(width * height);
  for (let at = 0; at < labels.length; at++)
    labels[at] = data[at * 4]! + data[at * 4 + 1]! * 256 + data[at * 4 + 2]! * 65_536;
  return { width, height, labels };
}
