/** The attributes of a group, of Zarr 2 or 3. */
import { type Reading, readWhole } from './store.ts';
import { unreadable } from './unreadable.ts';

export interface Attributes {
  version: 2 | 3;
  values: unknown;
}

function parsed(bytes: Uint8Array, path: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown;
  } catch {
    throw unreadable(`${path} is damaged: it is no JSON. It may be being written.`);
  }
}

const FILES = { 2: '.zattrs', 3: 'zarr.json' } as const;

async function attributesAs(version: 2 | 3, folder: string, reading: Reading): Promise<Attributes | undefined> {
  const path = `${folder}/${FILES[version]}`;
  const bytes = await readWhole(path, reading);
  if (!bytes) return undefined;
  const values = parsed(bytes, path);
  return { version, values: version === 3 ? (values as { attributes?: unknown } | null)?.attributes : values };
}

/** Images that are read together are mostly of one version: the one that was found last is tried first. */
let likely: 2 | 3 = 2;

/** Undefined where there is no group. */
export async function readAttributes(folder: string, reading: Reading): Promise<Attributes | undefined> {
  const found =
    (await attributesAs(likely, folder, reading)) ?? (await attributesAs(likely === 2 ? 3 : 2, folder, reading));
  if (found) likely = found.version;
  return found;
}
