/** Who does something, as whom, and from where: what handlers give on to functions that have it written down. */
import type { AuditVia, User } from '@service/contract';

import type { Caller } from './access.ts';

export interface Origin {
  /** The account whose rights count; null for whoever operates the service. */
  user: Pick<User, 'id' | 'email'> | null;
  /** The administrator who acts as this account. */
  actor?: number | undefined;
  via: AuditVia;
  /** The network address, as trusted proxies tell it; of an operator the account and the machine. */
  address: string;
}

/** What a person asked for. */
export interface Acting extends Origin {
  user: User;
}

/** Nobody, for operations that anyone may call. */
export function actingOf(caller: Caller | undefined, { ip }: { ip: string }): Acting | undefined {
  if (!caller) return undefined;
  const { user, actor, credential } = caller;
  return { user, actor, via: credential.kind === 'session' ? 'session' : 'token', address: ip };
}
