/**
 * Personal access tokens: random texts that people make for their programs, with a name, an end and a scope. Only their
 * hashes are stored; a hash without salt or cost is enough, since nobody guesses 256 random bits.
 */
import { createHash, randomBytes } from 'node:crypto';

import type { PersonalTokenCreate, PersonalTokenMade } from '@service/contract';

import { record } from '../audit/index.ts';
import type { Database } from '../db/index.ts';
import { type Acting, type Caller, invalid, refuse } from '../http/index.ts';
import * as store from './store/tokens.ts';
import type { Pool } from './store/users.ts';
import * as users from './store/users.ts';

const PREFIX = 'svc_';
/** 32 bytes in base64url, behind a prefix by which people and scanners for leaked secrets know them. */
const SHAPE = /^svc_[A-Za-z0-9_-]{43}$/;
const MOST_TOKENS = 100;
const ENDED_ONES_KEPT = 20;
const DAY_MS = 86_400_000;
const NOTE_EVERY_MS = 60_000;
const MOST_NOTED = 10_000;

const GUEST = 'Guest accounts cannot make tokens. Ask an administrator for an account of your own.';
const IMPERSONATING = 'You are impersonating this account. Only its owner can make tokens for it.';

const hashOf = (token: string) => createHash('sha256').update(token).digest();

/** Reads the tokens of requests, and writes down that they were used. */
export function createPersonalTokens({ db, pool }: { db: Database; pool: Pool }) {
  const noted = new Map<number, number>();

  function note(tokenId: number): void {
    if (Date.now() - (noted.get(tokenId) ?? 0) < NOTE_EVERY_MS) return;
    if (noted.size >= MOST_NOTED) noted.delete(noted.keys().next().value!);
    noted.set(tokenId, Date.now());
    // nobody waits for it, and a use that is not written down harms nobody
    store.noteUse(db, tokenId).catch(() => noted.delete(tokenId));
  }

  return async (token: string): Promise<Omit<Caller, 'via'> | undefined> => {
    if (!SHAPE.test(token)) return undefined;
    const found = await store.findByHash(pool, hashOf(token));
    if (!found) return undefined;
    if (found.isNews) note(found.id);
    const { user, expires, id, scope } = found;
    return { user, expires, credential: { kind: 'personal', id, scope } };
  };
}

const endProblem = (msg: string) =>
  invalid([{ type: 'value_error', loc: ['body', 'timestamp_expires'], msg: `Value error, ${msg}` }]);

function checkEnd(expires: string, longestDays: number): void {
  const left = Date.parse(expires) - Date.now();
  if (left <= 0) throw endProblem('The end has passed already. Choose a later one.');
  if (left > longestDays * DAY_MS)
    throw endProblem(`A token lives for at most ${longestDays} days. Choose an earlier end.`);
}

export async function makeToken(
  db: Database,
  by: Acting,
  { user, actor, credential }: Caller,
  request: PersonalTokenCreate,
  longestDays: number,
): Promise<PersonalTokenMade> {
  if (user.is_guest) throw refuse(403, GUEST);
  if (actor !== undefined) throw refuse(403, IMPERSONATING);
  checkEnd(request.timestamp_expires, longestDays);
  const token = PREFIX + randomBytes(32).toString('base64url');
  return db.transaction().execute(async (trx) => {
    await users.lockUser(trx, user.id);
    // a session that has just been ended leaves no token behind
    const generation = await users.generationOf(trx, user.id);
    if (credential.kind !== 'session' || credential.generation !== generation) throw refuse(401);
    const names = await store.openNames(trx, user.id);
    if (names.includes(request.name)) {
      throw refuse(422, `You have a token named "${request.name}". Choose another name, or revoke that one first.`);
    }
    if (names.length >= MOST_TOKENS) {
      throw refuse(422, `You have ${MOST_TOKENS} tokens, which is the most. Revoke one that you no longer need.`);
    }
    await store.forgetEnded(trx, user.id, ENDED_ONES_KEPT);
    const made = await store.insertToken(trx, { ...request, user_id: user.id, hash: hashOf(token) });
    const { scope, timestamp_expires } = made;
    await record(trx, by, {
      action: 'token.create',
      object: ['token', made.id, made.name],
      details: { scope, timestamp_expires },
    });
    return { ...made, token };
  });
}

export const revokeToken = (db: Database, by: Acting, tokenId: number): Promise<void> =>
  db.transaction().execute(async (trx) => {
    const name = await store.revokeToken(trx, by.user.id, tokenId);
    if (name === undefined) throw refuse(404, 'You have no token with this id.');
    await record(trx, by, { action: 'token.revoke', object: ['token', tokenId, name] });
  });
