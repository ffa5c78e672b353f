/**
 * Every setting of the service, read once at the start.
 *
 * The groups `app`, `database`, `email` and `oauth` have the variables' own names, and are what `/api/settings/…` shows.
 * docs/settings.md explains each of them.
 */
import { resolve } from 'node:path';

import { readEmail, RESOURCE_TYPES } from '@service/contract';

import {
  absoluteFolder,
  anyText,
  basePath,
  emailAddress,
  flag,
  integer,
  oneOf,
  origin,
  origins,
  packageIndex,
  type Read,
  variableNames,
  seconds,
  SettingsError,
  size,
  someText,
  timeLimit,
  url,
} from './readers.ts';
import { RELEASE, ROOT_FOLDER } from '../version.ts';
import type { Lookup } from './sources.ts';

/**
 * Where data is kept when nobody says otherwise: in the checkout, so that every command finds it again. A release has it beside
 * its folder, where the next release finds it.
 */
const DEFAULT_DATA_DIR = resolve(ROOT_FOLDER, RELEASE ? '../data' : 'data');

const ONE_DAY = 86_400;
const MEBIBYTE = 2 ** 20;

/** The variables of a group, with how to read each. */
type Readers = Record<string, Read<unknown>>;
type Values<R extends Readers> = { [K in keyof R]: R[K] extends Read<infer T> ? T : never };

function readGroup<R extends Readers>(readers: R, lookup: Lookup): Values<R> {
  const values = Object.entries(readers).map(([name, read]) => [name, read(lookup(name), name)]);
  return Object.fromEntries(values) as Values<R>;
}

/**
 * With the embedded database nothing has to be set, so that one command gives a service to work with: tokens live for a
 * day and everybody is in the group All. With a database server the defaults are those of existing deployments.
 */
const appReaders = (embedded: boolean) => ({
  JWT_EXPIRE_SECONDS: integer(embedded ? ONE_DAY : 180),
  JWT_SECRET_KEY: anyText,
  COOKIE_EXPIRE_SECONDS: integer(ONE_DAY),
  SERVICE_RUNNER_BACKEND: oneOf(RESOURCE_TYPES, 'local'),
  SERVICE_LOGGING_LEVEL: integer(20),
  LOG_CONFIG_FILE: anyText,
  SERVICE_API_MAX_JOB_LIST_LENGTH: integer(25),
  SERVICE_GRACEFUL_SHUTDOWN_TIME: seconds(30),
  SERVICE_HELP_URL: url,
  SERVICE_DEFAULT_GROUP_NAME: oneOf(['All'], embedded ? 'All' : null),
  SERVICE_LONG_REQUEST_TIME: seconds(30),
  SERVICE_MAX_REQUEST_TIME: timeLimit(120),
  SERVICE_MAX_UPLOAD_TIME: timeLimit(3600),
  SERVICE_DISABLE_BASIC_AUTH: flag('false'),
  SERVICE_ENABLE_TASK_GROUP_RESET: flag('false'),
  SERVICE_VIEWER_AUTHORIZATION_SCHEME: oneOf(['viewer-paths', 'users-folders', 'none'], 'viewer-paths'),
  SERVICE_VIEWER_BASE_FOLDER: absoluteFolder,
  /** Unset: /data/ where pages are on the same port, else nowhere. */
  SERVICE_DATA_BASE_PATH: basePath,
  SERVICE_DATA_ORIGINS: origins,
  SERVICE_PICTURES_SIZE: size(2048 * MEBIBYTE),
  SERVICE_PICTURES_MEMORY: size(1024 * MEBIBYTE),
  SERVICE_TABLES_SIZE: size(2048 * MEBIBYTE),
  SERVICE_TABLES_MEMORY: size(768 * MEBIBYTE),
  SERVICE_MAX_BODY_SIZE: size(8 * MEBIBYTE),
  SERVICE_MAX_IMAGES_BODY_SIZE: size(128 * MEBIBYTE),
  SERVICE_MAX_UPLOAD_SIZE: size(512 * MEBIBYTE),
  SERVICE_MAX_BODY_VALUES: integer(5_000_000, 1000),
  SERVICE_TRUSTED_PROXIES: anyText,
  SERVICE_MAX_TOKEN_DAYS: integer(366, 1),
  SERVICE_TRUSTED_ORIGINS: origins,
  SERVICE_PACKAGE_INDEX: packageIndex,
  SERVICE_MAX_NUM_THREADS: integer(12, 1),
  SERVICE_WARM_IDLE_SECONDS: integer(600, 0),
  SERVICE_WARM_MEMORY: size(4096 * MEBIBYTE),
  SERVICE_TASK_ENVIRONMENT: variableNames,
  SERVICE_TASKS_ACCOUNT: someText(null),
  SERVICE_MAX_UNITS_PER_TASK: integer(1_000_000, 1),
  SERVICE_MAX_OUTPUT_SIZE: size(16 * MEBIBYTE),
  SERVICE_MAX_TASK_OUTPUT_SIZE: size(128 * MEBIBYTE),
  SERVICE_ZIP_JOBS_AFTER_DAYS: integer(null, 0),
  SERVICE_REMOVE_JOBS_AFTER_DAYS: integer(null, 0),
  SERVICE_AUDIT_KEEP_DAYS: integer(null, 1),
});

const databaseReaders = {
  DB_ECHO: flag('false'),
  POSTGRES_USER: someText(null),
  POSTGRES_PASSWORD: anyText,
  POSTGRES_HOST: someText('localhost'),
  POSTGRES_PORT: integer(5432, 0),
  POSTGRES_DB: someText(null),
  SERVICE_DATABASE_CONNECTIONS: integer(10, 1),
  SERVICE_NAMED_STATEMENTS: flag('true'),
  SERVICE_MAX_STATEMENT_TIME: timeLimit(60),
};

const emailReaders = {
  SERVICE_EMAIL_SENDER: emailAddress,
  SERVICE_EMAIL_PASSWORD: anyText,
  SERVICE_EMAIL_SMTP_SERVER: someText(null),
  SERVICE_EMAIL_SMTP_PORT: integer(null, 1),
  SERVICE_EMAIL_INSTANCE_NAME: someText(null),
  SERVICE_EMAIL_RECIPIENTS: someText(null),
  SERVICE_EMAIL_USE_STARTTLS: flag('true'),
  SERVICE_EMAIL_USE_LOGIN: flag('true'),
};

const oauthReaders = {
  OAUTH_CLIENT_NAME: someText(null),
  OAUTH_CLIENT_ID: anyText,
  OAUTH_CLIENT_SECRET: anyText,
  OAUTH_OIDC_CONFIG_ENDPOINT: anyText,
  OAUTH_REDIRECT_URL: anyText,
  OAUTH_EMAIL_CLAIM: someText('email'),
  OAUTH_TRUST_EMAIL: flag('false'),
};

const startReaders = {
  SERVICE_PORT: integer(8000, 0),
  SERVICE_HOST: someText('127.0.0.1'),
  SERVICE_DATA_DIR: someText(DEFAULT_DATA_DIR),
  SERVICE_ADMIN_EMAIL: emailAddress,
  SERVICE_ADMIN_PWD: anyText,
  SERVICE_ADMIN_PROJECT_DIR: someText(null),
  /** Unset: as the command that starts the service has it. */
  SERVICE_WEB_CLIENT: oneOf(['true', 'false'], null),
  ORIGIN: origin,
};

/** The mail settings, complete. */
export interface MailSettings {
  sender: string;
  recipients: string[];
  smtp_server: string;
  port: number;
  password: string | null;
  instance_name: string;
  use_starttls: boolean;
  use_login: boolean;
}

/** The OAuth settings, complete. */
export interface OAuthSettings {
  name: string;
  id: string;
  secret: string;
  discovery: string | null;
  redirectUrl: string | null;
  emailClaim: string;
  /** Addresses are believed where the provider does not say whether they are confirmed. */
  trustEmail: boolean;
}

export interface Settings {
  app: Values<ReturnType<typeof appReaders>>;
  database: Values<typeof databaseReaders>;
  email: Values<typeof emailReaders>;
  oauth: Values<typeof oauthReaders>;
  start: Values<typeof startReaders>;
  /** The database is our own, in the data folder. */
  embedded: boolean;
  /** Job lists are complete, unless somebody set a length. */
  longestJobList: number | null;
  mail: MailSettings | null;
  signIn: OAuthSettings | null;
}

/** Both word orders of the backend's variable exist; they must not contradict each other. */
function checkBackendNames(lookup: Lookup): Lookup {
  const [one, other] = [lookup('SERVICE_RUNNER_BACKEND'), lookup('SERVICE_BACKEND_RUNNER')];
  if (one !== undefined && other !== undefined && one !== other) {
    throw new SettingsError(
      `SERVICE_RUNNER_BACKEND (${one}) and SERVICE_BACKEND_RUNNER (${other}) must be equal; set one of them.`,
    );
  }
  return (name) => (name === 'SERVICE_RUNNER_BACKEND' ? (one ?? other) : lookup(name));
}

function mailSettings(email: Settings['email']): MailSettings | null {
  const needed = [
    'SERVICE_EMAIL_SENDER',
    'SERVICE_EMAIL_SMTP_SERVER',
    'SERVICE_EMAIL_SMTP_PORT',
    'SERVICE_EMAIL_INSTANCE_NAME',
    'SERVICE_EMAIL_RECIPIENTS',
  ] as const;
  const missing = needed.filter((name) => email[name] === null);
  if (missing.length === needed.length) return null;
  if (missing.length > 0) throw new SettingsError(`${missing.join(', ')} must be set too, to send mail.`);
  if (email.SERVICE_EMAIL_USE_LOGIN === 'true' && email.SERVICE_EMAIL_PASSWORD === null) {
    throw new SettingsError('SERVICE_EMAIL_PASSWORD must be set, or SERVICE_EMAIL_USE_LOGIN must be false.');
  }
  const recipients = email.SERVICE_EMAIL_RECIPIENTS!.split(',').map((written) => {
    const reading = readEmail(written);
    if ('value' in reading) return reading.value;
    throw new SettingsError('SERVICE_EMAIL_RECIPIENTS must be e-mail addresses, separated by commas.');
  });
  return {
    sender: email.SERVICE_EMAIL_SENDER!,
    recipients,
    smtp_server: email.SERVICE_EMAIL_SMTP_SERVER!,
    port: email.SERVICE_EMAIL_SMTP_PORT!,
    password: email.SERVICE_EMAIL_PASSWORD,
    instance_name: email.SERVICE_EMAIL_INSTANCE_NAME!,
    use_starttls: email.SERVICE_EMAIL_USE_STARTTLS === 'true',
    use_login: email.SERVICE_EMAIL_USE_LOGIN === 'true',
  };
}

const TAKEN_SEGMENTS = ['users', 'group', 'token', 'current-user', 'register'];

function oauthSettings(oauth: Settings['oauth']): OAuthSettings | null {
  const { OAUTH_CLIENT_ID: id, OAUTH_CLIENT_SECRET: secret, OAUTH_OIDC_CONFIG_ENDPOINT: discovery } = oauth;
  if (oauth.OAUTH_CLIENT_NAME === null || id === null || secret === null) return null;
  const name = oauth.OAUTH_CLIENT_NAME.toLowerCase();
  if (!/^[a-z0-9][\w.~-]*$/.test(name) || TAKEN_SEGMENTS.includes(name)) {
    throw new SettingsError(
      `OAUTH_CLIENT_NAME must be a name of letters, digits and hyphens other than ${TAKEN_SEGMENTS.join(', ')}.`,
    );
  }
  const builtIn = name === 'google' || name === 'github';
  if (!builtIn && (discovery === null || !URL.canParse(discovery))) {
    throw new SettingsError(`OAUTH_OIDC_CONFIG_ENDPOINT must be the discovery address of the provider ${name}.`);
  }
  return {
    name,
    id,
    secret,
    discovery,
    redirectUrl: oauth.OAUTH_REDIRECT_URL,
    emailClaim: oauth.OAUTH_EMAIL_CLAIM,
    trustEmail: oauth.OAUTH_TRUST_EMAIL === 'true',
  };
}

function checkViewerFolder(app: Settings['app']): void {
  if (app.SERVICE_VIEWER_AUTHORIZATION_SCHEME === 'users-folders' && app.SERVICE_VIEWER_BASE_FOLDER === null) {
    throw new SettingsError(
      'SERVICE_VIEWER_BASE_FOLDER must be an absolute path when SERVICE_VIEWER_AUTHORIZATION_SCHEME is users-folders.',
    );
  }
}

export function readSettings(sources: Lookup): Settings {
  const lookup = checkBackendNames(sources);
  const database = readGroup(databaseReaders, lookup);
  const embedded = database.POSTGRES_DB === null;
  const app = readGroup(appReaders(embedded), lookup);
  if (app.JWT_SECRET_KEY === '' || (!embedded && app.JWT_SECRET_KEY === null)) {
    throw new SettingsError(
      'JWT_SECRET_KEY must be a long random text (required when POSTGRES_DB is set): it signs tokens.',
    );
  }
  checkViewerFolder(app);
  const email = readGroup(emailReaders, lookup);
  const oauth = readGroup(oauthReaders, lookup);
  const start = readGroup(startReaders, lookup);
  return {
    app,
    database,
    email,
    oauth: { ...oauth, OAUTH_CLIENT_NAME: oauth.OAUTH_CLIENT_NAME?.toLowerCase() ?? null },
    start: { ...start, SERVICE_DATA_DIR: resolve(start.SERVICE_DATA_DIR) },
    embedded,
    longestJobList:
      lookup('SERVICE_API_MAX_JOB_LIST_LENGTH') === undefined ? null : app.SERVICE_API_MAX_JOB_LIST_LENGTH,
    mail: mailSettings(email),
    signIn: oauthSettings(oauth),
  };
}
