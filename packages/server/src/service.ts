/** Puts the service together: settings and a database in, an HTTP server out. */
import type { FastifyInstance } from 'fastify';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

import { accounts, openapiDocument, type Profile, type Resource, type User } from '@service/contract';

import {
  authenticator,
  createProvider,
  createTokens,
  createUnderWay,
  groupRoutes,
  oauthRoutes,
  type Provider,
  resourceRoutes,
  sessionRoutes,
  tokenRoutes,
  userRoutes,
  type UnderWay,
  viewerFolders,
} from './accounts/index.ts';
import { auditRoutes, noteActing, startForgetting } from './audit/index.ts';
import { createReaders, dataRoutes, forgetOnChanges, type Readers } from './data/index.ts';
import { type Database, databaseFailure, forPerson, type OpenDatabase } from './db/index.ts';
import {
  type Api,
  createApi,
  createApp,
  createBodies,
  refuse,
  refuseOtherMethods,
  serveDocumentation,
} from './http/index.ts';
import { importRoutes } from './import/index.ts';
import { localHost, passOn, type SshHosts, sshHosts } from './hosts/index.ts';
import {
  accountingRoutes,
  countSubmittedJobs,
  createLogReaders,
  createStopRequests,
  historyRoutes,
  JOB_WORK,
  jobControlRoutes,
  jobEventRoutes,
  jobFiles,
  jobHandler,
  jobRoutes,
  startTidyingUp,
} from './jobs/index.ts';
import type { Logging } from './logging/index.ts';
import { createMailer } from './mail/index.ts';
import { overviewRoutes } from './overview/index.ts';
import { createPictureMaker, pictureRoutes } from './pictures/index.ts';
import { createTableMaker, tableRoutes } from './tables/index.ts';
import { datasetRoutes, projectRoutes, sharingRoutes, templateRoutes, workflowRoutes } from './projects/index.ts';
import { createRunAs, type RunAs } from './run-as/index.ts';
import { openForAccounts } from './data-folder.ts';
import { maskedSettings, type Settings } from './settings/index.ts';
import { type Queue, startQueue } from './queue/index.ts';
import {
  ACTIVITY_WORK,
  activityHandler,
  createLookups,
  lifecycleRoutes,
  taskGroupRoutes,
  taskRoutes,
} from './tasks/index.ts';
import { PACKS } from './packs.ts';
import { programIn } from './program.ts';
import {
  createLocalRunner,
  createSlurmRunners,
  createWarmParents,
  type SlurmRunners,
  type WarmParents,
} from './runners/index.ts';
import { clusterAddress, type Clusters, createClusters } from './slurm/index.ts';
import { VERSION } from './version.ts';

const READY_WITHIN_MS = 5000;
/** An answer is as good for those who ask right after it. */
const READY_FOR_MS = 500;

export interface ServiceParts {
  settings: Settings;
  database: Pick<OpenDatabase, 'db' | 'pool' | 'limitedTo'>;
  logging: Logging;
  /** For tests: compare every answer with the contract. */
  checkAnswers?: boolean;
  /** False where only the description of the API is wanted, and nothing is to be done. */
  background?: boolean;
  /** Pages are on the same origin as the API. */
  withPages?: boolean;
  /** Whose accounts run what people bring, where it is known already. */
  runAs?: RunAs;
  /** The sign-in provider, where it is not the one of the settings. */
  provider?: Provider;
}

/** Whether the database answers. All who ask within a moment ask once: anybody may, and as often as they like. */
function createReadiness({ pool }: ServiceParts['database']): () => Promise<boolean> {
  let asked: Promise<boolean> | undefined;
  let keptUntil = 0;
  const ask = () => {
    const answered = pool.query('select 1').then(
      () => true,
      () => false,
    );
    return Promise.race([answered, sleep(READY_WITHIN_MS, false, { ref: false })]);
  };
  return () => {
    if (asked && Date.now() < keptUntil) return asked;
    keptUntil = Infinity;
    asked = ask().finally(() => (keptUntil = Date.now() + READY_FOR_MS));
    return asked;
  };
}

function serviceRoutes(api: Api, { settings, database }: ServiceParts): void {
  const isReady = createReadiness(database);
  api.serveAnyone(accounts.alive, () => ({ alive: true, version: VERSION }));
  api.serveAnyone(accounts.ready, async () => {
    if (!(await isReady())) throw refuse(503, 'The database does not answer.', { 'retry-after': '5' });
    return { ready: true, database: true };
  });
  const shown = maskedSettings(settings);
  api.serve(accounts.settingsApp, () => shown.app);
  api.serve(accounts.settingsDatabase, () => shown.database);
  api.serve(accounts.settingsEmail, () => shown.email);
  api.serve(accounts.settingsOauth, () => shown.oauth);
}

function pathsOf(api: Api): Map<string, Set<string>> {
  const paths = new Map<string, Set<string>>();
  for (const { path, method } of api.operations) paths.set(path, (paths.get(path) ?? new Set()).add(method));
  return paths;
}

const TASK_GROUPS_AT_A_TIME = 4;

/** Work that goes on when the answer has been given; it ends with the application. */
function startBackground(
  app: FastifyInstance,
  { settings, database, logging, background }: ServiceParts,
  { ssh, clusters, runAs }: { ssh: SshHosts; clusters: Clusters; runAs: RunAs },
): Pick<Queue, 'wake'> {
  if (background === false) return { wake: () => undefined };
  const { db } = database;
  const work = {
    db,
    dataDir: settings.start.SERVICE_DATA_DIR,
    packageIndex: settings.app.SERVICE_PACKAGE_INDEX,
    runAs,
    hostFor: ({ host }: Resource, { username, ssh_key_path }: Profile) =>
      ssh.host({ host: host!, username: username!, keyPath: ssh_key_path! }),
    slurmFor: (resource: Resource, profile: Profile) => clusters.client(clusterAddress(resource, profile)),
  };
  const queue = startQueue({
    db,
    log: logging.logger('background'),
    handlers: { [ACTIVITY_WORK]: activityHandler(work) },
    slots: TASK_GROUPS_AT_A_TIME,
  });
  app.addHook('onClose', () => queue.stop());
  return queue;
}

/** Processes that have imported what tasks import. They outlive the application, as jobs do. */
function keepWarmParents(app: FastifyInstance, { app: given, start }: Settings): WarmParents | undefined {
  if (given.SERVICE_WARM_IDLE_SECONDS === 0) return undefined;
  const parents = createWarmParents({
    host: localHost,
    folder: join(start.SERVICE_DATA_DIR, 'warm'),
    idleSeconds: given.SERVICE_WARM_IDLE_SECONDS,
    mostMemory: given.SERVICE_WARM_MEMORY,
  });
  app.addHook('onClose', () => parents.close());
  app.measure('warm_parents', 'Processes that keep what tasks import.', async () => (await parents.numbers()).count);
  app.measure(
    'warm_parents_memory_bytes',
    'Memory that these processes take.',
    async () => (await parents.numbers()).memory,
  );
  return parents;
}

const JOBS_AT_A_TIME = 1000;

/** Submits and executes jobs. When the application ends, jobs go on without it, and with the next one. */
function runJobs(
  app: FastifyInstance,
  api: Api,
  { settings, database, logging, background }: ServiceParts,
  { clusters, slurmRunners, runAs }: { clusters: Clusters; slurmRunners: SlurmRunners; runAs: RunAs },
  limited: Database,
): void {
  const { db } = database;
  const log = logging.logger('jobs');
  const stopRequests = createStopRequests(db, log);
  const dataDir = settings.start.SERVICE_DATA_DIR;
  const limits = {
    units: settings.app.SERVICE_MAX_UNITS_PER_TASK,
    output: settings.app.SERVICE_MAX_OUTPUT_SIZE,
    taskOutput: settings.app.SERVICE_MAX_TASK_OUTPUT_SIZE,
  };
  const warmParents = background === false ? undefined : keepWarmParents(app, settings);
  const runner = createLocalRunner({ host: localHost, slots: settings.app.SERVICE_MAX_NUM_THREADS, warmParents });
  let queue: Pick<Queue, 'wake'> = { wake: () => undefined };
  if (background !== false) {
    const started = startQueue({
      db,
      log,
      handlers: { [JOB_WORK]: jobHandler({ db, log, runner, slurmRunners, stopRequests, limits, runAs }) },
      slots: JOBS_AT_A_TIME,
      givesUp: false,
      waitsOnStop: true,
    });
    const endTidying = startTidyingUp({
      db,
      log,
      zipAfterDays: settings.app.SERVICE_ZIP_JOBS_AFTER_DAYS,
      removeAfterDays: settings.app.SERVICE_REMOVE_JOBS_AFTER_DAYS,
    });
    app.addHook('onClose', async () => {
      endTidying();
      await started.stop();
    });
    queue = started;
  }
  app.addHook('onClose', () => stopRequests.close());
  jobControlRoutes(api, { db: limited, stopRequests, queue, dataDir, clusters, runAs });
}

/** What reads jobs. Streams end before the server waits for its requests. */
function readJobs(
  app: FastifyInstance,
  api: Api,
  { settings, database, logging }: ServiceParts,
  clusters: Clusters,
  limited: Database,
): void {
  const parts = { db: database.db, files: jobFiles, log: logging.logger('jobs') };
  const readParts = { ...parts, db: limited, clusters, readers: createLogReaders() };
  jobRoutes(api, { ...readParts, maxListLength: settings.longestJobList });
  historyRoutes(api, readParts);
  accountingRoutes(api, limited);
  app.measure('jobs_submitted', 'Jobs that wait or run.', () => countSubmittedJobs(limited));
  const events = jobEventRoutes(api, parts);
  app.addHook('preClose', () => events.close());
}

/** Old records of the audit log go where the settings say so. */
function keepAudit(app: FastifyInstance, { settings, database, logging }: ServiceParts): void {
  const keepDays = settings.app.SERVICE_AUDIT_KEEP_DAYS;
  const end = startForgetting({ db: database.db, log: logging.logger('audit'), keepDays });
  app.addHook('onClose', () => end());
}

const DATA_BASE = '/data/';

/** Where image files are read over HTTP; undefined where they are not. */
export function dataBase({ app }: Settings, withPages: boolean): string | undefined {
  const base = app.SERVICE_DATA_BASE_PATH ?? (withPages ? DATA_BASE : 'none');
  return base === 'none' ? undefined : base;
}

/** Image files over HTTP. */
function serveData(
  app: FastifyInstance,
  { settings, withPages }: ServiceParts,
  readers: Readers,
  hold: UnderWay['hold'],
): void {
  const base = dataBase(settings, withPages ?? false);
  forgetOnChanges(app, readers);
  if (base === undefined) return;
  dataRoutes(app, { base, origins: settings.app.SERVICE_DATA_ORIGINS, readers, hold, version: VERSION });
}

/** Pictures of images and plates. The process that draws them starts with the first. */
function servePictures(app: FastifyInstance, api: Api, { settings, database, logging }: ServiceParts): void {
  const maker = createPictureMaker({
    folder: join(settings.start.SERVICE_DATA_DIR, 'pictures'),
    largest: settings.app.SERVICE_PICTURES_SIZE,
    memory: settings.app.SERVICE_PICTURES_MEMORY,
    log: logging.logger('pictures'),
  });
  app.addHook('onClose', () => maker.close());
  const foldersOf = (user: User) => viewerFolders(database.db, user, settings.app);
  pictureRoutes(api, { db: database.db, maker, foldersOf });
}

/** Tables of measurements. The process that reads them starts with the first. */
function serveTables(app: FastifyInstance, api: Api, { settings, database, logging }: ServiceParts): void {
  const maker = createTableMaker({
    folder: join(settings.start.SERVICE_DATA_DIR, 'tables'),
    largest: settings.app.SERVICE_TABLES_SIZE,
    memory: settings.app.SERVICE_TABLES_MEMORY,
    log: logging.logger('tables'),
  });
  app.addHook('onClose', () => maker.close());
  const foldersOf = (user: User) => viewerFolders(database.db, user, settings.app);
  tableRoutes(api, { db: database.db, maker, foldersOf });
}

export function runAsFor({ app, start: { SERVICE_DATA_DIR: dataDir } }: Settings): RunAs {
  return createRunAs({ setting: app.SERVICE_TASKS_ACCOUNT, dataDir, onUse: () => openForAccounts(dataDir) });
}

export async function createService(parts: ServiceParts): Promise<FastifyInstance> {
  const { settings, database, logging } = parts;
  const { app: appSettings } = settings;
  passOn(appSettings.SERVICE_TASK_ENVIRONMENT);
  // for those who wait for an answer; jobs, imports and exports take their time
  const limited = database.limitedTo(Math.ceil(settings.database.SERVICE_MAX_STATEMENT_TIME * 1000));
  const tokens = createTokens(appSettings.JWT_SECRET_KEY ?? '');
  const app = createApp({
    logging,
    longRequestSeconds: appSettings.SERVICE_LONG_REQUEST_TIME,
    longestRequestSeconds: appSettings.SERVICE_MAX_REQUEST_TIME,
    longestUploadSeconds: appSettings.SERVICE_MAX_UPLOAD_TIME,
    trustedProxies: appSettings.SERVICE_TRUSTED_PROXIES,
    failureOf: databaseFailure,
    overTls: settings.start.ORIGIN?.startsWith('https:') ?? false,
  });
  const underWay = createUnderWay(database.db, logging.logger('accounts'));
  app.addHook('onClose', () => underWay.close());
  const authenticate = authenticator(tokens, database);
  const readers = createReaders({
    authenticate,
    foldersOf: (user) => viewerFolders(database.db, user, appSettings),
  });
  serveData(app, parts, readers, underWay.hold);
  const api = createApi(app, {
    authenticate,
    hold: (caller, end) => underWay.hold(caller, end),
    forPerson,
    noteActing: (by, operation, params) => noteActing(limited, by, operation, params),
    bodies: createBodies(app, {
      limits: {
        ordinary: appSettings.SERVICE_MAX_BODY_SIZE,
        images: appSettings.SERVICE_MAX_IMAGES_BODY_SIZE,
        upload: appSettings.SERVICE_MAX_UPLOAD_SIZE,
      },
      mostValues: appSettings.SERVICE_MAX_BODY_VALUES,
      folder: join(settings.start.SERVICE_DATA_DIR, 'incoming'),
      thread: pathToFileURL(programIn(import.meta.dirname, 'body-thread')),
      packs: PACKS,
    }),
    checkAnswers: parts.checkAnswers ?? false,
    site: {
      trustedOrigins: [appSettings.SERVICE_TRUSTED_ORIGINS, settings.start.ORIGIN ?? []].flat(),
      besidePages: parts.withPages ?? false,
    },
  });
  serviceRoutes(api, parts);
  auditRoutes(api, { db: limited, unlimited: database.db });
  importRoutes(api, { db: limited });
  const accountParts = { db: limited, tokens, underWay, app: appSettings };
  sessionRoutes(api, accountParts);
  tokenRoutes(api, accountParts);
  userRoutes(api, accountParts);
  groupRoutes(api, accountParts);
  resourceRoutes(api, accountParts);
  const projectParts = { db: limited, defaultGroup: appSettings.SERVICE_DEFAULT_GROUP_NAME };
  projectRoutes(api, projectParts);
  workflowRoutes(api, projectParts);
  sharingRoutes(api, projectParts);
  templateRoutes(api, projectParts);
  datasetRoutes(api, { db: limited, unlimited: database.db });
  if (parts.background !== false) keepAudit(app, parts);
  servePictures(app, api, parts);
  serveTables(app, api, parts);
  const ssh = sshHosts({
    knownHosts: join(settings.start.SERVICE_DATA_DIR, 'known_hosts'),
    log: logging.logger('ssh'),
  });
  const runAs = parts.runAs ?? runAsFor(settings);
  const clusters = createClusters(ssh);
  const slurmRunners = createSlurmRunners(clusters);
  // hooks run from the last to the first: the queues end before the connections that they use
  app.addHook('onClose', () => {
    slurmRunners.close();
    ssh.close();
  });
  overviewRoutes(api, { db: limited, clusters, runAs, dataDir: settings.start.SERVICE_DATA_DIR });
  runJobs(app, api, parts, { clusters, slurmRunners, runAs }, limited);
  readJobs(app, api, parts, clusters, limited);
  const lookups = createLookups();
  lifecycleRoutes(api, {
    ...projectParts,
    lookups,
    queue: startBackground(app, parts, { ssh, clusters, runAs }),
    runAs,
    dataDir: settings.start.SERVICE_DATA_DIR,
    packageIndex: appSettings.SERVICE_PACKAGE_INDEX,
    resetEnabled: appSettings.SERVICE_ENABLE_TASK_GROUP_RESET === 'true',
  });
  taskRoutes(api, { ...projectParts, lookups, runAs });
  taskGroupRoutes(api, projectParts);
  if (settings.signIn) {
    oauthRoutes(api, {
      db: limited,
      tokens,
      mailer: createMailer(settings.mail, logging.logger('mail')),
      log: logging.logger('oauth'),
      app: appSettings,
      signIn: settings.signIn,
      provider: parts.provider ?? (await createProvider(settings.signIn)),
    });
  }
  const info = { title: 'Service API', version: VERSION };
  serveDocumentation(app, info, () => openapiDocument(api.operations, info));
  refuseOtherMethods(app, pathsOf(api));
  return app;
}
