/** `servicectl import-db`: the database of an existing deployment becomes ours, or nothing happens. */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { parseEnv } from 'node:util';

import type { Command } from 'commander';

import { isSecretKept, keptSecret } from '../db/index.ts';
import {
  importDatabase,
  type ImportOptions,
  ImportRefused,
  openReportFile,
  openSource,
  reportText,
  type SourceAddress,
  textTable,
  verifyImport,
} from '../import/index.ts';
import { loadSettings, loggingFor, openForImport, SIGNING_KEY, type Workplace } from '../workplace.ts';
import { CommandFailed } from './tools.ts';

interface Options {
  from?: string;
  fromEnv?: string;
  dryRun?: true;
  verify?: true;
  report?: string;
  orphansTo?: string;
  sourceInUse?: true;
  files: boolean;
}

const PROGRESS_EVERY_MS = 1000;

/** What is wrong with an address, or nothing. A password on the command line can be seen in the list of processes. */
function addressProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2) {
    return '--from must be like postgresql://user@host:5432/database';
  }
  if (url.password !== '' || url.searchParams.has('password')) {
    return 'leave the password out of --from: give it in PGPASSWORD or ~/.pgpass, or type it when asked';
  }
  return undefined;
}

type OldSettings = Record<string, string | undefined>;

function readOldSettings(path: string): OldSettings {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new CommandFailed(`${path} can't be read: ${(error as Error).message}`, { cause: error });
  }
}

/** The defaults are those of the existing system. */
function addressIn(old: OldSettings, path: string): SourceAddress {
  const database = old['POSTGRES_DB']?.trim();
  const port = Number(old['POSTGRES_PORT'] ?? 5432);
  if (!database) throw new CommandFailed(`${path} does not name a database: POSTGRES_DB is not set in it.`);
  if (!Number.isInteger(port)) throw new CommandFailed(`POSTGRES_PORT in ${path} must be a whole number.`);
  const host = old['POSTGRES_HOST']?.trim() || 'localhost';
  return { host, port, user: old['POSTGRES_USER'], database, password: old['POSTGRES_PASSWORD'] };
}

/** Asks at the terminal, and shows nothing of what is typed. */
function askForPassword(): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  // from here on the terminal itself shows nothing either
  process.stderr.write('Password for the source database: ');
  return new Promise((resolve) => {
    terminal.question('', (password) => {
      terminal.close();
      process.stderr.write('\n');
      resolve(password);
    });
  });
}

/** A line a second, for who watches. */
function progress(): ImportOptions['onRows'] {
  if (!process.stderr.isTTY) return () => undefined;
  let current = { table: '', since: 0, shown: Date.now() };
  return (table, rows) => {
    const now = Date.now();
    if (table !== current.table) current = { ...current, table, since: now };
    if (now - current.shown < PROGRESS_EVERY_MS) return;
    current.shown = now;
    const speed = Math.round((1000 * rows) / Math.max(now - current.since, 1));
    process.stderr.write(`${table}: ${rows} rows, ${speed} rows/s\n`);
  };
}

/** The key of the old settings file, if it is to sign tokens from now on. */
function keyToCarryOver({ settings }: Workplace, old: OldSettings | undefined): string | undefined {
  const key = old?.['JWT_SECRET_KEY'];
  if (!settings.embedded || settings.app.JWT_SECRET_KEY !== null || !key || key !== key.trim()) return undefined;
  return isSecretKept(settings.start.SERVICE_DATA_DIR, SIGNING_KEY) ? undefined : key;
}

function placeOfKey({ settings }: Workplace, carried: string | undefined): ImportOptions['key'] {
  if (carried !== undefined) return 'carried over';
  return !settings.embedded || settings.app.JWT_SECRET_KEY !== null ? 'in the settings' : 'in the data folder';
}

function keepKey({ settings }: Workplace, key: string | undefined): void {
  if (key !== undefined) keptSecret(settings.start.SERVICE_DATA_DIR, SIGNING_KEY, () => key);
}

async function runImport(
  source: Awaited<ReturnType<typeof openSource>>,
  workplace: Workplace,
  options: Options,
  old: OldSettings | undefined,
): Promise<void> {
  const carried = keyToCarryOver(workplace, old);
  const file = options.report === undefined ? undefined : await openReportFile(options.report);
  let stays = false;
  try {
    const outcome = await importDatabase(source, workplace, {
      dryRun: options.dryRun ?? false,
      orphansTo: options.orphansTo,
      sourceInUse: options.sourceInUse ?? false,
      files: options.files,
      key: placeOfKey(workplace, carried),
      onRows: progress(),
      beforeTheEnd: async (target, draft) => file?.write(target, draft),
    });
    if (!options.dryRun) keepKey(workplace, carried);
    if (outcome.kind === 'done before') {
      // whoever lost sight of that import gets now what it would have left
      await file?.writeStored(workplace.pool);
      stays = true;
      const { database, earlier } = outcome;
      console.log(
        `${database} was imported already, on ${earlier.finished}. Nothing was done. --verify compares again.`,
      );
      return;
    }
    stays = true;
    console.log(reportText(outcome.report, outcome.rules));
    console.log(options.dryRun ? '\nThis was a trial: nothing was stored.' : '\nImported and verified.');
  } finally {
    await (stays ? file?.keep() : file?.discard());
  }
}

async function runVerification(source: Awaited<ReturnType<typeof openSource>>, workplace: Workplace): Promise<void> {
  const tables = await verifyImport(source, workplace);
  const rows = tables.map(({ table, source_rows, imported, checksum }) => [table, source_rows, imported, checksum]);
  console.log(textTable(['table', 'source', 'imported', 'checksum'], rows).join('\n'));
  const different = tables.filter(({ checksum }) => checksum !== 'ok').map(({ table }) => table);
  if (different.length > 0) {
    throw new CommandFailed(
      `Not as it was imported: ${different.join(', ')}. This is expected once people work with either of the two services.`,
    );
  }
}

/** One line, whatever happened: the transaction is gone, and starting again is all there is to do. */
function failure(error: unknown): Error {
  if (error instanceof ImportRefused) return new CommandFailed(error.message, { cause: error });
  if (error instanceof CommandFailed) return error;
  const { message } = error as Error;
  return new CommandFailed(
    `The import failed: ${message.replaceAll('\n', ' ')}. Nothing was imported; start it again.`,
    { cause: error },
  );
}

export async function importDb(options: Options, command: Command): Promise<void> {
  const { from, fromEnv } = options;
  if (from === undefined && fromEnv === undefined) command.error('error: give --from or --from-env', { exitCode: 2 });
  const problem = from === undefined ? undefined : addressProblem(from);
  if (problem !== undefined) command.error(`error: ${problem}`, { exitCode: 2 });
  const settings = loadSettings();
  const old = fromEnv === undefined ? undefined : readOldSettings(fromEnv);
  const address = old ? addressIn(old, fromEnv!) : { connectionString: from! };
  try {
    const source = await openSource(address, process.stdin.isTTY ? askForPassword : undefined);
    const workplace = await openForImport(settings, loggingFor(settings));
    try {
      await (options.verify ? runVerification(source, workplace) : runImport(source, workplace, options, old));
    } finally {
      await source.end().catch(() => undefined);
      await workplace.close();
    }
  } catch (error) {
    throw failure(error);
  }
}
