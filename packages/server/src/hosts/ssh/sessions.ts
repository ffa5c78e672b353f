/** The sessions of a connection: so many at a time, who came first is first. */
import { guarded } from '../../guard.ts';
import { HostAway } from '../host.ts';

export interface Sessions {
  /** Waits for a free session; call what it gives when the session is over. */
  enter(wait: { ms: number; signal?: AbortSignal }): Promise<() => void>;
  /** How many are open. */
  open(): number;
  /** The host allows fewer than we thought: keeps below what it just refused, with one to spare. */
  shrink(): void;
  /** A new connection may allow more. */
  reset(): void;
}

export function createSessions(name: string, most: number): Sessions {
  let [limit, open] = [most, 0];
  const waiting = new Set<() => void>();

  const callNext = () => {
    const [first] = waiting;
    if (first !== undefined && open < limit) first();
  };
  const leave = () => {
    open -= 1;
    callNext();
  };

  return {
    enter({ ms, signal }) {
      return new Promise((resolve, reject) => {
        const stop = (problem: Error) => {
          settle();
          reject(problem);
        };
        const guardedAbort = guarded(() => stop(signal!.reason as Error), reject);
        const tooLate = () =>
          stop(
            new HostAway(
              `${name} was too busy: no session got free within ${Number((ms / 1000).toPrecision(2))} s (${limit} at a time).`,
            ),
          );
        const timer = setTimeout(guarded(tooLate, reject), ms);
        const go = () => {
          settle();
          open += 1;
          let left = false;
          resolve(() => {
            if (!left) leave();
            left = true;
          });
          callNext();
        };
        const settle = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', guardedAbort);
          waiting.delete(go);
        };
        signal?.addEventListener('abort', guardedAbort);
        waiting.add(go);
        if (signal?.aborted) guardedAbort();
        else callNext();
      });
    },
    open: () => open,
    shrink: () => void (limit = Math.max(1, Math.min(limit, open - 2))),
    reset: () => void (limit = most),
  };
}
