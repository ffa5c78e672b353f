/**
 * Statements that are put together once, and run with other values each time. For what is asked with every page: to put one
 * together takes longer than to run it.
 *
 *     const findUser = builtOnce((db, { id }: { id: number }) => db.selectFrom('users').selectAll().where('id', '=', id));
 *     const rows = await findUser(db, { id: 7 });
 *
 * `build` sees which values there are, and passes them on; what they are it cannot know.
 */
import type { Compilable, CompiledQuery, Kysely } from 'kysely';

import type { Tables } from './schema.ts';

/** Filters can be combined in many ways; where more occur, they are built anew. */
const REMEMBERED = 100;

/** Stands in a statement for a value. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  [Symbol.toPrimitive](): never {
    throw new Error(`A statement that is built once depends on the value of ${this.name}`);
  }
}

export function builtOnce<Given extends object, Row>(
  build: (db: Kysely<Tables>, given: Given) => Compilable<Row>,
): (db: Kysely<Tables>, given: Given) => Promise<Row[]> {
  const known = new Map<string, CompiledQuery<Row>>();

  function statementFor(db: Kysely<Tables>, names: string[]): CompiledQuery<Row> {
    const key = names.join();
    const found = known.get(key);
    if (found) return found;
    const placeholders = Object.fromEntries(names.map((name) => [name, new Placeholder(name)]));
    const built = build(db, placeholders as Given).compile();
    if (known.size >= REMEMBERED) known.clear();
    known.set(key, built);
    return built;
  }

  return async (db, given) => {
    const values = given as Record<string, unknown>;
    const names = Object.keys(values).filter((name) => values[name] !== undefined);
    const statement = statementFor(db, names);
    const parameters = statement.parameters.map((value) => (value instanceof Placeholder ? values[value.name] : value));
    return (await db.executeQuery<Row>({ ...statement, parameters })).rows;
  };
}
