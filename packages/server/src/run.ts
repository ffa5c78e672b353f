/** Runs the service until a signal ends it. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  countResources,
  createAdministrator,
  createResourceAndProfile,
  defaultProfile,
  defaultResource,
  ensureDefaultGroup,
  findPython,
  listResources,
  superuserExists,
} from './accounts/index.ts';
import { operator } from './audit/index.ts';
import { prepareDataFolder } from './data-folder.ts';
import { migrate, missingMigrations } from './db/index.ts';
import { guarded, ignored } from './guard.ts';
import { listenOn } from './http/index.ts';
import { type Logging } from './logging/index.ts';
import { isOfKind } from '@service/contract/errors';
import { plural } from '@service/contract/plural';

import { prepareAccount, type RunAs, startLine } from './run-as/index.ts';
import { createService, dataBase, runAsFor } from './service.ts';
import { maskedSettings, type Settings, SettingsError } from './settings/index.ts';
import { fullVersion, RELEASE, VERSION } from './version.ts';
import { prepareWeb } from './web/index.ts';
import { loggingFor, openWorkplace, settingsLookup, type Workplace } from './workplace.ts';

const DEFAULT_ADMINISTRATOR = 'admin@example.org';

interface FirstAdministrator {
  email: string;
  /** Created by this start. */
  isNew: boolean;
  password?: string;
}

/** Makes an empty database one to work with. Gives back a password that was made up, to be shown once. */
async function setUp({ db, settings }: Workplace, logging: Logging): Promise<FirstAdministrator> {
  const { start, app } = settings;
  const log = logging.logger('lifespan.startup');
  for (const name of await migrate(db)) log.info(`Applied the migration ${name}`);
  const by = operator('start');
  await ensureDefaultGroup(db, by, app.SERVICE_DEFAULT_GROUP_NAME);
  const email = start.SERVICE_ADMIN_EMAIL ?? DEFAULT_ADMINISTRATOR;
  let password: string | undefined;
  let isNew = false;
  if (!(await superuserExists(db))) {
    // letters and digits alone: a first dash would make it an option of a command
    password = start.SERVICE_ADMIN_PWD ?? randomBytes(12).toString('hex');
    const projectDir = start.SERVICE_ADMIN_PROJECT_DIR ?? join(start.SERVICE_DATA_DIR, 'projects');
    const outcome = await createAdministrator(db, by, { email, password, projectDir }, app.SERVICE_DEFAULT_GROUP_NAME);
    isNew = outcome === 'created';
    if (!isNew || start.SERVICE_ADMIN_PWD !== null) password = undefined;
  }
  if (app.SERVICE_RUNNER_BACKEND === 'local' && (await countResources(db)) === 0)
    await createFirstResource(db, start, log);
  return { email, isNew, ...(password === undefined ? {} : { password }) };
}

async function createFirstResource(
  db: Workplace['db'],
  start: Settings['start'],
  log: ReturnType<Logging['logger']>,
): Promise<void> {
  const python = findPython();
  if (!python) {
    log.warning(
      'No Python 3.9 to 3.15 was found, so there is no resource to run jobs on. Install Python and start again.',
    );
    return;
  }
  const folders = { jobs: join(start.SERVICE_DATA_DIR, 'jobs'), tasks: join(start.SERVICE_DATA_DIR, 'tasks') };
  await createResourceAndProfile(db, operator('start'), defaultResource(folders, python), defaultProfile);
}

/** An account that is named must work; where none is, one line says what that means. */
async function checkAccounts({ db, settings }: Workplace, runAs: RunAs, logging: Logging): Promise<void> {
  const { SERVICE_TASKS_ACCOUNT: name, SERVICE_RUNNER_BACKEND: backend } = settings.app;
  try {
    if (name !== null) await prepareAccount(runAs, { name, backend, dataDir: settings.start.SERVICE_DATA_DIR });
  } catch (error) {
    if (!isOfKind(error, 'account-problem')) throw error;
    throw new SettingsError(`SERVICE_TASKS_ACCOUNT must be an account that the service can use. ${error.message}`, {
      cause: error,
    });
  }
  const line = startLine(await listResources(db), runAs);
  if (line !== undefined) logging.logger('lifespan.startup').warning(line);
}

async function requireCurrentSchema({ db }: Workplace): Promise<void> {
  const missing = await missingMigrations(db);
  if (missing.length > 0) {
    throw new SettingsError(
      `The database is ${missing.length} ${plural(missing.length, 'migration')} behind this version. Run: servicectl set-db`,
    );
  }
}

function logSettings(settings: Settings, logging: Logging): void {
  const log = logging.logger('lifespan.startup');
  log.info(`Service ${RELEASE ? fullVersion() : VERSION} starts`);
  if (!log.enabled('debug')) return;
  for (const group of Object.values(maskedSettings(settings))) {
    for (const [name, value] of Object.entries(group)) log.debug(`${name}=${JSON.stringify(value)}`);
  }
}

async function listen(app: Awaited<ReturnType<typeof createService>>, { start }: Settings): Promise<string> {
  try {
    return await listenOn(app, start.SERVICE_HOST, start.SERVICE_PORT);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new SettingsError(
        `SERVICE_PORT must be a free port; another program uses ${start.SERVICE_PORT} on ${start.SERVICE_HOST}. Choose one with --port.`,
      );
    }
    if (code === 'EACCES') throw new SettingsError(`SERVICE_PORT must be a port this account may use, above 1023.`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new SettingsError(`SERVICE_HOST must be an address of this machine, and ${start.SERVICE_HOST} is not.`);
    }
    throw error;
  }
}

/** Lines about exceptions that nobody caught, in a minute; others are counted. */
const MOST_TOLD = 20;
const MINUTE_MS = 60_000;

/**
 * The last resort: an exception that no guard caught, as a library may throw it in an event of its own, is told and the
 * service goes on. The jobs, requests and streams of everybody are worth more than the state of one of them, and a restart
 * would meet the same bytes again. Gives back how to end it.
 */
function keepGoing(logging: Logging): () => void {
  const log = logging.logger('lifespan');
  let [minute, told, untold] = [0, 0, 0];
  const tell = (error: Error, origin: string) => {
    const now = Math.floor(Date.now() / MINUTE_MS);
    if (now !== minute) {
      if (untold > 0) log.error(`${untold} more exceptions that nobody caught`);
      [minute, told, untold] = [now, 0, 0];
    }
    told += 1;
    if (told <= MOST_TOLD) log.error(`An exception that nobody caught (${origin}); the service continues`, error);
    else untold += 1;
  };
  const guardedTell = guarded(tell, ignored);
  process.on('uncaughtException', guardedTell);
  // who started the service may not read its output any more
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignored);
  return () => {
    process.off('uncaughtException', guardedTell);
    for (const stream of [process.stdout, process.stderr]) stream.off('error', ignored);
  };
}

/** Ends when a first signal came and the work under way is done, or took too long. A second signal ends at once. */
function untilStopped(stop: () => Promise<void>, graceSeconds: number, logging: Logging): Promise<void> {
  const log = logging.logger('lifespan.teardown');
  return new Promise((resolve) => {
    let stopping = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (stopping) process.exit(1);
      stopping = true;
      log.info(`Stopping after ${signal}`);
      const late = sleep(graceSeconds * 1000, undefined, { ref: false }).then(() => {
        log.warning(`Requests were still running after ${graceSeconds} s; stopping all the same.`);
      });
      void Promise.race([stop().catch((error: unknown) => log.error('Stopping failed', error)), late]).then(resolve);
    };
    const guardedStop = guarded(onSignal, (error) => log.error('Stopping failed', error));
    process.on('SIGINT', guardedStop);
    process.on('SIGTERM', guardedStop);
  });
}

export interface RunOptions {
  /** Bring the schema up to date and create what a first start needs. */
  setUp: boolean;
  /** Pages on the same port, unless the settings say otherwise. */
  web: boolean;
  /** Told when the service answers. Work that it begins ends soon after `stopping`; the service waits for that. */
  onReady: (service: {
    address: string;
    /** Where pages are opened, if there are any. */
    web: string | undefined;
    settings: Settings;
    app: Awaited<ReturnType<typeof createService>>;
    db: Workplace['db'];
    stopping: AbortSignal;
    administrator?: FirstAdministrator;
  }) => Promise<void> | void;
}

export async function run(given: Settings, options: RunOptions): Promise<void> {
  const logging = loggingFor(given);
  logSettings(given, logging);
  prepareDataFolder(given);
  const workplace = await openWorkplace(given, logging);
  const { settings } = workplace;
  let endKeepingGoing = () => {};
  try {
    const administrator = options.setUp ? await setUp(workplace, logging) : undefined;
    if (!options.setUp) await requireCurrentSchema(workplace);
    const runAs = runAsFor(settings);
    await checkAccounts(workplace, runAs, logging);
    const withPages =
      settings.start.SERVICE_WEB_CLIENT === null ? options.web : settings.start.SERVICE_WEB_CLIENT === 'true';
    const app = await createService({ settings, database: workplace, logging, withPages, runAs });
    const pages = withPages
      ? prepareWeb(app, { settings, logging, dataBase: dataBase(settings, true), lookup: settingsLookup() })
      : undefined;
    const address = await listen(app, settings);
    endKeepingGoing = keepGoing(logging);
    const stopping = new AbortController();
    let work = Promise.resolve();
    const stop = async () => {
      stopping.abort();
      await work;
      await app.close();
    };
    const stopped = untilStopped(stop, settings.app.SERVICE_GRACEFUL_SHUTDOWN_TIME, logging);
    work = (async () => {
      const web = await pages?.open(address, stopping.signal);
      const service = { address, web, settings, app, db: workplace.db, stopping: stopping.signal };
      if (!stopping.signal.aborted) await options.onReady({ ...service, ...(administrator ? { administrator } : {}) });
    })();
    await Promise.race([stopped, work.then(() => stopped)]).catch(async (error: unknown) => {
      await app.close();
      throw error;
    });
  } finally {
    endKeepingGoing();
    await workplace.close();
    logging.logger('lifespan.teardown').info('Stopped');
  }
}
