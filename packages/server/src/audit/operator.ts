/** Whoever operates the service has no account here: the account of the operating system and the machine are written down. */
import { hostname, userInfo } from 'node:os';

import type { Origin } from '../http/index.ts';

/** The account that runs this process may have no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

export const operator = (via: 'servicectl' | 'start'): Origin => ({
  user: null,
  via,
  address: `${accountName()}@${hostname()}`,
});
