/** The two database servers of an import, and what is said when one of them goes away in the middle. */
import { setTimeout as sleep } from 'node:timers/promises';

import type pg from 'pg';

import { isPassing } from '../db/index.ts';
import { guarded, ignored } from '../guard.ts';
import { ImportRefused } from './refused.ts';

export interface Servers {
  /** What happened, in a way that helps, where a server is the reason. */
  explained(error: unknown): Promise<unknown>;
  /** Lets go of the connections. */
  end(): void;
}

/** A statement fails before its connection says that it is gone; a server that ends does so at once. */
const GONE_WITHIN_MS = 2000;

/** Remembers which of the two goes away: the errors that follow do not name it. */
export function followServers(source: pg.ClientBase, target: pg.ClientBase): Servers {
  const { promise: gone, resolve } = Promise.withResolvers<string>();
  function follow(client: pg.ClientBase, what: string): () => void {
    const guardedEnd = guarded(() => resolve(what), ignored);
    client.once('end', guardedEnd);
    return () => void client.removeListener('end', guardedEnd);
  }
  const forget = [follow(source, 'source database'), follow(target, "service's own database")];
  return {
    async explained(error) {
      if (error instanceof ImportRefused) return error;
      const waitMs = isPassing(error) ? GONE_WITHIN_MS : 0;
      const which = await Promise.race([gone, sleep(waitMs, undefined)]);
      if (which === undefined) return error;
      return new ImportRefused(
        `The connection to the ${which} was lost. Nothing was imported. Make sure that its server runs, and run the same command again.`,
        { cause: error },
      );
    },
    end: () => forget.forEach((one) => one()),
  };
}

/** What the server itself refuses, in the state of an error, is no loss of the server. */
const isRefused = (error: unknown) => /^(?!57P|08)[0-9A-Z]{5}$/.test((error as { code?: string }).code ?? '');

/** A server that goes away while it commits does not say any more whether it did. */
export async function commit(target: pg.ClientBase): Promise<void> {
  try {
    await target.query('commit');
  } catch (error) {
    if (isRefused(error)) throw error;
    throw new ImportRefused(
      "The service's own database went away while the import was being stored, so it may be complete or not there at all. " +
        'Make sure that its server runs, and run the same command again: it does the import, or says that it was done.',
      { cause: error },
    );
  }
}
