/** What has to be right with our own database before anything is written. */
import type pg from 'pg';

import { ImportRefused } from './refused.ts';
import { type Identity, identityText, isSame } from './source.ts';

/** Our own tables with rows in them, as far as the tables are there. That somebody made them is in the audit log. */
async function tablesWithRows(target: pg.ClientBase): Promise<string[]> {
  const { rows: tables } = await target.query<{ name: string }>(
    `select c.relname as name from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname not like 'schema\\_migrations%'
       and c.relname <> 'audit_log'
       and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`,
  );
  if (tables.length === 0) return [];
  const checks = tables.map(
    ({ name }) =>
      `select ${target.escapeLiteral(name)} as name where exists (select from ${target.escapeIdentifier(name)})`,
  );
  const { rows } = await target.query<{ name: string }>(checks.join(' union all '));
  return rows.map(({ name }) => name).sort();
}

async function hasTable(target: pg.ClientBase, name: string): Promise<boolean> {
  const { rows } = await target.query<{ there: boolean }>('select to_regclass($1) is not null as there', [name]);
  return rows[0]!.there;
}

/** A group that `init-db-data` made of its own accord is no reason to refuse. */
async function isLoneGroup(target: pg.ClientBase, filled: string[]): Promise<boolean> {
  if (filled.length !== 1 || filled[0] !== 'user_groups') return false;
  const { rows } = await target.query<{ num: number }>('select count(*) as num from user_groups');
  return Number(rows[0]!.num) === 1;
}

export interface EarlierImport {
  started: string;
  finished: string;
  orphans_to: string | null;
}

/** The import of this very source that the target holds, if it holds one. */
export async function earlierImport(target: pg.ClientBase, source: Identity): Promise<EarlierImport | undefined> {
  if (!(await hasTable(target, 'imports'))) return undefined;
  const { rows } = await target.query<EarlierImport>(
    `select started, finished, report ->> 'orphans_to' as orphans_to from imports where source_identity = $1`,
    [identityText(source)],
  );
  return rows[0];
}

/** The target is ours, and another database than the source. */
export async function checkTarget(target: pg.ClientBase, source: Identity, own: Identity): Promise<void> {
  if (isSame(source, own)) {
    throw new ImportRefused(
      `The settings of the service name the source itself (database ${own.database}) as the database to import into. ` +
        'Make an empty database for the service and name it in POSTGRES_DB, or leave POSTGRES_DB unset.',
    );
  }
  if (await hasTable(target, 'alembic_version')) {
    throw new ImportRefused(
      `POSTGRES_DB names ${own.database}, a database of the existing system. Name another one, which is empty.`,
    );
  }
}

export async function checkEmpty(target: pg.ClientBase): Promise<void> {
  const filled = await tablesWithRows(target);
  if (filled.length === 0 || (await isLoneGroup(target, filled))) return;
  throw new ImportRefused(
    `The database of the service is not empty: there are rows in ${filled.join(', ')}. ` +
      'Start with a fresh data folder (SERVICE_DATA_DIR), or an empty database (POSTGRES_DB).',
  );
}

/** The first half of a lock's name is the purpose; nobody else uses this one. */
const IMPORT_LOCK = 8;

/** Keeps a second import away until the transaction ends. */
export async function lockTarget(target: pg.ClientBase): Promise<void> {
  const { rows } = await target.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1, 0) as locked', [
    IMPORT_LOCK,
  ]);
  if (!rows[0]!.locked) throw new ImportRefused('Another import into this database is running. Wait until it ends.');
}
