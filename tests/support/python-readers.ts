/**
 * Image files and pictures as Python sees them (look.py): images of every kind are written by zarr, read through the
 * service by ngio and fsspec, and drawn by the service beside numpy.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { Client } from '../../packages/server/test/support/server.ts';
import { composeTile } from '../../packages/web/src/lib/pixels/paint/compose.ts';
import { openImage } from '../../packages/web/src/lib/pixels/read/image.ts';
import { readTile } from '../../packages/web/src/lib/pixels/read/region.ts';
import { serveFiles } from '../../packages/web/test/images/ome-zarr.ts';

const LOOK = join(import.meta.dirname, 'look.py');

export interface PythonReader {
  python: string;
  /** The address of the service. */
  url: string;
  token: string;
  client: Client;
  /** Everything lies below it, and the person may read it. */
  folder: string;
}

function look({ python, token }: Pick<PythonReader, 'python' | 'token'>, args: string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { env: { ...process.env, TOKEN: token, PYTHONWARNINGS: 'ignore' }, maxBuffer: 2 ** 26 };
    const child = execFile(python, [LOOK, ...args], options, (error, out, err) => {
      if (error) reject(new Error(`${error.message}\n${err}`));
      else resolve(out);
    });
    child.stdin!.end(input);
  });
}

interface Written {
  kinds: string[];
  plates: { zarr_url: string; attributes: Record<string, string> }[];
}

/** A dataset with these images; gives its address. */
async function register({ client, folder }: PythonReader, { kinds, plates }: Written): Promise<string> {
  const project = await client.post('/api/v2/project/', { name: `pictures ${Math.random()}` });
  const images = [...kinds.map((zarr_url) => ({ zarr_url, attributes: {} })), ...plates];
  const body = { name: 'pictures', zarr_dir: folder, images: images.map((image) => ({ ...image, types: {} })) };
  const dataset = await client.post(`/api/v2/project/${project.body.id}/dataset/import/`, body);
  expect([dataset.status, dataset.text]).toEqual([201, dataset.text]);
  return `/api/v2/project/${project.body.id}/dataset/${dataset.body.id}`;
}

type Differences = Record<string, Record<string, number | string>>;

/** How far pictures of every kind of image are from numpy's own, in shades of grey. */
export async function comparePictures(reader: PythonReader): Promise<Differences> {
  const text = await look(reader, ['write', reader.folder]);
  const base = await register(reader, JSON.parse(text) as Written);
  return JSON.parse(await look(reader, ['compare', reader.url + base], text)) as Differences;
}

/** Of the images with channels, how far what the viewer shows is from numpy's own, in shades. */
export async function compareTiles(reader: PythonReader, images: string[]): Promise<Record<string, number>> {
  const files = await serveFiles(reader.folder);
  try {
    const composed = await Promise.all(
      images.map(async (image) => [image, await composedBy(files.url, image)] as const),
    );
    const given = Object.fromEntries(composed.map(([image, bytes]) => [image, Buffer.from(bytes).toString('base64')]));
    return JSON.parse(await look(reader, ['compare-tiles'], JSON.stringify(given))) as Record<string, number>;
  } finally {
    files.close();
  }
}

/** The middle plane of the largest level, read and composed as the viewer does. */
async function composedBy(files: string, image: string): Promise<Uint8ClampedArray> {
  const { signal } = new AbortController();
  const { facts, levels } = await openImage(`${files}files${image}`, signal);
  const whole = { ...levels[0]!, facts: { ...facts.levels[0]!, tileWidth: facts.width, tileHeight: facts.height } };
  const common = { level: 0, z: Math.floor(facts.planes / 2), t: 0, row: 0, column: 0 };
  const channels = facts.channels.map(async ({ colour, limits }, channel) => {
    if (!limits) throw new Error(`${image} says nothing about the contrast of channel ${channel}.`);
    return { tile: await readTile(whole, { ...common, channel }, signal), colour, limits };
  });
  return composeTile(await Promise.all(channels));
}

export const readPlate = async (reader: PythonReader, plate: string): Promise<unknown> =>
  JSON.parse(await look(reader, ['read', reader.url, plate])) as unknown;

export const readSharded = async (reader: PythonReader, image: string): Promise<unknown> =>
  JSON.parse(await look(reader, ['read-sharded', reader.url, image])) as unknown;
