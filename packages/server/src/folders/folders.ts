/**
 * The folders that a person may read, and whether a path lies in one of them.
 *
 *     const folders = readableFolders([{ path: '/srv/plates', root: '/srv/plates' }]);
 *     folders.cover('/srv/plates2/a.zarr');            // false: paths are compared by component
 *     await folders.holding('/mnt/storage/plates/a');  // '/mnt/storage/plates', where /srv/plates is a link to it
 *
 * An administrator may name a folder that is a link, or lies below one. People make links too, inside their folders, and a
 * dataset may then lie in such a link, or be replaced by one. So each folder comes with the `root` that an administrator named:
 * a link below it does not make more readable than the root holds. Where no root is known, no link is followed.
 */
import { realpath } from 'node:fs/promises';

import { covers } from '@service/contract';

export interface ReadableFolder {
  path: string;
  /** The folder itself, or one above it; null where nobody knows. */
  root: string | null;
}

export interface Folders {
  /** As they were given, to be handed to another process. */
  list: readonly ReadableFolder[];
  /** Whether a path, as it is written, lies in one of them. */
  cover(path: string): boolean;
  /** The folder that a real path, one without links, lies in. */
  holding(real: string): Promise<string | undefined>;
}

async function realFolder({ path, root }: ReadableFolder): Promise<string | undefined> {
  if (root === null) return undefined;
  try {
    const [real, realRoot] = await Promise.all([realpath(path), realpath(root)]);
    return covers(realRoot, real) ? real : undefined;
  } catch {
    return undefined;
  }
}

export function readableFolders(list: readonly ReadableFolder[]): Folders {
  let resolved: Promise<(string | undefined)[]> | undefined;
  return {
    list,
    cover: (path) => list.some((folder) => covers(folder.path, path)),
    async holding(real) {
      // a path without links that lies below a folder shows that there is no link in the folder's own path
      const plain = list.find((folder) => covers(folder.path, real));
      if (plain) return plain.path;
      resolved ??= Promise.all(list.map(realFolder));
      return (await resolved).find((folder) => folder !== undefined && covers(folder, real));
    },
  };
}
