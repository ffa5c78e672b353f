/**
 * Small files of metadata, kept for a moment: the channels of a plate are asked for one after the other, and each begins
 * with the same thousands of files. Pixels are never kept.
 */
import type { BigIntStats } from 'node:fs';

const KEPT_MS = 5000;
const MOST_FILES = 20_000;
const LARGEST = 65_536;

/** Undefined for a file that is not there. */
export type CachedFile = { bytes: Uint8Array; stats: BigIntStats; folder: string } | undefined;

export interface MetadataCache {
  find(key: string): { file: CachedFile } | undefined;
  keep(key: string, file: CachedFile): void;
}

export function createMetadataCache(): MetadataCache {
  const kept = new Map<string, { file: CachedFile; until: number }>();
  return {
    find(key) {
      const found = kept.get(key);
      return found && found.until > Date.now() ? found : undefined;
    },
    keep(key, file) {
      if (file !== undefined && file.bytes.length > LARGEST) return;
      // the oldest come first
      for (const [oldest, { until }] of kept) {
        if (until > Date.now() && kept.size < MOST_FILES) break;
        kept.delete(oldest);
      }
      kept.delete(key);
      kept.set(key, { file, until: Date.now() + KEPT_MS });
    },
  };
}
