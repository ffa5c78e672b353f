/** The SQL of the audit log. */
import { sql, type Transaction } from 'kysely';

import type { AuditAction, AuditObject, AuditQuery, AuditRecord } from '@service/contract';

import type { Database, Tables } from '../db/index.ts';
import type { Origin } from '../http/index.ts';

export type Executor = Database | Transaction<Tables>;

interface NewRecord {
  action: AuditAction;
  object_type: AuditObject;
  object_id: number;
  object_name: string;
  details: object;
}

/** Who acts as somebody else is written down first, with the address that the account has now. */
export async function insertRecords(db: Executor, { user, actor, via, address }: Origin, records: NewRecord[]) {
  const [who, as] = actor === undefined ? [user?.id, undefined] : [actor, user?.id];
  await sql`
    insert into audit_log (user_id, user_email, as_user_id, as_user_email, via, address, action, object_type, object_id,
      object_name, details)
    select ${who ?? null}::int, (select email from users where id = ${who ?? null}::int),
      ${as ?? null}::int, (select email from users where id = ${as ?? null}::int),
      ${via}, ${address}, content->>'action', content->>'object_type', (content->>'object_id')::int,
      content->>'object_name', content->'details'
    from jsonb_array_elements(${JSON.stringify(records)}::jsonb) with ordinality as entry (content, position)
    order by entry.position`.execute(db);
}

/** Of a record, in the order of an export. */
export const COLUMNS = [
  'id',
  'timestamp',
  'user_id',
  'user_email',
  'as_user_id',
  'as_user_email',
  'via',
  'address',
  'action',
  'object_type',
  'object_id',
  'object_name',
  'details',
] as const satisfies (keyof AuditRecord)[];

/** All the words, each by its beginning. A text without a letter or digit is in no record. */
const hasWords = (text: string) =>
  sql<boolean>`words @@ to_tsquery('simple', replace(nullif(audit_words(${text}), ''), ' ', ':* & ') || ':*')`;

function matching(db: Executor, filter: AuditQuery) {
  let query = db.selectFrom('audit_log');
  if (filter.user_id !== undefined) query = query.where('user_id', '=', filter.user_id);
  if (filter.as_user_id !== undefined) query = query.where('as_user_id', '=', filter.as_user_id);
  if (filter.action !== undefined) query = query.where('action', '=', filter.action);
  if (filter.object_type !== undefined) query = query.where('object_type', '=', filter.object_type);
  if (filter.object_id !== undefined) query = query.where('object_id', '=', filter.object_id);
  if (filter.timestamp_min !== undefined) query = query.where('timestamp', '>=', filter.timestamp_min);
  if (filter.timestamp_max !== undefined) query = query.where('timestamp', '<=', filter.timestamp_max);
  if (filter.text !== undefined) query = query.where(hasWords(filter.text));
  return query;
}

const newestFirst = (db: Executor, filter: AuditQuery) =>
  matching(db, filter).select(COLUMNS).orderBy('timestamp', 'desc').orderBy('id', 'desc');

/** How many match, but no more than `most`: counting all would take longer with every record. */
export async function countRecords(db: Executor, filter: AuditQuery, most: number): Promise<number> {
  const { count } = await db
    .selectFrom(matching(db, filter).select('id').limit(most).as('counted'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export const listRecords = (
  db: Executor,
  filter: AuditQuery,
  { limit, offset }: { limit: number; offset: number },
): Promise<AuditRecord[]> => newestFirst(db, filter).limit(limit).offset(offset).execute();

type Position = Pick<AuditRecord, 'timestamp' | 'id'>;

const olderThan = ({ timestamp, id }: Position) =>
  sql<boolean>`(timestamp, id) < (${timestamp}::timestamptz, ${id}::bigint)`;

/**
 * The next records in the order of time, and of them those with the words. The index of words knows no order: asked for the
 * newest, it finds and sorts all that match, each time anew. So a text is looked for in each piece by itself, and every
 * record is read once. The last of a piece comes along in any case: the next one begins there.
 */
function nextPiece(db: Executor, { text, ...filter }: AuditQuery, size: number, after: Position | undefined) {
  const piece = newestFirst(db, filter)
    .$if(after !== undefined, (query) => query.where(olderThan(after!)))
    .select((text === undefined ? sql<boolean>`true` : hasWords(text)).as('matches'))
    .limit(size);
  return db
    .with(
      (cte) => cte('piece').materialized(),
      () => piece,
    )
    .selectFrom('piece')
    .select([...COLUMNS, 'matches'])
    .where((eb) =>
      eb.or([
        eb('matches', '=', true),
        eb('id', '=', eb.selectFrom('piece').select('id').orderBy('timestamp').orderBy('id').limit(1)),
      ]),
    )
    .orderBy('timestamp', 'desc')
    .orderBy('id', 'desc');
}

/** All that match, some at a time, each from where the one before ended: what is written meanwhile is newer. */
export async function* recordsInBatches(db: Executor, filter: AuditQuery, size: number): AsyncGenerator<AuditRecord[]> {
  // few are found by the index of words at once, however long the log is
  if (filter.text !== undefined && (await countRecords(db, filter, size)) < size) {
    yield await listRecords(db, filter, { limit: size, offset: 0 });
    return;
  }
  let last: Position | undefined;
  do {
    const rows = await nextPiece(db, filter, size, last).execute();
    last = rows.at(-1);
    const records: AuditRecord[] = rows.filter((row) => row.matches).map(({ matches: _, ...record }) => record);
    if (records.length > 0) yield records;
  } while (last);
}

/** Removes up to `most` records that are older than so many days, the oldest first, and says how many. */
export async function forgetRecords(db: Executor, days: number, most: number): Promise<number> {
  const result = await db
    .deleteFrom('audit_log')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('audit_log')
        .select('id')
        .where('timestamp', '<', sql<string>`now() - make_interval(days => ${days})`)
        .orderBy('timestamp')
        .orderBy('id')
        .limit(most),
    )
    .executeTakeFirst();
  return Number(result.numDeletedRows);
}

/** Records are only added, and the oldest removed: the ends of the log tell whether it is still the same. */
export async function extentOfLog(db: Database): Promise<string> {
  const ends = await db
    .selectFrom('audit_log')
    .select(({ fn }) => [fn.min('id').as('first'), fn.max('id').as('last')])
    .executeTakeFirstOrThrow();
  return `${ends.first}-${ends.last}`;
}
