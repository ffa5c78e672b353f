/** The connection to PostgreSQL: one pool, Kysely on top of it. */
import { type Expression, Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';

import { parseJson } from '@service/contract';

import { guarded, ignored } from '../guard.ts';
import { type ConnectionTurns, createConnectionTurns } from './connection-turns.ts';
import type { Connection } from './embedded.ts';
import { isWorn, namingClient } from './named-statements.ts';
import type { Tables } from './schema.ts';

export type Database = Kysely<Tables>;

export interface OpenDatabase {
  db: Database;
  pool: pg.Pool;
  /** The same connections for callers who wait: no statement, and no pause in a transaction, may last longer. */
  limitedTo(milliseconds: number): Database;
  close(): Promise<void>;
}

const { builtins } = pg.types;

/** `2026-01-31 12:00:00.5+00` → `2026-01-31T12:00:00.500000+00:00`. JavaScript's Date would lose the microseconds. */
function readTimestamp(text: string): string {
  const match = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00$/.exec(text);
  if (!match) throw new Error(`The database gave a time that is not in UTC: ${text}`);
  const [, date, time, fraction] = match;
  return `${date}T${time}${fraction === undefined ? '' : `.${fraction.padEnd(6, '0')}`}+00:00`;
}

/** The same in a JSON text that the database writes. */
export const timeText = (time: Expression<string | null>) => sql<string>`
  replace(to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '.000000', '') || '+00:00'`;

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary' && oid === (builtins.TIMESTAMPTZ as number)) return readTimestamp;
    if (format !== 'binary' && oid === (builtins.INT8 as number)) return Number;
    if (format !== 'binary' && (oid === Number(builtins.JSON) || oid === Number(builtins.JSONB))) return parseJson;
    return pg.types.getTypeParser(oid, format) as (text: string) => unknown;
  },
};

const LONGEST_WAIT_MS = 15_000;

const limits = new WeakMap<pg.PoolClient, number>();

/** One whose names are used up goes, and another one comes. */
async function freshConnection(pool: pg.Pool): Promise<pg.PoolClient> {
  for (;;) {
    const client = await pool.connect();
    if (!isWorn(client)) return client;
    client.release(true);
  }
}

/** A connection whose turn ends when it is given back. */
async function connectionInTurn(pool: pg.Pool, turns: ConnectionTurns): Promise<pg.PoolClient> {
  const end = await turns.take();
  try {
    const client = await freshConnection(pool);
    const release = client.release.bind(client);
    client.release = (error) => {
      try {
        release(error);
      } finally {
        // whose turn it is next finds this connection free
        end();
      }
    };
    return client;
  } catch (error) {
    end();
    throw error;
  }
}

/** A pool whose connections have this limit; 0 for none. It is told to the database when a connection had another one. */
const limitedPool = (pool: pg.Pool, turns: ConnectionTurns, milliseconds: number) => ({
  options: pool.options,
  end: () => pool.end(),
  async connect(): Promise<pg.PoolClient> {
    const client = await connectionInTurn(pool, turns);
    if (limits.get(client) === milliseconds) return client;
    try {
      const names = ['statement_timeout', 'idle_in_transaction_session_timeout'];
      await client.query(names.map((name) => `set ${name} = ${milliseconds}`).join('; '));
      limits.set(client, milliseconds);
      return client;
    } catch (error) {
      client.release(error as Error);
      throw error;
    }
  },
});

export function openDatabase(
  connection: Connection,
  options: { connections: number; named?: boolean; echo?: ((sql: string) => void) | undefined },
): OpenDatabase {
  const pool = new pg.Pool({
    application_name: 'service',
    ...connection,
    Client: namingClient({ named: options.named ?? true }),
    max: options.connections,
    types,
    // the locks of a machine that vanished are given back after two minutes
    options: '-c timezone=UTC -c tcp_keepalives_idle=60 -c tcp_keepalives_interval=10 -c tcp_keepalives_count=6',
    connectionTimeoutMillis: LONGEST_WAIT_MS,
  });
  const turns = createConnectionTurns(options.connections, LONGEST_WAIT_MS);
  // A connection that breaks is replaced by the pool; without a listener it would end the process. Idle ones are told to the
  // pool, those in a transaction only to themselves: its next statement fails.
  pool.on('error', ignored);
  pool.on(
    'connect',
    guarded((client: pg.PoolClient) => client.on('error', ignored), ignored),
  );
  const limitedTo = (milliseconds: number) =>
    new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: limitedPool(pool, turns, milliseconds) }),
      ...(options.echo ? { log: (event) => options.echo!(event.query.sql) } : {}),
    });
  const db = limitedTo(0);
  return { db, pool, limitedTo, close: () => db.destroy() };
}

/** The row that broke a rule of the database, told by the rule's name. */
export function brokenConstraint(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as { code?: string; constraint?: string };
  return code?.startsWith('23') ? constraint : undefined;
}

/** The `Z` form of a time, which some objects have on the wire. */
export const zulu = (timestamp: string) => timestamp.replace(/\+00:00$/, 'Z');
