/** Collects what happens to units and stores it a few times a second, however many there are. */
import { guarded } from '../../guard.ts';

const PAUSE_MS = 250;

export interface Collector<T> {
  add(key: number, news: T): void;
  /** Stores what is left; fails with what went wrong meanwhile. */
  close(): Promise<void>;
}

export function collector<T extends object>(
  store: (news: T[]) => Promise<void>,
  onTrouble: (error: unknown) => void,
): Collector<T> {
  let waiting = new Map<number, T>();
  let timer: NodeJS.Timeout | undefined;
  let last = 0;
  let writing: Promise<void> = Promise.resolve();
  let trouble: unknown;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    const news = [...waiting.values()];
    waiting = new Map();
    if (news.length === 0) return;
    writing = writing
      .then(() => (trouble === undefined ? store(news) : undefined))
      .catch((error: unknown) => {
        trouble = error;
        onTrouble(error);
      })
      .finally(() => (last = Date.now()));
  }

  return {
    add(key, news) {
      const before = waiting.get(key);
      waiting.set(key, before ? { ...before, ...news } : news);
      timer ??= setTimeout(guarded(flush, onTrouble), Math.max(0, last + PAUSE_MS - Date.now()));
    },
    async close() {
      flush();
      await writing;
      if (trouble !== undefined) throw trouble as Error;
    },
  };
}
