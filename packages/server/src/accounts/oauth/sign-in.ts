/** Which account an external one belongs to. An account is never made here: administrators create people. */
import { record } from '../../audit/index.ts';
import type { Database } from '../../db/index.ts';
import { type Origin, refuse } from '../../http/index.ts';
import type { Logger } from '../../logging/index.ts';
import type { Mailer } from '../../mail/index.ts';
import * as store from '../store/oauth.ts';
import { findCredentials } from '../store/users.ts';
import type { Counted } from '../tokens.ts';
import type { ExternalAccount } from './provider.ts';

const MAIL_EVERY_MS = 60 * 60_000;
const MOST_REMEMBERED = 1000;

/** The text for a person without an account. */
const unknownPerson = (email: string, helpUrl: string | null) =>
  `There is no account for ${email} yet. Ask an administrator to create one.` +
  (helpUrl === null ? '' : `\nYou can find help at ${helpUrl}`);

/** Tells the administrators about people who tried: every time in the log, and one mail an hour for each address. */
export function createSignupNotice(mailer: Mailer, log: Logger) {
  const told = new Map<string, number>();
  return (email: string, shown: string): void => {
    log.info(`${email} tried to sign in with an external account and has no account here`);
    const key = email.toLowerCase();
    if (Date.now() - (told.get(key) ?? 0) < MAIL_EVERY_MS) return;
    if (told.size >= MOST_REMEMBERED) told.delete(told.keys().next().value!);
    told.set(key, Date.now());
    const text =
      `Someone tried to sign in with the external account ${email}, which is not linked to an account here.\n` +
      `If this person should have access, please create an account with this e-mail address.\n\n` +
      `The person was shown this text:\n${shown}\n`;
    void mailer('New OAuth self-registration', text).then((sent) => sent || told.delete(key));
  };
}

interface SignInOptions {
  helpUrl: string | null;
  notice: (email: string, shown: string) => void;
  log: Logger;
  /** Where the person comes from. */
  address: string;
}

/** From now on whoever has the external account has this one: that is written down. */
async function link(
  db: Database,
  user: { id: number; email: string },
  { oauth_name, account_id, account_email }: ExternalAccount & { account_email: string },
  address: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await store.linkUser(trx, user.id, { oauth_name, account_id, account_email }))) return;
    const details = { provider: oauth_name, account_id, account_email };
    const by: Origin = { user, via: 'session', address };
    await record(trx, by, { action: 'user.link_account', object: ['user', user.id, user.email], details });
  });
}

export async function accountOf(db: Database, external: ExternalAccount, options: SignInOptions): Promise<Counted> {
  const { account_email } = external;
  if (account_email === undefined) throw refuse(400, 'OAUTH_NOT_AVAILABLE_EMAIL');
  const account = { ...external, account_email };
  const linked = await store.findLinkedUser(db, account);
  if (linked) {
    if (external.confirmed) await store.updateLink(db, account);
    return activeAccount(linked);
  }
  if (!external.confirmed) {
    options.log.warning(
      `The provider does not say that the address ${account_email} is confirmed, so it can’t be trusted. If nobody can enter ` +
        `an address there that is not their own, set OAUTH_TRUST_EMAIL=true.`,
    );
    throw refuse(400, 'OAUTH_NOT_AVAILABLE_EMAIL');
  }
  const user = await findCredentials(db, account_email);
  if (!user) {
    const shown = unknownPerson(account_email, options.helpUrl);
    options.notice(account_email, shown);
    throw refuse(400, shown);
  }
  await link(db, user, account, options.address);
  return activeAccount(user);
}

function activeAccount(user: { id: number; is_active: boolean; token_generation: number }): Counted {
  if (!user.is_active) throw refuse(400, 'LOGIN_BAD_CREDENTIALS');
  return { id: user.id, generation: user.token_generation };
}
