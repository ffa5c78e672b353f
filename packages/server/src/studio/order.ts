/** What the service asks of a process of a studio, and what it gets back. Plain data: it goes from process to process. */
import type { ReadableFolder } from '../folders/index.ts';

export interface Order<Ask> {
  id: number;
  key: string;
  ask: Ask;
  folders: readonly ReadableFolder[];
  /** What was remembered in another state of the files does not count. */
  state: string;
}

/** Where the process keeps what it made. */
export interface Kept {
  file: string;
  length: number;
  etag: string;
  /** Facts about it, for headers. */
  facts: Record<string, string>;
  /** The readable folders that its files lie in: who may not read one of them does not get it. */
  folders: string[];
}

/** What was made: bytes, at once or one after the other, and facts for the headers of the answer, known when they have come. */
export interface Made {
  content: Uint8Array | AsyncIterable<Uint8Array>;
  facts: Record<string, string>;
}

export type Done = { kept: Kept } | { problem: string } | { defect: string } | { cancelled: true };

export type ToStudio<Ask> = { order: Order<Ask> } | { cancel: number };
export type FromStudio = { id: number; done: Done };
