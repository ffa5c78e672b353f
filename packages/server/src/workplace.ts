/** Opens what every command needs: settings, logging, the data folder and the database. */
import { readFileSync } from 'node:fs';

import { prepareDataFolder } from './data-folder.ts';
import {
  type Connection,
  isForeign,
  keptSecret,
  openDatabase,
  type OpenDatabase,
  openEmbeddedDatabase,
} from './db/index.ts';
import { createLogging, type Logging } from './logging/index.ts';
import { HAS_PROC } from './processes.ts';
import { readSettings, settingSources, type Settings, SettingsError } from './settings/index.ts';

/** Settings given on the command line, under their variables' names; they win over the environment. */
export type Given = Record<string, string | undefined>;

/** Where settings are looked up, also those that are not the service's own. */
export function settingsLookup(given: Given = {}): (name: string) => string | undefined {
  const sources = settingSources(process.env, process.cwd());
  return (name) => given[name] ?? sources(name);
}

/** A password that was given on the command line; `-` reads it, since others can see a command line. */
export function givenPassword(written: string | undefined): string | undefined {
  if (written !== '-') return written;
  const read = readFileSync(0, 'utf8').replace(/\r?\n$/, '');
  if (read === '') throw new SettingsError('--admin-pwd - reads the password from standard input, which was empty.');
  return read;
}

export const loadSettings = (given: Given = {}): Settings => readSettings(settingsLookup(given));

export function loggingFor(settings: Settings): Logging {
  return createLogging({ level: settings.app.SERVICE_LOGGING_LEVEL, configFile: settings.app.LOG_CONFIG_FILE });
}

export interface Workplace extends OpenDatabase {
  settings: Settings;
}

/** The name of the secret that signs tokens, where no setting does. */
export const SIGNING_KEY = 'signing-key';

/** With the embedded database the key that signs tokens is made once and kept, so that tokens survive a restart. */
function withSigningKey(settings: Settings): Settings {
  if (settings.app.JWT_SECRET_KEY !== null) return settings;
  const JWT_SECRET_KEY = keptSecret(settings.start.SERVICE_DATA_DIR, SIGNING_KEY);
  return { ...settings, app: { ...settings.app, JWT_SECRET_KEY } };
}

/** The database runs as another account then, and gets its folder in a way that this system lacks. */
const NOT_AS_ROOT =
  'The embedded database cannot be started by root on this system, which has no /proc. Start the service as another account, or set POSTGRES_DB.';

async function connection(settings: Settings) {
  const { database, start } = settings;
  if (settings.embedded) {
    if (!HAS_PROC && process.getuid?.() === 0) throw new SettingsError(NOT_AS_ROOT);
    return openEmbeddedDatabase(start.SERVICE_DATA_DIR);
  }
  return {
    connection: {
      host: database.POSTGRES_HOST,
      port: database.POSTGRES_PORT,
      user: database.POSTGRES_USER ?? undefined,
      password: database.POSTGRES_PASSWORD ?? undefined,
      database: database.POSTGRES_DB!,
    },
    leave: () => Promise.resolve(),
  };
}

/** Settings of an existing deployment are read as a fallback, and name its database: it is not ours to write to. */
function foreignDatabase(settings: Settings, { host, port, database }: Connection): SettingsError {
  const why = 'belongs to an existing deployment (it has a table alembic_version); nothing was written to it.';
  return new SettingsError(
    settings.embedded
      ? `The database in ${settings.start.SERVICE_DATA_DIR} ${why} Name another folder with SERVICE_DATA_DIR.`
      : `The database ${database} on ${host}:${port} ${why} Name another one with POSTGRES_DB, in the environment or in .service_server.env.`,
  );
}

async function foreignOrNot(open: Pick<OpenDatabase, 'pool'>, { host, port, database }: Connection): Promise<boolean> {
  try {
    return await isForeign(open.pool);
  } catch (error) {
    throw new SettingsError(
      `POSTGRES_DB, POSTGRES_HOST, POSTGRES_PORT, POSTGRES_USER and POSTGRES_PASSWORD must name a database that answers; ` +
        `${database} on ${host}:${port} does not: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

async function open(
  settings: Settings,
  logging: Logging,
  refuses: (isForeign: boolean, connection: Connection) => SettingsError | undefined,
): Promise<Workplace> {
  const server = await connection(settings);
  const sqlLog = logging.logger('sql');
  const opened = openDatabase(server.connection, {
    connections: settings.database.SERVICE_DATABASE_CONNECTIONS,
    named: settings.database.SERVICE_NAMED_STATEMENTS === 'true',
    echo: settings.database.DB_ECHO === 'true' ? (sql) => sqlLog.info(sql) : undefined,
  });
  const close = async () => {
    await opened.close();
    await server.leave();
  };
  try {
    const refusal = refuses(await foreignOrNot(opened, server.connection), server.connection);
    if (refusal) throw refusal;
  } catch (error) {
    await close();
    throw error;
  }
  return { ...opened, close, settings };
}

export async function openWorkplace(given: Settings, logging: Logging): Promise<Workplace> {
  if (given.embedded) prepareDataFolder(given);
  const settings = withSigningKey(given);
  return open(settings, logging, (foreign, connection) =>
    foreign ? foreignDatabase(settings, connection) : undefined,
  );
}

/** For the import, which leaves it to others to make the key and has words of its own for a database that is not ours. */
export async function openForImport(settings: Settings, logging: Logging): Promise<Workplace> {
  if (settings.embedded) prepareDataFolder(settings);
  return open(settings, logging, () => undefined);
}
