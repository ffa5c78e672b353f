/**
 * What a process makes for people: asked for once however many want it, a few at a time, and remembered for a moment, so that
 * a page full of pictures costs little. What kills the process is not tried again for a while.
 */
import { createHash } from 'node:crypto';

import { guarded, ignored } from '../guard.ts';
import type { Folders } from '../folders/index.ts';
import { createLine, refuse, tooBusy } from '../http/index.ts';
import type { Done, Kept } from './order.ts';
import { createStudioProcess, type Died, type StudioOptions } from './process.ts';

const AT_ONCE = 2;
const LONGEST_LINE = 2000;
const LONGEST_OF_ONE = 500;
const FRESH_MS = 2000;
const BANNED_MS = 60_000;
const MOST_REMEMBERED = 2000;

export interface MakerOptions extends StudioOptions {
  /** To be counted up when something is made in another way: what is older is then made again. */
  version: number;
  /** For who finds too many before. */
  busy: string;
  /** For who asks for what ended the process. */
  deaths: Record<Died['died'], string>;
}

export interface Asker {
  person: number;
  folders: Folders;
  /** Of the files that are asked about, as far as the service knows: another text when it knows that they changed. */
  state: string;
  /** Aborted when nobody waits for the answer. */
  signal: AbortSignal;
}

export interface Maker<Ask> {
  /** Refuses with 422 what cannot be made. */
  make(ask: Ask, asker: Asker): Promise<Kept>;
  /** What was made is not where it was. */
  forget(ask: Ask, asker: Asker): void;
  close(): void;
}

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');

interface Under {
  done: Promise<Done>;
  waiting: number;
  controller: AbortController;
}

/** Keeps what was found out for a moment, and not too much of it. */
function createRemembered<T>() {
  const all = new Map<string, { value: T; until: number }>();
  return {
    get: (key: string) => {
      const found = all.get(key);
      return found && found.until > Date.now() ? found.value : undefined;
    },
    set(key: string, value: T, ms: number) {
      all.delete(key);
      all.set(key, { value, until: Date.now() + ms });
      if (all.size > MOST_REMEMBERED) all.delete(all.keys().next().value!);
    },
    delete: (key: string) => all.delete(key),
  };
}

export function createMaker<Ask>(options: MakerOptions): Maker<Ask> {
  const { version, busy, deaths } = options;
  const studio = createStudioProcess<Ask>(options);
  const line = createLine({ slots: AT_ONCE, longest: LONGEST_LINE, longestOfOne: LONGEST_OF_ONE, busy });
  const under = new Map<string, Under>();
  const fresh = createRemembered<Kept>();
  const refused = createRemembered<string>();
  const open = new Set<Promise<unknown>>();
  /** Settled unless an order is being tried with nobody beside it. */
  let alone: Promise<unknown> = Promise.resolve();
  let isAlone = false;

  async function once(order: { key: string; ask: Ask; folders: Folders['list']; state: string }, signal: AbortSignal) {
    const work = studio.carryOut(order, signal);
    open.add(work);
    try {
      return await work;
    } finally {
      open.delete(work);
    }
  }

  /** Where the process died of one of several, each is tried again with nobody beside it. */
  async function carefully(order: Parameters<typeof once>[0], signal: AbortSignal): Promise<Done | Died> {
    while (isAlone) await alone;
    const first = await once(order, signal);
    if (!('died' in first) || first.guilty === 'yes') return first;
    if (first.guilty === 'no') return once(order, signal);
    while (isAlone) await alone;
    isAlone = true;
    const second = Promise.allSettled(open)
      .then(() => once(order, signal))
      .finally(() => (isAlone = false));
    alone = second.catch(() => undefined);
    return second;
  }

  async function work(
    key: string,
    mine: string,
    ask: Ask,
    { person, folders, state }: Asker,
    signal: AbortSignal,
  ): Promise<Done> {
    const begin = () => carefully({ key, ask, folders: folders.list, state }, signal);
    const done = await line.take(person, begin, signal);
    if ('kept' in done) fresh.set(hashOf([key, state]), done.kept, FRESH_MS);
    if ('problem' in done) refused.set(mine, done.problem, FRESH_MS);
    if (!('died' in done)) return done;
    refused.set(mine, deaths[done.died], BANNED_MS);
    return { problem: deaths[done.died] };
  }

  /** Asks together with all others who want the same. */
  async function together(key: string, mine: string, ask: Ask, asker: Asker): Promise<Done> {
    let shared = under.get(mine);
    if (!shared) {
      const controller = new AbortController();
      const done = work(key, mine, ask, asker, controller.signal).finally(() => under.delete(mine));
      shared = { done, waiting: 0, controller };
      under.set(mine, shared);
    }
    const { done, controller } = shared;
    shared.waiting++;
    const leave = () => {
      if (--shared.waiting > 0) return;
      if (under.get(mine) === shared) under.delete(mine);
      controller.abort(refuse(499, 'Nobody waits for this.'));
    };
    const guardedLeave = guarded(leave, ignored);
    asker.signal.addEventListener('abort', guardedLeave, { once: true });
    try {
      return await done;
    } finally {
      asker.signal.removeEventListener('abort', guardedLeave);
    }
  }

  /** What was made of files in folders that the asker may not read is made again, with their eyes. */
  const mayHave = async ({ folders }: Kept, asker: Asker) =>
    (await Promise.all(folders.map((one) => asker.folders.holding(one)))).every((one) => one !== undefined);

  return {
    async make(ask, asker) {
      const key = hashOf([version, ask]);
      const mine = hashOf([key, asker.folders.list, asker.state]);
      const recent = fresh.get(hashOf([key, asker.state]));
      if (recent && (await mayHave(recent, asker))) return recent;
      const known = refused.get(mine);
      if (known !== undefined) throw refuse(422, known);
      asker.signal.throwIfAborted();
      const done = await together(key, mine, ask, asker);
      if ('kept' in done) return done.kept;
      if ('problem' in done) throw refuse(422, done.problem);
      if ('defect' in done) throw new Error(`The process for ${options.work} failed: ${done.defect}`);
      throw tooBusy(busy);
    },
    forget: (ask, { state }) => fresh.delete(hashOf([hashOf([version, ask]), state])),
    close: () => studio.close(),
  };
}
