/**
 * Takes the database of an existing deployment into ours: one snapshot of the source, one transaction of the target. An
 * import that fails, is killed or loses either server leaves an empty database, and is simply started again.
 */
import type pg from 'pg';

import type { ImportedTable, ImportReport } from '@service/contract';

import { migrate, type OpenDatabase } from '../db/index.ts';
import { ignored } from '../guard.ts';
import { advice, findForAdvice } from './advice.ts';
import { inBulk } from './bulk.ts';
import { copyRows } from './copy.ts';
import { addressOf, decide, findReferences } from './decisions.ts';
import { lookForFiles } from './files.ts';
import {
  countFindings,
  createFindings,
  find,
  keepRemainders,
  LINES_AS_JSON,
  noteTheRest,
  type RuleSummary,
  summarise,
} from './findings.ts';
import { continueIds, tablesWithoutFreeIds } from './identities.ts';
import { columnNames, type Mapping, type Plan, selectOf } from './mapping.ts';
import { ImportRefused } from './refused.ts';
import { type Draft, jsonAround } from './report.ts';
import { ACCEPTED } from './revisions.ts';
import { rulesThat } from './rules.ts';
import { commit, followServers } from './servers.ts';
import { beginSnapshot, identityOf, identityText, type Identity } from './source.ts';
import { checkRows, checkSource, checkUnused } from './source-checks.ts';
import { noLimits, quoted } from './sql.ts';
import { mappings } from './tables/index.ts';
import { checkEmpty, checkTarget, type EarlierImport, earlierImport, lockTarget } from './target-checks.ts';
import { countSource, isEqual, listsAreWhole, sumOfSource, sumOfTarget, wrongCounts } from './verify.ts';

export interface ImportOptions {
  dryRun: boolean;
  /** The address of who gets projects without an owner. */
  orphansTo: string | undefined;
  sourceInUse: boolean;
  files: boolean;
  /** Where the key that signs tokens will be. */
  key: Parameters<typeof advice>[1];
  onRows(table: string, rows: number): void;
  /** Called when all is verified and nothing is committed yet: what fails here undoes the import. */
  beforeTheEnd(target: pg.ClientBase, draft: Draft): Promise<void>;
}

export type ImportOutcome =
  | { kind: 'done'; report: Draft; rules: RuleSummary[] }
  | { kind: 'done before'; earlier: EarlierImport; database: string };

/** There is one import in a database: it begins empty. */
const IMPORT_ID = 1;
const SHOWN_LINES = 20;

interface Sides {
  source: pg.Client;
  target: pg.ClientBase;
}

interface Opened extends Sides {
  identity: Identity;
  revision: string;
  earlier: EarlierImport | undefined;
}

/** Refuses what cannot work, before anything is written. */
async function openBoth(source: pg.Client, target: pg.ClientBase): Promise<Opened> {
  await beginSnapshot(source);
  const identity = await identityOf(source);
  await checkTarget(target, identity, await identityOf(target));
  const revision = await checkSource(source);
  return { source, target, identity, revision, earlier: await earlierImport(target, identity) };
}

/** PostgreSQL says why a row does not fit; the table and the next step are ours to say. */
function unfit(table: string, error: unknown): unknown {
  const { code, message, detail } = error as { code?: string; message: string; detail?: string };
  if (!code || !/^(22|23|54)/.test(code)) return error;
  // a whole row of an account has its password's hash in it
  const told = detail && !(table === 'users' && /^Failing row/.test(detail)) ? ` (${detail})` : '';
  return new ImportRefused(
    `The rows for ${table} do not fit: ${message}${told}. Nothing was imported. ` +
      'Correct the row in the source, and import again.',
    { cause: error },
  );
}

async function copyTable({ source, target }: Sides, mapping: Mapping, onRows: ImportOptions['onRows']) {
  try {
    await find(source, target, mapping);
    await inBulk(target, mapping.table, () =>
      copyRows(source, target, {
        select: selectOf(mapping),
        into: `${quoted(mapping.table)} (${columnNames(mapping)})`,
        onRows: (rows) => onRows(mapping.table, rows),
      }),
    );
  } catch (error) {
    throw unfit(mapping.table, error);
  }
}

/** The sums of all tables, and how many rows they should have, one after another while the target sums up its own. */
function askSource(source: pg.Client, all: readonly Mapping[]) {
  let before: Promise<unknown> = Promise.resolve();
  return all.map((mapping) => {
    const asked = before.then(async () => ({
      sum: await sumOfSource(source, mapping),
      rows: await countSource(source, mapping),
    }));
    asked.catch(ignored);
    before = asked;
    return { mapping, asked };
  });
}

/** Copies all tables, and compares both sides table by table. */
async function copyAll(sides: Sides, plan: Plan, onRows: ImportOptions['onRows']): Promise<ImportedTable[]> {
  const { source, target } = sides;
  await createFindings(target);
  const all = mappings(plan);
  for (const mapping of all) await copyTable(sides, mapping, onRows);
  await noteTheRest(source, target);
  const found = await countFindings(target);
  const tables: ImportedTable[] = [];
  for (const { mapping, asked } of askSource(source, all)) {
    const ours = await sumOfTarget(target, mapping);
    const { sum, rows: source_rows } = await asked;
    const { changed = 0, left_over = 0, moved = 0 } = found.get(mapping.table) ?? {};
    if (source_rows !== ours.rows + left_over + moved) {
      throw new ImportRefused(
        `Of ${source_rows} rows for ${mapping.table}, ${ours.rows} arrived and ${left_over + moved} were put aside. Nothing was imported: please report this as a defect.`,
      );
    }
    tables.push({
      table: mapping.table,
      source_table: mapping.source,
      source_rows,
      imported: ours.rows,
      changed,
      left_over,
      checksum: isEqual(sum, ours) ? 'ok' : 'different',
    });
  }
  return tables;
}

/** What has to be right before the end, besides the sums of each table. */
async function checkWhole({ source, target }: Sides, plan: Plan, tables: ImportedTable[]): Promise<void> {
  const wrong = [
    ...tables.filter(({ checksum }) => checksum !== 'ok').map(({ table }) => `the checksum of ${table}`),
    ...(await wrongCounts(target)),
    ...(await tablesWithoutFreeIds(target, mappings(plan))).map((table) => `the next id of ${table}`),
    ...((await listsAreWhole(source, target, plan, rulesThat('leave'))) ? [] : ['the images of each dataset']),
  ];
  if (wrong.length > 0) {
    throw new ImportRefused(
      `What arrived is not what was sent: ${wrong.join(', ')}. Nothing was imported: please report this as a defect.`,
    );
  }
}

async function fill(opened: Opened, options: ImportOptions): Promise<{ report: Draft; rules: RuleSummary[] }> {
  const { source, target, identity, revision } = opened;
  await lockTarget(target);
  await checkEmpty(target);
  await target.query('delete from user_groups');
  const { rows } = await target.query<{ now: string }>('select now()::text as now');
  const importedAt = rows[0]!.now;
  const references = await findReferences(source);
  await checkRows(source, references);
  const plan = await decide(source, target, references, { importedAt, orphansTo: options.orphansTo });
  const tables = await copyAll(opened, plan, options.onRows);
  await target.query(
    `insert into imports (id, source_identity, source_database, revision, started, finished, report, overview)
     values ($1, $2, $3, $4, $5, clock_timestamp(), '{}', '{}')`,
    [IMPORT_ID, identityText(identity), identity.database, revision, importedAt],
  );
  await target.query(`alter table imports alter column id restart with ${IMPORT_ID + 1}`);
  await keepRemainders(target, IMPORT_ID);
  await continueIds(source, target, mappings(plan));
  await checkWhole(opened, plan, tables);
  const times = await target.query<{ started: string; finished: string; version: string }>(
    'select started, finished from imports',
  );
  const version = await source.query<{ server_version: string }>('show server_version');
  const draft: Draft = {
    source: {
      database: identity.database,
      revision,
      release: ACCEPTED[revision]!,
      server_version: version.rows[0]!.server_version,
    },
    started: times.rows[0]!.started,
    finished: times.rows[0]!.finished,
    dry_run: options.dryRun,
    orphans_to: await addressOf(source, plan.orphansTo),
    tables,
    files: options.files ? await lookForFiles(target) : null,
    settings: advice(await findForAdvice(target), options.key),
  };
  const rules = await summarise(target, SHOWN_LINES);
  const { dry_run: _, ...shown } = draft;
  const [before, after] = jsonAround(draft);
  await target.query(`update imports set report = ($1 || ${LINES_AS_JSON} || $2)::json, overview = $3`, [
    before,
    after,
    JSON.stringify({ ...shown, rules }),
  ]);
  return { report: draft, rules };
}

const SESSION = [
  'begin',
  "set local datestyle = 'ISO'",
  noLimits('transaction'),
  "set local work_mem = '64MB'",
  "set local maintenance_work_mem = '256MB'",
];

/** The work in one transaction, which `keep` lets stay. */
async function inTransaction<T>(target: pg.ClientBase, keep: boolean, work: () => Promise<T>): Promise<T> {
  for (const statement of SESSION) await target.query(statement);
  try {
    const outcome = await work();
    await (keep ? commit(target) : target.query('rollback'));
    return outcome;
  } catch (error) {
    // a connection that is gone has been rolled back by the server
    await target.query('rollback').catch(() => undefined);
    throw error;
  }
}

export async function importDatabase(
  source: pg.Client,
  { db, pool }: OpenDatabase,
  options: ImportOptions,
): Promise<ImportOutcome> {
  const target = await pool.connect();
  const servers = followServers(source, target);
  let broken = false;
  try {
    const opened = await openBoth(source, target);
    if (opened.earlier) return { kind: 'done before', earlier: opened.earlier, database: opened.identity.database };
    await checkEmpty(target);
    if (!options.sourceInUse) await checkUnused(source);
    await migrate(db);
    const done = await inTransaction(target, !options.dryRun, async () => {
      const filled = await fill(opened, options);
      await options.beforeTheEnd(target, filled.report);
      return filled;
    });
    // the database does so by itself a little later, too
    if (!options.dryRun) await target.query('analyze').catch(() => (broken = true));
    return { kind: 'done', ...done };
  } catch (error) {
    broken = true;
    throw await servers.explained(error);
  } finally {
    servers.end();
    target.release(broken);
  }
}

export type Verified = Pick<ImportReport['tables'][number], 'table' | 'source_rows' | 'imported' | 'checksum'>;

/** Compares again what an earlier import stored. Writes nothing. */
export async function verifyImport(source: pg.Client, { pool }: OpenDatabase): Promise<Verified[]> {
  const target = await pool.connect();
  try {
    const { earlier } = await openBoth(source, target);
    if (!earlier) {
      throw new ImportRefused(
        'Nothing was imported from this source into the database of the service yet. Run import-db without --verify.',
      );
    }
    return await inTransaction(target, false, async () => {
      const { rows } = await target.query<{ started: string }>('select started::text from imports');
      const references = await findReferences(source);
      const given = { importedAt: rows[0]!.started, orphansTo: earlier.orphans_to ?? undefined };
      const plan = await decide(source, target, references, given);
      const verified: Verified[] = [];
      for (const mapping of mappings(plan)) {
        const [theirs, ours] = await Promise.all([sumOfSource(source, mapping), sumOfTarget(target, mapping)]);
        verified.push({
          table: mapping.table,
          source_rows: theirs.rows,
          imported: ours.rows,
          checksum: isEqual(theirs, ours) ? 'ok' : 'different',
        });
      }
      return verified;
    });
  } finally {
    target.release();
  }
}
