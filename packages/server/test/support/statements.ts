/** The SQL that the service runs while something happens. */
import pg from 'pg';

/** Background work is looked for, connections change hands, and tokens of requests that take a second are looked at again. */
const BESIDE_EVERYTHING = ['background_work', 'set statement_timeout', '"token_generation" as "generation"'];

export interface SeenStatement {
  text: string;
  values: unknown[];
}

/** With their values, those of background work too. */
export async function seenStatements(work: () => Promise<unknown>): Promise<SeenStatement[]> {
  const seen: SeenStatement[] = [];
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [first, values] = given as [string | { text: string; values?: unknown[] }, unknown];
    const own = typeof first === 'string' ? values : first.values;
    seen.push({ text: typeof first === 'string' ? first : first.text, values: Array.isArray(own) ? own : [] });
    return query.apply(this, given);
  } as typeof pg.Client.prototype.query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query as typeof pg.Client.prototype.query;
  }
  return seen;
}

export const statementsOf = async (work: () => Promise<unknown>): Promise<string[]> =>
  (await seenStatements(work))
    .map(({ text }) => text)
    .filter((text) => !BESIDE_EVERYTHING.some((words) => text.includes(words)));
