/** The SQL that the service runs while something happens. */
import pg from 'pg';

export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [first] = given as [string | { text: string }];
    seen.push(typeof first === 'string' ? first : first.text);
    return query.apply(this, given);
  } as typeof pg.Client.prototype.query;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = query as typeof pg.Client.prototype.query;
  }
  // looking for background work goes on beside everything, and so do connections that change hands
  return seen.filter((text) => !text.includes('background_work') && !text.startsWith('set statement_timeout'));
}
