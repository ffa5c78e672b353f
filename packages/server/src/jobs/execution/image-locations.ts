/** Whether new images really lie where they say: a symbolic link on the way must not lead out of the dataset. */
import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';

import { covers } from '@service/contract';

/** Where a path leads, as far as it exists. */
async function leadsTo(path: string, known: Map<string, string>): Promise<string> {
  const before = known.get(path);
  if (before !== undefined) return before;
  let target: string;
  try {
    target = await realpath(path);
  } catch {
    const parent = dirname(path);
    target =
      parent === path ? path : `${await leadsTo(parent, known)}/${path.slice(parent.length).replace(/^\/+/, '')}`;
  }
  known.set(path, target);
  return target;
}

/** The first of the images that lies elsewhere. Addresses in object stores have no links. */
export async function outsideOnDisk(zarrDir: string, urls: string[]): Promise<string | undefined> {
  if (!zarrDir.startsWith('/')) return undefined;
  const known = new Map<string, string>();
  const folder = await leadsTo(zarrDir, known);
  for (const url of urls) {
    const target = await leadsTo(url, known);
    if (target === folder || !covers(folder, target)) return url;
  }
  return undefined;
}
