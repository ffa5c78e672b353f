/** What a process has made, as an answer: a file that is read while it is sent. */
import { type FileHandle, open } from 'node:fs/promises';

import { Streamed } from '../http/index.ts';
import type { Asker, Maker } from './maker.ts';
import type { Kept } from './order.ts';

/** A file that was made, made again when it went away in between. */
export async function openKept<Ask>(
  maker: Maker<Ask>,
  ask: Ask,
  asker: Asker,
): Promise<{ kept: Kept; file: FileHandle }> {
  for (let attempt = 0; ; attempt++) {
    const kept = await maker.make(ask, asker);
    try {
      return { kept, file: await open(kept.file) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt > 0) throw error;
      maker.forget(ask, asker);
    }
  }
}

export async function sendKept<Ask>(maker: Maker<Ask>, ask: Ask, asker: Asker): Promise<Streamed> {
  const { kept, file } = await openKept(maker, ask, asker);
  const { length, etag, facts } = kept;
  const body = file.createReadStream({ start: 0, end: length - 1 });
  return new Streamed(body, { ...facts, 'content-length': String(length) }, { tag: etag });
}
