/** Passwords of databases in ~/.pgpass, as the programs of PostgreSQL read them: `host:port:database:user:password`. */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

interface ServerAddress {
  host: string;
  port: number;
  database?: string | undefined;
  user?: string | undefined;
}

/** A backslash lets `:` and itself be part of a field. */
const fieldsOf = (line: string) =>
  [...line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g)].map(([, field]) => field!.replace(/\\(.)/g, '$1'));

/** Like them, it ignores a file that others can read. */
function read(path: string): string {
  try {
    return (statSync(path).mode & 0o077) === 0 ? readFileSync(path, 'utf8') : '';
  } catch {
    return ''; // most people have none
  }
}

export function passwordInFile({ host, port, database = '', user = '' }: ServerAddress): string | undefined {
  const text = read(process.env['PGPASSFILE'] ?? join(homedir(), '.pgpass'));
  const wanted = [host, String(port), database, user];
  for (const line of text.split(/\r?\n/)) {
    const fields = fieldsOf(line);
    if (line.startsWith('#') || fields.length < 5) continue;
    if (wanted.every((value, index) => fields[index] === '*' || fields[index] === value)) return fields[4];
  }
  return undefined;
}
