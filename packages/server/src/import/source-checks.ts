/** What has to be right with the source before anything is copied. Each refusal says what to do. */
import type pg from 'pg';

import { ACTIVITY_ACTIONS, TASK_TYPES } from '@service/contract';

import { sequencesOf } from './identities.ts';
import type { References } from './references.ts';
import { ImportRefused } from './refused.ts';
import { revisionProblem } from './revisions.ts';
import { SOURCE_TABLES, sourceTableNames } from './source-tables.ts';
import { bytesOf, listed } from './sql.ts';

const NOT_ONE = 'The source is not a database of the existing system';

const GRANT =
  'Let its owner run: GRANT USAGE ON SCHEMA public TO <role>; GRANT SELECT ON ALL TABLES IN SCHEMA public TO <role>; ' +
  'GRANT SELECT ON ALL SEQUENCES IN SCHEMA public TO <role>';

/** Tables of the source, as the catalogue knows them, whatever the role may read. */
const OBJECTS = `
  select c.relname as name, has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select') as readable
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = 'public' and c.relkind in ('r', 'p')`;

interface SourceObject {
  name: string;
  readable: boolean;
}

function checkReadable(tables: SourceObject[], sequences: SourceObject[]): void {
  const ours = [...sourceTableNames, 'alembic_version'] as string[];
  const refused = [...tables.filter(({ name }) => ours.includes(name)), ...sequences]
    .filter(({ readable }) => !readable)
    .map(({ name }) => name);
  if (refused.length > 0) throw new ImportRefused(`The role can't read ${refused.sort().join(', ')}. ${GRANT}`);
}

async function checkColumns(source: pg.Client): Promise<void> {
  const { rows } = await source.query<{ table: string; columns: string[] }>(
    `select c.relname as table, array_agg(a.attname::text) as columns
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where n.nspname = 'public' and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped group by c.relname`,
  );
  const there = new Map(rows.map(({ table, columns }) => [table, new Set(columns)]));
  const missing = sourceTableNames.flatMap((table) => {
    const columns = there.get(table);
    if (!columns) return [`the table ${table}`];
    return SOURCE_TABLES[table].columns
      .filter((name) => !columns.has(name))
      .map((name) => `the column ${table}.${name}`);
  });
  if (missing.length > 0) {
    throw new ImportRefused(
      `The source database lacks ${missing.join(', ')}. Restore it from a backup, or run the existing system's set-db.`,
    );
  }
}

/** Rows that a policy hides from the role would be lost without a word. */
async function checkPolicies(source: pg.Client): Promise<void> {
  const { rows } = await source.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relname in (${listed(sourceTableNames)}) and row_security_active(c.oid) order by 1`,
  );
  if (rows.length === 0) return;
  throw new ImportRefused(
    `The role doesn't see all rows of ${rows.map(({ name }) => name).join(', ')} (row-level security). ` +
      'Import as the owner of the tables, or let a superuser run: ALTER ROLE <role> BYPASSRLS',
  );
}

/** The revision of the source, when it is one that can be imported. */
export async function checkSource(source: pg.Client): Promise<string> {
  const { rows: objects } = await source.query<SourceObject>(OBJECTS);
  if (!objects.some(({ name }) => name === 'alembic_version')) {
    throw new ImportRefused(`${NOT_ONE}: it has no table alembic_version. Check the name of the database.`);
  }
  checkReadable(objects, await sequencesOf(source));
  const { rows } = await source.query<{ version_num: string }>('select version_num from public.alembic_version');
  if (rows.length !== 1) {
    throw new ImportRefused(`${NOT_ONE}: its table alembic_version has ${rows.length} rows instead of one.`);
  }
  const revision = rows[0]!.version_num;
  const problem = revisionProblem(revision);
  if (problem !== undefined) throw new ImportRefused(problem);
  await checkColumns(source);
  await checkPolicies(source);
  return revision;
}

/** Others who are connected may write what the snapshot does not see. */
export async function checkUnused(source: pg.Client): Promise<void> {
  // what kind of process another role's is may be hidden; then it counts
  const { rows } = await source.query<{ who: string }>(
    `select distinct usename || coalesce(' (' || nullif(application_name, '') || ')', '') as who from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and usename is not null
       and coalesce(backend_type, 'client backend') = 'client backend' order by who`,
  );
  if (rows.length === 0) return;
  throw new ImportRefused(
    `Others are connected to the source database: ${rows.map(({ who }) => who).join(', ')}. ` +
      'Stop the existing server first, or add --source-in-use to import what is there now.',
  );
}

/** An entry of an index holds 2704 bytes. */
const LONGEST_INDEXED_BYTES = 2600;

/** Rows that no rule can help with: what they are, and which. */
const hopeless = ({ rows }: References) => [
  {
    what: 'tasks of an unknown type',
    ids: `select id from ${rows('taskv2')} t where type not in (${listed(TASK_TYPES)})`,
  },
  {
    what: 'activities with an unknown action',
    ids: `select id from ${rows('taskgroupactivityv2')} t where action not in (${listed(ACTIVITY_ACTIONS)})`,
  },
  {
    what: 'task groups whose package name and version are too long',
    ids: `select id from ${rows('taskgroupv2')} t
          where ${bytesOf('pkg_name')} + ${bytesOf('version')} > ${LONGEST_INDEXED_BYTES}`,
  },
  {
    what: 'jobs whose user_email is too long',
    ids: `select id from ${rows('jobv2')} t where ${bytesOf('user_email')} > ${LONGEST_INDEXED_BYTES}`,
  },
  {
    what: 'external accounts whose names are too long',
    ids: `select id from ${rows('oauthaccount')} t
          where ${bytesOf('oauth_name')} + ${bytesOf('account_id')} > ${LONGEST_INDEXED_BYTES}`,
  },
];

export async function checkRows(source: pg.Client, references: References): Promise<void> {
  for (const { what, ids } of hopeless(references)) {
    const { rows } = await source.query<{ ids: string | null }>(
      `select string_agg(id::text, ', ' order by id) as ids from (${ids}) hopeless`,
    );
    if (rows[0]!.ids !== null) {
      throw new ImportRefused(
        `The source has ${what}: ${rows[0]!.ids}. Change or remove them there, and import again.`,
      );
    }
  }
}
