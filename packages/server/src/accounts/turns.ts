/**
 * Takes turns at something scarce. Groups share it evenly: who has had the least goes first. Within a group the lowest rank
 * goes first, and among equals the newest. So a flood delays itself, and not those who come after it.
 *
 *     const turns = createTurns(2);
 *     await turns.take({ group: '10.0.0.1', rank: 0 }, () => hash(password));
 */
const MOST_WAITING = 1000;

/** The answer to the last in rank, when too many of its group wait. */
export const DISPLACED = Symbol('displaced');

export interface Standing {
  group: string;
  rank: number;
}

interface Waiting {
  rank: number;
  resolve(isMyTurn: boolean): void;
}

/** Those who wait: the lowest rank first, then the newest. Of too many, the last is sent away. */
export function createQueue() {
  // sorted, the next one at the end
  const waiting: Waiting[] = [];
  return {
    size: () => waiting.length,
    wait(rank = 0): Promise<boolean> {
      return new Promise((resolve) => {
        const behind = waiting.findLastIndex((one) => one.rank >= rank);
        waiting.splice(behind + 1, 0, { rank, resolve });
        if (waiting.length > MOST_WAITING) waiting.shift()!.resolve(false);
      });
    },
    next: () => waiting.pop()!.resolve(true),
  };
}

interface Group {
  /** Turns it has had since somebody of it began to wait. */
  had: number;
  running: number;
  queue: ReturnType<typeof createQueue>;
}

export interface Turns {
  take<T>(standing: Standing, work: () => Promise<T>): Promise<T | typeof DISPLACED>;
}

export function createTurns(places: number): Turns {
  // groups are in the order in which they came
  const groups = new Map<string, Group>();
  let free = places;

  function groupOf(name: string): Group {
    const known = groups.get(name);
    if (known) return known;
    const group = { had: 0, running: 0, queue: createQueue() };
    groups.set(name, group);
    return group;
  }

  function begin(group: Group): void {
    free--;
    group.had++;
    group.running++;
  }

  function next(): void {
    let chosen: Group | undefined;
    for (const group of groups.values()) {
      if (group.queue.size() > 0 && (!chosen || group.had <= chosen.had)) chosen = group;
    }
    if (!chosen) return;
    begin(chosen);
    chosen.queue.next();
  }

  return {
    async take({ group: name, rank }, work) {
      const group = groupOf(name);
      if (free > 0) begin(group);
      else if (!(await group.queue.wait(rank))) return DISPLACED;
      try {
        return await work();
      } finally {
        free++;
        if (--group.running === 0 && group.queue.size() === 0) groups.delete(name);
        next();
      }
    },
  };
}
