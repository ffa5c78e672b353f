/**
 * What is being answered now, and for whose token. When a token ends, whatever goes on with it ends too: requests, event
 * streams, downloads.
 *
 * A raised counter is heard at once in the process that raised it. Other processes look: once a second while something is
 * under way, with one question for all of it.
 */
import type { Database } from '../db/index.ts';
import { guarded } from '../guard.ts';
import type { Caller } from '../http/index.ts';
import type { Logger } from '../logging/index.ts';
import { validAccessOf } from './store/tokens.ts';

const LOOK_EVERY_MS = 1000;

interface Held {
  caller: Caller;
  end(): void;
}

export interface UnderWay {
  /** Calls `end` when the token of the caller has ended. Gives back what lets go of it. */
  hold(caller: Caller, end: () => void): () => void;
  /** Looks now: a token has just ended. */
  look(): void;
  close(): void;
}

type ValidAccess = Awaited<ReturnType<typeof validAccessOf>>;

const isOver = ({ expires }: Caller) => expires * 1000 <= Date.now();

function isValid({ user, credential }: Caller, { users, personal }: ValidAccess): boolean {
  const account = users.get(user.id);
  if (!account) return false;
  if (credential.kind === 'personal') return personal.has(credential.id);
  const { actor, generation } = credential;
  const administrator = actor && users.get(actor.id);
  const mayAct = !actor || (administrator?.is_superuser && administrator.generation === actor.generation);
  return account.generation === generation && mayAct === true;
}

export function createUnderWay(db: Database, log: Logger): UnderWay {
  const held = new Set<Held>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;
  let again = false;
  let closed = false;

  function endAll(over: Held[]): void {
    for (const one of over) {
      held.delete(one);
      one.end();
    }
  }

  async function lookOnce(): Promise<void> {
    endAll([...held].filter(({ caller }) => isOver(caller)));
    const asked = [...held];
    if (asked.length === 0) return;
    const userIds = new Set<number>();
    const tokenIds = new Set<number>();
    for (const { caller } of asked) {
      userIds.add(caller.user.id);
      if (caller.actor !== undefined) userIds.add(caller.actor);
      if (caller.credential.kind === 'personal') tokenIds.add(caller.credential.id);
    }
    const valid = await validAccessOf(db, [...userIds], [...tokenIds]);
    endAll(asked.filter((one) => held.has(one) && !isValid(one.caller, valid)));
  }

  /** A service that is being stopped has closed its database. */
  const failed = (error: unknown) => {
    if (!closed) log.warning('Asking which tokens still stand failed', error);
  };

  async function look(): Promise<void> {
    again = looking;
    if (looking || closed) return;
    looking = true;
    clearTimeout(timer);
    timer = undefined;
    do {
      again = false;
      await lookOnce().catch(failed);
    } while (again);
    looking = false;
    lookLater();
  }

  function lookLater(): void {
    if (timer !== undefined || looking || closed || held.size === 0) return;
    timer = setTimeout(guarded(look, failed), LOOK_EVERY_MS).unref();
  }

  return {
    hold(caller, end) {
      const one = { caller, end };
      held.add(one);
      lookLater();
      return () => held.delete(one);
    },
    look: () => void look(),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
