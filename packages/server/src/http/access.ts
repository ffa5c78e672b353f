/** Who may call what: the levels every operation names. */
import {
  type Access,
  type NeededScope,
  type Operation,
  TOKEN_SCOPES,
  type TokenScope,
  type User,
} from '@service/contract';

import { refuse, type Refusal } from './refusal.ts';

/** What a caller showed: a session with the counters it was issued at, or a token that a person made for a program. */
type Credential =
  | { kind: 'session'; generation: number; actor?: { id: number; generation: number } }
  | { kind: 'personal'; id: number; scope: TokenScope };

/** The account behind a request, and how its token came. */
export interface Caller {
  user: User;
  via: 'header' | 'cookie';
  /** When the token ends, in seconds; what goes on for long ends with it. */
  expires: number;
  credential: Credential;
  /** The administrator who acts as this account. */
  actor?: number;
}

const NO_PROFILE = 'Your account has no computational profile yet. Ask an administrator to give you one.';
const GUEST = 'Guest accounts can look at everything they see and change nothing.';

/** What stands in the way of a caller, in the order token, verified, profile, guest; or nothing. */
function accessProblem(access: Access, caller: Caller | undefined): Refusal | undefined {
  if (access === 'anonymous') return undefined;
  if (!caller) return refuse(401);
  const { user } = caller;
  if (access === 'active') return undefined;
  if (access === 'superuser') return user.is_superuser ? undefined : refuse(403);
  if (!user.is_verified) return refuse(403);
  if (access === 'verified') return undefined;
  if (user.profile_id === null) return refuse(403, NO_PROFILE);
  return access === 'member' && user.is_guest ? refuse(403, GUEST) : undefined;
}

const LIMITED: Record<TokenScope, string> = {
  read: "This token can only read. Make one with the scope 'run' to submit and stop jobs, or 'everything', or sign in.",
  run: "This token can read, and submit and stop jobs. Make one with the scope 'everything', or sign in.",
  everything: '',
};
const ONLY_SIGNED_IN =
  'No personal access token can do this: neither make tokens, nor create or change accounts, nor impersonate. ' +
  'Sign in with your password or external account.';

/** Where a personal token falls short of what an operation needs. */
function scopeProblem(needed: NeededScope, caller: Caller | undefined): Refusal | undefined {
  if (caller?.credential.kind !== 'personal') return undefined;
  if (needed === 'session') return refuse(403, ONLY_SIGNED_IN);
  const { scope } = caller.credential;
  return TOKEN_SCOPES.indexOf(scope) < TOKEN_SCOPES.indexOf(needed) ? refuse(403, LIMITED[scope]) : undefined;
}

/** What stands in the way of a caller: who it is, then what the token is for. */
export const callerProblem = ({ access, scope }: Pick<Operation, 'access' | 'scope'>, caller: Caller | undefined) =>
  accessProblem(access, caller) ?? scopeProblem(scope, caller);
