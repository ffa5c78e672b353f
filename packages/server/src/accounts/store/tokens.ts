/** The SQL of personal access tokens, and of the question whether a token still stands. */
import { sql, type Transaction } from 'kysely';

import type { PersonalToken, PersonalTokenCreate, TokenScope, User } from '@service/contract';

import type { Database, Tables } from '../../db/index.ts';
import { PLAIN_COLUMNS, type Pool, raiseGeneration, userObject, type UserRow } from './users.ts';

type Executor = Database | Transaction<Tables>;

const COLUMNS = [
  'id',
  'name',
  'scope',
  'timestamp_created',
  'timestamp_expires',
  'timestamp_last_used',
  'timestamp_revoked',
] as const;

const isOpen = sql<boolean>`timestamp_revoked is null and timestamp_expires > now()`;

const ACCOUNT_OF_TOKEN = {
  name: 'account-of-personal-token',
  text: `select ${PLAIN_COLUMNS}, token.id as token_id, token.scope,
      extract(epoch from token.timestamp_expires)::float8 as expires,
      token.timestamp_last_used is null or token.timestamp_last_used < now() - interval '1 minute' as is_news
    from personal_tokens as token join users on users.id = token.user_id
    where token.hash = $1 and token.timestamp_revoked is null and token.timestamp_expires > now() and users.is_active`,
};

interface FoundToken {
  user: User;
  id: number;
  scope: TokenScope;
  /** In seconds. */
  expires: number;
  /** Its last use was written down more than a minute ago. */
  isNews: boolean;
}

interface TokenRow extends UserRow {
  token_id: number;
  scope: TokenScope;
  expires: number;
  is_news: boolean;
}

/** Runs in every request with such a token: one read of an index, whether or not there is one. */
export async function findByHash(pool: Pool, hash: Buffer): Promise<FoundToken | undefined> {
  const { rows } = await pool.query<TokenRow>({ ...ACCOUNT_OF_TOKEN, values: [hash] });
  const [row] = rows;
  return (
    row && {
      user: userObject(row, null),
      id: row.token_id,
      scope: row.scope,
      expires: row.expires,
      isNews: row.is_news,
    }
  );
}

export async function noteUse(db: Database, tokenId: number): Promise<void> {
  await db
    .updateTable('personal_tokens')
    .set({ timestamp_last_used: sql<string>`now()` })
    .where('id', '=', tokenId)
    .where(sql<boolean>`timestamp_last_used is null or timestamp_last_used < now() - interval '1 minute'`)
    .execute();
}

/** Open ones first, then by age. */
export const listTokens = (db: Database, userId: number): Promise<PersonalToken[]> =>
  db
    .selectFrom('personal_tokens')
    .select(COLUMNS)
    .where('user_id', '=', userId)
    .orderBy(isOpen, 'desc')
    .orderBy('id', 'desc')
    .execute();

export async function openNames(db: Executor, userId: number): Promise<string[]> {
  const rows = await db
    .selectFrom('personal_tokens')
    .select('name')
    .where('user_id', '=', userId)
    .where(isOpen)
    .execute();
  return rows.map((row) => row.name);
}

export const insertToken = (
  db: Executor,
  token: PersonalTokenCreate & { user_id: number; hash: Buffer },
): Promise<PersonalToken> =>
  db.insertInto('personal_tokens').values(token).returning(COLUMNS).executeTakeFirstOrThrow();

/** Forgets all but the newest of the tokens that have ended. */
export async function forgetEnded(db: Executor, userId: number, kept: number): Promise<void> {
  const ended = db
    .selectFrom('personal_tokens')
    .select('id')
    .where('user_id', '=', userId)
    .where(sql<boolean>`not (${isOpen})`)
    .orderBy('id', 'desc')
    .offset(kept);
  await db.deleteFrom('personal_tokens').where('id', 'in', ended).execute();
}

/** Its name; undefined when the account has no such token. One that has ended already stays as it is. */
export async function revokeToken(db: Executor, userId: number, tokenId: number): Promise<string | undefined> {
  const row = await db
    .updateTable('personal_tokens')
    .set({ timestamp_revoked: sql<string>`coalesce(timestamp_revoked, now())` })
    .where('user_id', '=', userId)
    .where('id', '=', tokenId)
    .returning('name')
    .executeTakeFirst();
  return row?.name;
}

async function revokeAll(db: Executor, userId: number): Promise<void> {
  await db
    .updateTable('personal_tokens')
    .set({ timestamp_revoked: sql<string>`now()` })
    .where('user_id', '=', userId)
    .where('timestamp_revoked', 'is', null)
    .execute();
}

/** Ends the sessions of an account where they are to end, and with them its personal tokens. */
export async function endSessions(
  trx: Transaction<Tables>,
  userId: number,
  { sessions, personal }: { sessions: boolean; personal: boolean },
): Promise<number | undefined> {
  if (!sessions) return undefined;
  const generation = await raiseGeneration(trx, userId);
  if (personal) await revokeAll(trx, userId);
  return generation;
}

interface ValidAccess {
  /** Active accounts by id. */
  users: Map<number, { generation: number; is_superuser: boolean }>;
  personal: Set<number>;
}

/** Which of these accounts and personal tokens are valid now. */
export async function validAccessOf(db: Database, userIds: number[], tokenIds: number[]): Promise<ValidAccess> {
  const users = await db
    .selectFrom('users')
    .select(['id', 'token_generation as generation', 'is_superuser'])
    .where('id', '=', sql<number>`any(${userIds})`)
    .where('is_active', '=', true)
    .execute();
  const personal =
    tokenIds.length === 0
      ? []
      : await db
          .selectFrom('personal_tokens')
          .select('id')
          .where('id', '=', sql<number>`any(${tokenIds})`)
          .where(isOpen)
          .execute();
  return { users: new Map(users.map((user) => [user.id, user])), personal: new Set(personal.map(({ id }) => id)) };
}
