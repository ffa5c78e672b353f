/** Collects what happens to units and stores it a few times a second, however many there are. */
import { guarded } from '../../guard.ts';

const PAUSE_MS = 250;

export interface UpdateBuffer<T> {
  /** What is known of the same key already stays, unless it is told anew. */
  add(key: number, update: T): void;
  /** Stores what is left; fails with what went wrong meanwhile. */
  close(): Promise<void>;
}

export function createUpdateBuffer<T extends object>(
  store: (updates: T[]) => Promise<void>,
  onTrouble: (error: unknown) => void,
): UpdateBuffer<T> {
  let waiting = new Map<number, T>();
  let timer: NodeJS.Timeout | undefined;
  let last = 0;
  let writing: Promise<void> = Promise.resolve();
  let trouble: unknown;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const updates = [...waiting.values()];
    waiting = new Map();
    if (updates.length === 0) return;
    writing = writing
      .then(() => (trouble === undefined ? store(updates) : undefined))
      .catch((error: unknown) => {
        trouble = error;
        onTrouble(error);
      })
      .finally(() => (last = Date.now()));
  }

  return {
    add(key, update) {
      const before = waiting.get(key);
      waiting.set(key, before ? { ...before, ...update } : update);
      timer ??= setTimeout(guarded(flush, onTrouble), Math.max(0, last + PAUSE_MS - Date.now()));
    },
    async close() {
      flush();
      await writing;
      if (trouble !== undefined) throw trouble as Error;
    },
  };
}
