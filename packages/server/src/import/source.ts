/**
 * The database of an existing deployment, read in one snapshot that nothing can write through. A role that can select is
 * enough.
 */
import pg from 'pg';

import { ignored } from '../guard.ts';
import { passwordInFile } from './password-file.ts';
import { ImportRefused } from './refused.ts';
import { noLimits } from './sql.ts';

/** How to reach it; what is not said comes from the PG… variables and ~/.pgpass, as with any program of PostgreSQL. */
export type SourceAddress =
  | { connectionString: string }
  | { host: string; port: number; user: string | undefined; database: string; password: string | undefined };

/** Which database of which server this is, whatever name it is reached by. */
export interface Identity {
  /** Null where the role is not allowed to know it. */
  system: string | null;
  database: string;
  oid: string;
  /** `host:port`. */
  address: string;
}

/** Values that lead to other texts of the same data, and times that would end a long snapshot. */
const SESSION = [
  'set statement_timeout = 0',
  'set default_transaction_read_only = on',
  "set timezone = 'UTC'",
  "set datestyle = 'ISO'",
  'set standard_conforming_strings = on',
  // rows that a policy would hide from the role are an error instead
  'set row_security = off',
  noLimits('session'),
  "set work_mem = '64MB'",
];

const NO_PASSWORD = /password must be a string|no password supplied/i;

async function connect(address: SourceAddress, password: string | undefined): Promise<pg.Client> {
  const client = new pg.Client({
    ...address,
    application_name: 'service import',
    keepAlive: true,
    connectionTimeoutMillis: 15_000,
  });
  client.on('error', ignored); // the query that runs fails, too
  // an address that is a text would hide a password beside it
  const known = password ?? client.password ?? passwordInFile(client);
  if (known !== undefined) client.password = known;
  await client.connect();
  return client;
}

/** Asks for a password only when the server wants one that nobody gave. */
export async function openSource(
  address: SourceAddress,
  askForPassword: (() => Promise<string>) | undefined,
): Promise<pg.Client> {
  try {
    try {
      return await connect(address, undefined);
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      if (!askForPassword || !(NO_PASSWORD.test(message) || code === '28P01')) throw error;
      return await connect(address, await askForPassword());
    }
  } catch (error) {
    const { message } = error as Error;
    throw new ImportRefused(
      NO_PASSWORD.test(message)
        ? 'The source database wants a password. Give it in PGPASSWORD or in ~/.pgpass.'
        : `The source database can't be reached: ${message}. Check its address, and that this machine and role have access.`,
      { cause: error },
    );
  }
}

/** Everything is read in one snapshot, counts and checksums included. */
export async function beginSnapshot(source: pg.Client): Promise<void> {
  for (const setting of SESSION) await source.query(setting);
  await source.query('begin isolation level repeatable read read only');
}

export async function identityOf(client: pg.ClientBase): Promise<Identity> {
  const { rows } = await client.query<{ database: string; oid: string; readable: boolean }>(
    `select datname as database, oid::text, has_function_privilege('pg_catalog.pg_control_system()', 'execute') as readable
     from pg_database where datname = current_database()`,
  );
  const { database, oid, readable } = rows[0]!;
  const system = readable
    ? (await client.query<{ id: string }>('select system_identifier::text as id from pg_control_system()')).rows[0]!.id
    : null;
  const { host, port } = client as unknown as { host: string; port: number };
  return { system, database, oid, address: `${host === 'localhost' ? '127.0.0.1' : host}:${port}` };
}

export function isSame(one: Identity, other: Identity): boolean {
  if (one.system !== null && other.system !== null) return one.system === other.system && one.oid === other.oid;
  return one.address === other.address && one.database === other.database;
}

/** The name that the source is remembered by. */
export const identityText = ({ system, oid, address, database }: Identity) =>
  system === null ? `${address}/${database}` : `${system}/${oid}`;
