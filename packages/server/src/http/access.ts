/** Who may call what: the levels every operation names. */
import type { Access, User } from '@service/contract';

import { refuse, type Refusal } from './refusal.ts';

/** The account behind a request, and how its token came. */
export interface Caller {
  user: User;
  via: 'header' | 'cookie';
  /** When the token ends, in seconds; what goes on for long ends with it. */
  expires: number;
  /** The administrator who acts as this account. */
  actor?: number;
}

const NO_PROFILE = 'Your account has no computational profile yet. Ask an administrator to give you one.';
const GUEST = 'Guest accounts can look at everything they see and change nothing.';

/** What stands in the way of a caller, in the order token, verified, profile, guest; or nothing. */
export function accessProblem(access: Access, caller: Caller | undefined): Refusal | undefined {
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
