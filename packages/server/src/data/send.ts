/**
 * Sends a part of a file. Two pieces of memory go round, one is read into while the other is on its way: so memory grows
 * neither with files nor with what the garbage collector has not yet seen.
 */
import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';

import { guarded } from '../guard.ts';

const PIECE = 65_536;

export interface Span {
  start: number;
  length: number;
}

/** Fills the piece, or as much of it as is left. */
async function fill(file: FileHandle, piece: Buffer, at: number, length: number): Promise<Buffer> {
  const wanted = Math.min(length, piece.length);
  for (let done = 0; done < wanted;) {
    const { bytesRead } = await file.read(piece, done, wanted - done, at + done);
    if (bytesRead === 0) throw new Error('A file became shorter while it was read.');
    done += bytesRead;
  }
  return piece.subarray(0, wanted);
}

/** Small parts are read at once. */
export const readSmall = (file: FileHandle, { start, length }: Span): Promise<Buffer> | undefined =>
  length <= PIECE ? fill(file, Buffer.allocUnsafeSlow(length), start, length) : undefined;

const GONE = 'The client is gone.';

/** A connection that breaks does not always say so to who writes. */
const written = (response: ServerResponse, piece: Buffer) =>
  new Promise<void>((resolve, reject) => {
    const guardedLeave = guarded(() => reject(new Error(GONE)), reject);
    response.once('close', guardedLeave);
    response.write(piece, (error) => {
      response.off('close', guardedLeave);
      if (error) reject(error);
      else resolve();
    });
  });

/** Closes the file, whatever happens. A failure ends the connection: nobody takes a part for the whole. */
export async function sendFile(response: ServerResponse, file: FileHandle, { start, length }: Span): Promise<void> {
  const pieces = [Buffer.allocUnsafeSlow(PIECE), Buffer.allocUnsafeSlow(PIECE)];
  try {
    let sent = Promise.resolve();
    for (let done = 0, turn = 0; done < length; turn++) {
      const piece = await fill(file, pieces[turn % 2]!, start + done, length - done);
      await sent;
      if (response.destroyed) throw new Error(GONE);
      sent = written(response, piece);
      // it is awaited above, in the next turn; until then nobody listens
      sent.catch(() => undefined);
      done += piece.length;
    }
    await sent;
    response.end();
  } catch {
    response.destroy();
  } finally {
    await file.close();
  }
}
