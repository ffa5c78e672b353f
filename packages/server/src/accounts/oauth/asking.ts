/**
 * How often a provider is asked for those who come back from it. Anybody can begin a sign-in and come back with codes that
 * nobody got, as fast as they like; the provider would see us as the attacker. So who comes with a wrong code waits longer
 * and longer, as with wrong passwords, and few are asked for at a time. Who comes with a right one is not kept out by others.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { refuse } from '../../http/index.ts';
import { createThrottle } from '../throttle.ts';
import { createGroupTurns } from '../turns.ts';

const AT_ONCE = 8;
/** All sign-ins are for one provider. */
const PROVIDER = 'provider';

const BUSY = 'Too many people sign in at the same time. Wait a few seconds and sign in again.';

export interface Asking {
  /** Does the work when it is the turn of this address. What fails has been a wrong attempt. */
  inTurn<T extends object>(from: { address: string; isGone: () => boolean }, work: () => Promise<T>): Promise<T>;
}

export function createAsking(): Asking {
  const throttle = createThrottle(sleep);
  const turns = createGroupTurns(AT_ONCE);
  return {
    async inTurn(from, work) {
      let failure: unknown;
      const outcome = await throttle.attempt({ ...from, account: PROVIDER }, (request) =>
        turns.take(request, () =>
          work().catch((error: unknown) => {
            failure = error;
            return undefined;
          }),
        ),
      );
      if (outcome === 'busy') throw refuse(429, BUSY, { 'retry-after': '5' });
      if (outcome === undefined) throw failure;
      return outcome;
    },
  };
}
