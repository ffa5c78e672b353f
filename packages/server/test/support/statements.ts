/** The SQL that the service runs while something happens. */
import { AsyncLocalStorage } from 'node:async_hooks';

import pg from 'pg';

/** Background work is looked for, connections change hands, and tokens of requests that take a second are looked at again. */
const BESIDE_EVERYTHING = ['background_work', 'set statement_timeout', '"token_generation" as "generation"'];

export interface SeenStatement {
  text: string;
  values: unknown[];
  /** What it gave, once it has. */
  rows: unknown[];
}

async function watched(work: () => Promise<unknown>, isMeant: () => boolean): Promise<SeenStatement[]> {
  const seen: SeenStatement[] = [];
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [first, values] = given as [string | { text: string; values?: unknown[] }, unknown];
    const own = typeof first === 'string' ? values : first.values;
    const text = typeof first === 'string' ? first : first.text;
    const statement: SeenStatement = { text, values: Array.isArray(own) ? own : [], rows: [] };
    const answered = query.apply(this, given);
    if (!isMeant()) return answered;
    seen.push(statement);
    if (answered instanceof Promise) {
      const note = ({ rows }: pg.QueryResult) => (statement.rows = rows);
      answered.then(note, () => undefined);
    }
    return answered;
  } as typeof pg.Client.prototype.query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query as typeof pg.Client.prototype.query;
  }
  return seen;
}

/** With their values, those of background work too. */
const seenStatements = (work: () => Promise<unknown>) => watched(work, () => true);

/** Only those that are run for this work, whatever else goes on meanwhile. */
export function ownStatements(work: () => Promise<unknown>): Promise<SeenStatement[]> {
  const here = new AsyncLocalStorage<boolean>();
  return here.run(true, () => watched(work, () => here.getStore() === true));
}

export const statementsOf = async (work: () => Promise<unknown>): Promise<string[]> =>
  (await seenStatements(work))
    .map(({ text }) => text)
    .filter((text) => !BESIDE_EVERYTHING.some((words) => text.includes(words)));
