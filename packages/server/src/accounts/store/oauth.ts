/**
 * The SQL of external accounts. The provider's own tokens are not kept: nothing of ours needs them after the sign-in.
 */
import type { Transaction } from 'kysely';

import type { Database, Tables } from '../../db/index.ts';

interface Account {
  oauth_name: string;
  account_id: string;
  account_email: string;
}

export const findLinkedUser = (db: Database, account: Account) =>
  db
    .selectFrom('oauth_accounts')
    .innerJoin('users', 'users.id', 'oauth_accounts.user_id')
    .select(['users.id', 'users.is_active', 'users.token_generation'])
    .where('oauth_name', '=', account.oauth_name)
    .where('account_id', '=', account.account_id)
    .executeTakeFirst();

export async function updateLink(db: Database, { oauth_name, account_id, account_email }: Account): Promise<void> {
  await db
    .updateTable('oauth_accounts')
    .set({ account_email })
    .where('oauth_name', '=', oauth_name)
    .where('account_id', '=', account_id)
    .execute();
}

/** Two sign-ins at once make one link; says whether this one did. */
export async function linkUser(
  db: Transaction<Tables>,
  userId: number,
  { oauth_name, account_id, account_email }: Account,
): Promise<boolean> {
  const made = await db
    .insertInto('oauth_accounts')
    .values({ user_id: userId, oauth_name, account_id, account_email })
    .onConflict((conflict) => conflict.constraint('oauth_accounts_unique').doNothing())
    .executeTakeFirst();
  return (made.numInsertedOrUpdatedRows ?? 0n) > 0n;
}
