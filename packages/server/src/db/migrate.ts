/** Brings the schema up to date, or says what is missing. */
import { Migrator } from 'kysely/migration';
import type pg from 'pg';

import type { Database } from './database.ts';
import { migrations } from './migrations/index.ts';

const migratorFor = (db: Database) =>
  new Migrator({
    db,
    provider: { getMigrations: () => Promise.resolve(migrations) },
    migrationTableName: 'schema_migrations',
    migrationLockTableName: 'schema_migrations_lock',
  });

/** Applies what is missing, all or nothing, and gives back the names. Two processes at once do it once. */
export async function migrate(db: Database): Promise<string[]> {
  const { error, results } = await migratorFor(db).migrateToLatest();
  if (error !== undefined) throw error as Error;
  return (results ?? []).map((result) => result.migrationName);
}

export async function missingMigrations(db: Database): Promise<string[]> {
  const all = await migratorFor(db).getMigrations();
  return all.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name);
}

/** True for a database whose tables another system keeps: it has the table in which Alembic notes their version. */
export async function isForeign(pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query<{ found: boolean }>("select to_regclass('alembic_version') is not null as found");
  return rows[0]!.found;
}
