/**
 * Passwords: their rules, and hashes that are slow on purpose.
 *
 * New hashes are argon2id; bcrypt ones, which existing deployments hold, still verify. Hashing runs on threads, on all
 * cores but one, so that other requests are answered meanwhile.
 */
import { hash as argon2Hash, verify as argon2Verify } from '@node-rs/argon2';
import { verify as bcryptVerify } from '@node-rs/bcrypt';
import { availableParallelism } from 'node:os';

import { createGroupTurns, DISPLACED, type TurnRequest } from './turns.ts';

const SHORTEST = 4;
const LONGEST_BYTES = 72;
const ARGON2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const CURRENT = '$argon2id$v=19$m=19456,t=2,p=1$';

/** What is wrong with a new password, or nothing. */
export function passwordProblem(password: string): string | undefined {
  if ([...password].length < SHORTEST) return `A password has at least ${SHORTEST} characters.`;
  if (Buffer.byteLength(password) > LONGEST_BYTES) return `A password has at most ${LONGEST_BYTES} bytes.`;
  return undefined;
}

const hashing = createGroupTurns(Math.max(1, availableParallelism() - 1));

/** Of those who have a right to it: they take turns with each other only. */
export async function hashPassword(password: string): Promise<string> {
  for (;;) {
    const hash = await hashing.take({ group: 'new passwords', rank: 0 }, () => argon2Hash(password, ARGON2));
    if (hash !== DISPLACED) return hash;
  }
}

/** The hash of nobody's password: checking it takes as long as checking a real one. */
let dummy: Promise<string> | undefined;
const dummyHash = () => (dummy ??= hashPassword('nobody has this password'));

/** There is no end of names that nobody has: wherever they come from, they share one part of the work. */
const NOBODY = 'nobody';

/** Compares in the same time whether or not there is an account. */
export async function checkPassword(
  password: string,
  hash: string | undefined,
  request: TurnRequest,
): Promise<boolean | typeof DISPLACED> {
  if (Buffer.byteLength(password) > LONGEST_BYTES) return false;
  const stored = hash ?? (await dummyHash());
  const right = await hashing.take(hash === undefined ? { ...request, group: NOBODY } : request, async () => {
    try {
      return stored.startsWith('$argon2') ? await argon2Verify(stored, password) : await bcryptVerify(password, stored);
    } catch {
      return false; // not a hash of a kind we know
    }
  });
  return right === DISPLACED ? DISPLACED : right && hash !== undefined;
}

export const isOutdated = (hash: string) => !hash.startsWith(CURRENT);
