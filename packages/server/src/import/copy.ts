/** Rows go from one database to the other as bytes that nobody looks at. The slower side sets the pace. */
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

import { ConnectionLost } from '../db/index.ts';
import { guarded, ignored } from '../guard.ts';

const NEWLINE = 10;

/** Counts the rows that pass: in COPY's text format a newline ends one, and is escaped inside of it. */
function counting(onRows: (rows: number) => void): Transform {
  let rows = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) rows++;
      onRows(rows);
      done(null, chunk);
    },
  });
}

/** Rejects when the connection is gone, since a stream may never hear of it. */
function broken(client: pg.ClientBase, what: string): { lost: Promise<never>; forget(): void } {
  const { promise: lost, reject } = Promise.withResolvers<never>();
  lost.catch(ignored);
  const guardedLoss = guarded(
    () => reject(new ConnectionLost(`The connection to the ${what} database was lost.`)),
    reject,
  );
  client.once('end', guardedLoss);
  return { lost, forget: () => client.removeListener('end', guardedLoss) };
}

export async function copyRows(
  source: pg.Client,
  target: pg.ClientBase,
  { select, into, onRows = () => undefined }: { select: string; into: string; onRows?: (rows: number) => void },
): Promise<number> {
  const reading = source.query(copyTo(`copy (${select}) to stdout`));
  const writing = target.query(copyFrom(`copy ${into} from stdin`));
  const watched = [broken(source, 'source'), broken(target, "service's own")];
  try {
    await Promise.race([pipeline(reading, counting(onRows), writing), ...watched.map(({ lost }) => lost)]);
  } finally {
    for (const { forget } of watched) forget();
  }
  return writing.rowCount;
}
