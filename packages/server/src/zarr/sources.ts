/**
 * Which files a picture was made from, and how they were then. While none of them has changed, the picture is right; a file
 * that was not there is remembered too, because it may come.
 */
import type { BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';

import { eachAtOnce } from './each-at-once.ts';

const ABSENT = '-';

export interface Sources {
  /** Files with the state they were in. */
  files: Map<string, string>;
  /** The readable folders that they lie in. */
  folders: Set<string>;
}

export const newSources = (): Sources => ({ files: new Map(), folders: new Set() });

const stampOf = ({ mtimeNs, ctimeNs, size }: BigIntStats) =>
  `${mtimeNs.toString(36)}.${ctimeNs.toString(36)}.${size.toString(36)}`;

export function sawFile(sources: Sources, path: string, stats: BigIntStats, folder: string): void {
  sources.files.set(path, stampOf(stats));
  sources.folders.add(folder);
}

export function sawNothing(sources: Sources, path: string): void {
  sources.files.set(path, ABSENT);
}

/** No folder of anybody. */
const NOBODYS = '\0';

/** The reader may not see a file: what is made is not given to others, who may. */
export function sawOutside(sources: Sources): void {
  sources.folders.add(NOBODYS);
}

const LOOKS_AT_ONCE = 16;

export async function areUnchanged(
  files: Iterable<[path: string, stamp: string]>,
  signal: AbortSignal,
): Promise<boolean> {
  let same = true;
  await eachAtOnce([...files], LOOKS_AT_ONCE, async ([path, stamp]) => {
    if (!same) return;
    signal.throwIfAborted();
    const now = await stat(path, { bigint: true }).then(stampOf, () => ABSENT);
    if (now !== stamp) same = false;
  });
  return same;
}
