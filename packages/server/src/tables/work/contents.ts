/** What the metadata of a few images names: channels, label images and tables. Nothing of them is opened. */
import type { DatasetContents } from '@service/contract';
import { type ChannelNames, readChannelNames, readLabels } from '@service/contract/ome';

import { readAttributes } from '../../zarr/attributes.ts';
import type { Reading } from '../../zarr/store.ts';
import { Unreadable } from '../../zarr/unreadable.ts';
import type { ContentsAsk } from '../ask.ts';
import { isName } from '../../zarr/names.ts';
import { tableNames } from './conditions.ts';
import { inOrder } from './in-order.ts';

const AHEAD = 8;
/** Of each kind: more would help nobody to choose. */
const MOST = 200;

interface Found {
  path: string;
  channels: ChannelNames[];
  labels: string[];
  tables: string[];
}

const isShort = (name: string | null) => name === null || name.length <= MOST;

async function lookAt(path: string, reading: Reading): Promise<Found | string> {
  try {
    const image = await readAttributes(path, reading);
    if (!image) return `There is no image at ${path}, or it is on a file system that this service does not see.`;
    const channels = readChannelNames(image.values).slice(0, MOST);
    return {
      path,
      channels: channels.filter(({ label, wavelength_id }) => isShort(label) && isShort(wavelength_id)),
      labels: readLabels((await readAttributes(`${path}/labels`, reading))?.values)
        .slice(0, MOST)
        .filter(isName),
      tables: (await tableNames(path, reading)).slice(0, MOST),
    };
  } catch (error) {
    reading.signal.throwIfAborted();
    if (!(error instanceof Unreadable)) throw error;
    return error.text;
  }
}

/** As it is written; null where it is not, or cannot be read. */
async function typeOf(path: string, reading: Reading): Promise<string | null> {
  try {
    const type = ((await readAttributes(path, reading))?.values as { type?: unknown } | null | undefined)?.type;
    return isName(type) ? type : null;
  } catch (error) {
    reading.signal.throwIfAborted();
    if (!(error instanceof Unreadable)) throw error;
    return null;
  }
}

const keyOf = ({ label, wavelength_id }: ChannelNames) => JSON.stringify([label, wavelength_id]);

export async function datasetContents({ images }: ContentsAsk, reading: Reading): Promise<DatasetContents> {
  const channels = new Map<string, ChannelNames>();
  const labels = new Set<string>();
  /** With the image that has it. */
  const tables = new Map<string, string>();
  let [count, problem]: [number, string | null] = [0, null];
  for await (const found of inOrder(images, AHEAD, (path) => lookAt(path, reading))) {
    if (typeof found === 'string') {
      problem ??= found;
      continue;
    }
    count++;
    for (const one of found.channels) channels.set(keyOf(one), one);
    for (const name of found.labels) labels.add(name);
    for (const name of found.tables) if (!tables.has(name)) tables.set(name, found.path);
  }
  const typed: DatasetContents['tables'] = [];
  const look = async ([name, path]: [string, string]) => ({
    name,
    type: await typeOf(`${path}/tables/${name}`, reading),
  });
  for await (const table of inOrder([...tables].slice(0, MOST), AHEAD, look)) typed.push(table);
  return {
    num_images: count,
    channels: [...channels.values()].slice(0, MOST),
    labels: [...labels].slice(0, MOST),
    tables: typed,
    problem,
  };
}
