/**
 * Rows into a table by COPY, in the transaction that has it asked for:
 *
 *     await trx.executeQuery(copyInto('images (dataset_id, zarr_url)', chunks));
 */
import { CompiledQuery } from 'kysely';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { ServiceError } from '@service/contract/errors';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

import { guarded, ignored } from '../guard.ts';

/** Bytes in COPY's text format, made when they are wanted. When they fail, so does the statement, and nothing is written. */
type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

const END = ' from stdin';

export const copyInto = (into: string, chunks: Chunks): CompiledQuery =>
  CompiledQuery.raw(`copy ${into}${END}`, [chunks]);

/** The chunks of what `copyInto` made. */
export const chunksOf = (text: unknown, values: unknown): Chunks | undefined =>
  typeof text === 'string' && text.endsWith(END) && Array.isArray(values) ? (values[0] as Chunks) : undefined;

/** The connection to the database is gone. */
export class ConnectionLost extends ServiceError {
  readonly kind = 'connection-lost';
}

type Submit = (stream: ReturnType<typeof copyFrom>) => void;

/** Fails when the connection is gone, of which the stream may never hear. */
export async function copyIn(client: pg.ClientBase, submit: Submit, text: string, chunks: Chunks) {
  const stream = copyFrom(text);
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(ignored);
  const guardedLoss = guarded(() => reject(new ConnectionLost('The connection ended while rows were copied')), reject);
  client.once('end', guardedLoss);
  try {
    submit(stream);
    await Promise.race([pipeline(Readable.from(chunks), stream), lost]);
  } finally {
    client.removeListener('end', guardedLoss);
  }
  return { command: 'COPY', rowCount: stream.rowCount, rows: [] };
}
