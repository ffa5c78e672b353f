/**
 * Statements that are planned once a connection: what comes again gets a name, under which the database keeps it.
 *
 * A plan that is kept cannot look at values. So statements whose best plan depends on them (filters of images, pages,
 * patterns, lists) have no name, and neither have those whose text differs with the length of a list: the database would keep
 * each of them. One that is written so that a single plan is good for all values says so (`ONE_PLAN`). A connection keeps so many; one that has no room left, or whose plans are out of date since a table was
 * changed, is to be replaced (`isWorn`).
 */
import { createHash } from 'node:crypto';

import pg from 'pg';

import { chunksOf, copyIn } from './copy-in.ts';

/** Names of one connection: more than the statements that come all the time, and little memory for the database. */
const NAMES_PER_CONNECTION = 300;
/** What is asked once at the start, or now and then, needs no name. */
const NAMED_FROM_USE = 3;
/** Texts that are remembered; where more occur, counting begins anew. */
const REMEMBERED_TEXTS = 2000;
const LONGEST_TEXT = 10_000;

const DEPENDS_ON_VALUES = [
  /\b(limit|offset|i?like) \$/, // how much of it is wanted
  /\b(any|unnest)\(\$\d+(?!::int\[\])/, // how many there are; ids are looked up one by one, however many
  /\bin \(\$\d+, /,
  /&&|@>|@@/, // which index finds few
];

/** Begins a statement that leaves the database no choice that could be wrong for some values. */
export const ONE_PLAN = '/* one plan for all values */';

/** True where the best plan is another one for other values, or the text is another one for other lists. */
export const dependsOnValues = (text: string): boolean =>
  !text.startsWith(ONE_PLAN) && (text.length > LONGEST_TEXT || DEPENDS_ON_VALUES.some((pattern) => pattern.test(text)));

interface Known {
  uses: number;
  /** None for a statement that is planned for its values. */
  name: string | undefined;
}

const known = new Map<string, Known>();

/** By the text: where several processes share a connection of the database, a name means the same to all of them. */
const nameOf = (text: string) => `s${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;

function nameWhenUsed(text: string): string | undefined {
  let statement = known.get(text);
  if (!statement) {
    if (known.size >= REMEMBERED_TEXTS) known.clear();
    statement = { uses: 0, name: dependsOnValues(text) ? undefined : nameOf(text) };
    known.set(text, statement);
  }
  statement.uses++;
  return statement.uses < NAMED_FROM_USE ? undefined : statement.name;
}

/** What the database kept is out of date, or not there: a table was changed, or a pooler gave us another connection. */
export function isStalePlan(error: unknown): boolean {
  const { code, message = '' } = (error ?? {}) as { code?: string; message?: string };
  if (code === '26000' || code === '42P05') return true;
  return code === '0A000' && message.startsWith('cached plan');
}

interface Statement {
  text: string;
  values: unknown[];
  name?: string | undefined;
}

type Callback = (error: unknown, result?: unknown) => void;

const isStatement = (given: unknown): given is Statement =>
  typeof given === 'object' && given !== null && Object.hasOwn(given, 'text') && !('submit' in given);

/** A connection whose names are used up, or no longer mean what they did. */
export const isWorn = (client: pg.ClientBase): boolean => worn.has(client);
const worn = new WeakSet<pg.ClientBase>();

/**
 * Connections for a pool. Only statements that have values are named: others may be several in one text. Without `named`,
 * where a pooler gives every transaction another connection of the database, none is.
 */
export function namingClient({ named }: { named: boolean }): new (config?: pg.ClientConfig) => pg.Client {
  return class NamingClient extends pg.Client {
    readonly #names = new Set<string>();

    // the library has many ways to ask; those that Kysely and the pool use are named, others pass
    override query(...given: unknown[]): never {
      const [first, values, callback] = given;
      const chunks = chunksOf(first, values);
      if (chunks) return copyIn(this, (stream) => super.query(stream), first as string, chunks) as never;
      const hasName = isStatement(first) && first.name !== undefined;
      if (!hasName && !(typeof first === 'string' && Array.isArray(values) && values.length > 0)) {
        return super.query(...(given as [string])) as never;
      }
      const asked: Statement = hasName ? first : { text: first as string, values: values as unknown[] };
      const answered = this.#run({ ...asked, name: this.#nameFor(asked) });
      const then = (typeof values === 'function' ? values : callback) as Callback | undefined;
      if (!then) return answered as never;
      answered.then((result) => then(undefined, result), then);
      return undefined as never;
    }

    #nameFor({ text, name = nameWhenUsed(text) }: Statement): string | undefined {
      if (!named || name === undefined || worn.has(this)) return undefined;
      if (this.#names.has(name)) return name;
      if (this.#names.size >= NAMES_PER_CONNECTION) {
        worn.add(this);
        return undefined;
      }
      this.#names.add(name);
      return name;
    }

    /** Asks again without a name what failed for its plan. In a transaction all has failed with it. */
    async #run({ text, values, name }: Statement): Promise<unknown> {
      if (name === undefined) return super.query(text, values);
      const inTransaction = this.getTransactionStatus() !== 'I';
      try {
        return await super.query({ text, values, name });
      } catch (error) {
        if (!isStalePlan(error)) throw error;
        worn.add(this);
        if (inTransaction) throw error;
        return super.query(text, values);
      }
    }
  };
}
