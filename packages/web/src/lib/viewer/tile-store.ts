/**
 * Tiles that were read, kept up to a limit. What is wanted is said as a whole, the most urgent first: a few are read at a
 * time, and what is no longer wanted is cancelled.
 *
 *     const store = createTileStore<Tile>({ sizeOf, onchange: repaint });
 *     store.want([{ key: '2/0/0/0/0/0', read: (signal) => reader.tile(place, signal) }]);
 *     store.get('2/0/0/0/0/0');
 */

interface Wanted<T> {
  key: string;
  /** Whether one that was read before still serves; until the next is there, it is shown. */
  serves?: ((tile: T) => boolean) | undefined;
  read: (signal: AbortSignal) => Promise<T>;
}

export interface TileStore<T> {
  want: (list: readonly Wanted<T>[]) => void;
  get: (key: string) => T | undefined;
  problem: (key: string) => Error | undefined;
  /** Of what is wanted, how many are not there yet. */
  readonly missing: number;
  clear: () => void;
}

interface Options<T> {
  sizeOf: (tile: T) => number;
  onchange: () => void;
  atOnce?: number;
  keptBytes?: number;
}

export function createTileStore<T>({
  sizeOf,
  onchange,
  atOnce = 8,
  keptBytes = 384 * 2 ** 20,
}: Options<T>): TileStore<T> {
  const kept = new Map<string, T>();
  const problems = new Map<string, Error>();
  const underWay = new Map<string, AbortController>();
  let wanted: readonly Wanted<T>[] = [];
  let bytes = 0;

  function keep(key: string, tile: T) {
    const before = kept.get(key);
    if (before !== undefined) bytes -= sizeOf(before);
    kept.set(key, tile);
    bytes += sizeOf(tile);
    const needed = new Set(wanted.map((one) => one.key));
    for (const [oldest, one] of kept) {
      if (bytes <= keptBytes) return;
      if (needed.has(oldest)) continue;
      kept.delete(oldest);
      bytes -= sizeOf(one);
    }
  }

  function isOpen({ key, serves }: Wanted<T>): boolean {
    const tile = kept.get(key);
    return !problems.has(key) && (tile === undefined || serves?.(tile) === false);
  }

  async function read({ key, read: readTile }: Wanted<T>) {
    const controller = new AbortController();
    underWay.set(key, controller);
    try {
      const tile = await readTile(controller.signal);
      if (underWay.get(key) === controller) keep(key, tile);
    } catch (error) {
      if (!controller.signal.aborted) problems.set(key, error as Error);
    } finally {
      if (underWay.get(key) === controller) {
        underWay.delete(key);
        goOn();
        onchange();
      }
    }
  }

  function goOn() {
    for (const one of wanted) {
      if (underWay.size >= atOnce) return;
      if (isOpen(one) && !underWay.has(one.key)) void read(one);
    }
  }

  return {
    want(list) {
      wanted = list;
      const keys = new Set(list.map(({ key }) => key));
      for (const [key, controller] of underWay) {
        if (keys.has(key)) continue;
        underWay.delete(key);
        controller.abort();
      }
      goOn();
    },
    get(key) {
      const tile = kept.get(key);
      if (tile === undefined) return undefined;
      kept.delete(key);
      kept.set(key, tile);
      return tile;
    },
    problem: (key) => problems.get(key),
    get missing() {
      return wanted.filter(isOpen).length;
    },
    clear() {
      for (const controller of underWay.values()) controller.abort();
      underWay.clear();
      kept.clear();
      problems.clear();
      [wanted, bytes] = [[], 0];
    },
  };
}
