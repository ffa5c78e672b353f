/** Arrays of Zarr 2 and 3, and what can be wrong with them. */
import { type Array as ZarrArray, type AsyncReadable, type DataType, isZarritaError, open, root } from 'zarrita';

import './codecs.ts';
import { folderStore, type Reading } from './store.ts';
import { unreadable, Unreadable } from './unreadable.ts';

export type Numbers = ZarrArray<DataType, AsyncReadable>;

/** What went wrong, in words, with the file that is to blame. */
export function problemWith(path: string, error: unknown): unknown {
  if (error instanceof Unreadable) return error;
  if (isZarritaError(error, 'UnknownCodecError')) {
    return unreadable(
      `${path} is compressed with ${error.codec}. The service reads blosc, zstd, gzip, zlib, lz4 and what is not compressed.`,
    );
  }
  if (isZarritaError(error, 'CodecPipelineError')) {
    const cause = error.cause as { code?: string; message?: string } | undefined;
    if (cause instanceof Unreadable) return cause;
    const reason = cause?.code === 'ERR_BUFFER_TOO_LARGE' ? 'it unpacks to more than its chunk holds' : cause?.message;
    return unreadable(`${path} is damaged: a chunk cannot be unpacked${reason ? ` (${reason.slice(0, 200)})` : ''}.`);
  }
  if (isZarritaError(error, 'NotFoundError')) return unreadable(`${path} is missing.`);
  if (isZarritaError(error)) return unreadable(`${path} cannot be read: ${error.message.slice(0, 200)}.`);
  // what metadata of a wrong shape makes zarrita do
  if (error instanceof TypeError || error instanceof SyntaxError) {
    return unreadable(`${path} is damaged: its metadata cannot be understood.`);
  }
  if (error instanceof RangeError) return unreadable(`${path} is too large.`);
  return error;
}

/** An array that is not part of an image, such as a column of a table. */
export async function openNumbers(folder: string, name: string, version: 2 | 3, reading: Reading): Promise<Numbers> {
  const location = root(folderStore(folder, reading)).resolve(name);
  return version === 2 ? open.v2(location, { kind: 'array', attrs: false }) : open.v3(location, { kind: 'array' });
}
