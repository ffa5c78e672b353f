/**
 * Who waits, by person: first in, first out for each of them, and the people in turn. Who leaves is forgotten.
 *
 *     const waiting = createPeopleInTurn<Reading>();
 *     waiting.add(user.id, reading);
 *     waiting.next(); // of who waited longest for a turn
 */
export interface PeopleInTurn<T> {
  /** How many wait, in all and of one person. */
  size(): number;
  sizeOf(person: number): number;
  add(person: number, one: T): void;
  /** False when it does not wait any more. */
  remove(person: number, one: T): boolean;
  /**
   * Takes the next one out. Whose `load` is least comes first, and among them who waited longest for a turn. No load is below 0,
   * and who has an infinite one waits.
   */
  next(load?: (person: number) => number): { person: number; one: T } | undefined;
}

const NO_LOAD = () => 0;

export function createPeopleInTurn<T>(): PeopleInTurn<T> {
  /** Who had a turn last is last. */
  const byPerson = new Map<number, T[]>();
  let size = 0;

  function personWithLeast(load: (person: number) => number): number | undefined {
    let best: number | undefined;
    let least = Infinity;
    for (const person of byPerson.keys()) {
      const own = load(person);
      if (own < least) [best, least] = [person, own];
      if (least === 0) break;
    }
    return best;
  }

  return {
    size: () => size,
    sizeOf: (person) => byPerson.get(person)?.length ?? 0,
    add(person, one) {
      const own = byPerson.get(person);
      if (own) own.push(one);
      else byPerson.set(person, [one]);
      size++;
    },
    remove(person, one) {
      const own = byPerson.get(person) ?? [];
      const at = own.indexOf(one);
      if (at < 0) return false;
      own.splice(at, 1);
      size--;
      if (own.length === 0) byPerson.delete(person);
      return true;
    },
    next(load = NO_LOAD) {
      const person = personWithLeast(load);
      if (person === undefined) return undefined;
      const own = byPerson.get(person)!;
      const one = own.shift()!;
      size--;
      byPerson.delete(person);
      if (own.length > 0) byPerson.set(person, own);
      return { person, one };
    },
  };
}

/** Few slots, for whoever has least under way. */
export interface SlotsInTurn {
  /** How many wait, in all and of one person. */
  size(): number;
  sizeOf(person: number): number;
  /** Begins when there is a slot for the person, perhaps at once. */
  add(person: number, begin: () => void): void;
  /** False when it has begun. */
  remove(person: number, begin: () => void): boolean;
  /** Something that has begun is over. */
  end(person: number): void;
}

const ALIKE = (_person: number, underWay: number) => underWay;

export function createSlotsInTurn(
  slots: number,
  load: (person: number, underWay: number) => number = ALIKE,
): SlotsInTurn {
  const { size, sizeOf, ...waiting } = createPeopleInTurn<() => void>();
  const running = new Map<number, number>();
  let busy = 0;

  const underWay = (person: number) => running.get(person) ?? 0;
  const loadOf = (person: number) => load(person, underWay(person));

  function advance(): void {
    while (busy < slots) {
      const next = waiting.next(loadOf);
      if (!next) return;
      busy++;
      running.set(next.person, underWay(next.person) + 1);
      next.one();
    }
  }

  return {
    size,
    sizeOf,
    add(person, begin) {
      waiting.add(person, begin);
      advance();
    },
    remove: waiting.remove,
    end(person) {
      busy--;
      const left = underWay(person) - 1;
      if (left === 0) running.delete(person);
      else running.set(person, left);
      advance();
    },
  };
}
