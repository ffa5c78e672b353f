/**
 * Takes turns at something scarce. Groups share it evenly: who has had the least goes first. Within a group the lowest rank
 * goes first, and among equals the newest. So a flood delays itself, and not those who come after it. Who takes turns at one
 * thing after the other says once when they came (`came`): else who was late at the first would count as new at the second.
 *
 *     const turns = createGroupTurns(2);
 *     await turns.take({ group: '10.0.0.1', rank: 0 }, () => hash(password));
 */
export const MOST_WAITING = 1000;

/** The answer to the last in rank, when too many of its group wait, and to who has gone before its turn. */
export const DISPLACED = Symbol('displaced');

export interface TurnRequest {
  group: string;
  rank: number;
  /** A number that grows with the time; now, if it is left out. */
  came?: number | undefined;
  /** Whether nobody waits for the answer any more. */
  isGone?: (() => boolean) | undefined;
}

let newest = 0;
export const comesNow = (): number => ++newest;

interface Waiting {
  rank: number;
  came: number;
  resolve(isMyTurn: boolean): void;
}

/** Those who wait: the lowest rank first, then the newest. Of too many, the last is sent away. */
export function createRankedQueue(mostWaiting = MOST_WAITING) {
  // sorted, the next one at the end
  const waiting: Waiting[] = [];
  return {
    size: () => waiting.length,
    /** When the next one came. */
    came: () => waiting.at(-1)!.came,
    wait({ rank = 0, came = comesNow() }: Partial<TurnRequest> = {}): Promise<boolean> {
      return new Promise((resolve) => {
        const behind = waiting.findLastIndex((one) => one.rank > rank || (one.rank === rank && one.came < came));
        waiting.splice(behind + 1, 0, { rank, came, resolve });
        if (waiting.length > mostWaiting) waiting.shift()!.resolve(false);
      });
    },
    next: () => waiting.pop()!.resolve(true),
  };
}

interface Group {
  /** Turns it has had since somebody of it began to wait. */
  had: number;
  running: number;
  queue: ReturnType<typeof createRankedQueue>;
}

export interface GroupTurns {
  take<T>(request: TurnRequest, work: () => Promise<T>): Promise<T | typeof DISPLACED>;
}

/** `mostWaiting`: of one group; the last in rank of more than that are sent away. */
export function createGroupTurns(slots: number, mostWaiting = MOST_WAITING): GroupTurns {
  const groups = new Map<string, Group>();
  let free = slots;

  function groupOf(name: string): Group {
    const known = groups.get(name);
    if (known) return known;
    const group = { had: 0, running: 0, queue: createRankedQueue(mostWaiting) };
    groups.set(name, group);
    return group;
  }

  function begin(group: Group): void {
    free--;
    group.had++;
    group.running++;
  }

  const isBefore = (one: Group, other: Group) =>
    one.had < other.had || (one.had === other.had && one.queue.came() > other.queue.came());

  function next(): void {
    let chosen: Group | undefined;
    for (const group of groups.values()) {
      if (group.queue.size() > 0 && (!chosen || isBefore(group, chosen))) chosen = group;
    }
    if (!chosen) return;
    begin(chosen);
    chosen.queue.next();
  }

  return {
    async take({ group: name, rank, came, isGone }, work) {
      const group = groupOf(name);
      if (free > 0) begin(group);
      else if (!(await group.queue.wait({ rank, came }))) return DISPLACED;
      try {
        return isGone?.() ? DISPLACED : await work();
      } finally {
        free++;
        if (--group.running === 0 && group.queue.size() === 0) groups.delete(name);
        next();
      }
    },
  };
}
