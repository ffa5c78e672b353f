import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { maskedSettings, readSettings, settingSources, SettingsError } from '../../src/settings/index.ts';

const read = (given: Record<string, string>) => readSettings((name) => given[name]);
const GIVEN = { POSTGRES_DB: 'db', JWT_SECRET_KEY: 'key' };
const MAIL = {
  SERVICE_EMAIL_SENDER: 'service@example.org',
  SERVICE_EMAIL_SMTP_SERVER: 'localhost',
  SERVICE_EMAIL_SMTP_PORT: '25',
  SERVICE_EMAIL_INSTANCE_NAME: 'Lab',
  SERVICE_EMAIL_RECIPIENTS: 'a@example.org, b@example.org',
};
const OIDC = { OAUTH_CLIENT_NAME: ' Institute ', OAUTH_CLIENT_ID: 'id', OAUTH_CLIENT_SECRET: 'secret' };

describe('settings', () => {
  it('need nothing with the embedded database', () => {
    const settings = read({});
    expect(settings.embedded).toBe(true);
    expect(settings.app).toMatchObject({ JWT_EXPIRE_SECONDS: 86_400, SERVICE_DEFAULT_GROUP_NAME: 'All' });
    expect(settings.start).toMatchObject({ SERVICE_PORT: 8000, SERVICE_HOST: '127.0.0.1' });
    expect(settings.start.SERVICE_DATA_DIR).toMatch(/^\/.*\/data$/);
  });

  it('have the defaults of existing deployments with a database server', () => {
    const settings = read(GIVEN);
    expect(settings.embedded).toBe(false);
    expect(settings.app).toMatchObject({
      JWT_EXPIRE_SECONDS: 180,
      COOKIE_EXPIRE_SECONDS: 86_400,
      SERVICE_RUNNER_BACKEND: 'local',
      SERVICE_LOGGING_LEVEL: 20,
      SERVICE_API_MAX_JOB_LIST_LENGTH: 25,
      SERVICE_GRACEFUL_SHUTDOWN_TIME: 30,
      SERVICE_DEFAULT_GROUP_NAME: null,
      SERVICE_LONG_REQUEST_TIME: 30,
      SERVICE_DISABLE_BASIC_AUTH: 'false',
      SERVICE_ENABLE_TASK_GROUP_RESET: 'false',
    });
    expect(settings.database).toMatchObject({ POSTGRES_HOST: 'localhost', POSTGRES_PORT: 5432, POSTGRES_DB: 'db' });
  });

  it.each<[string, Record<string, string>]>([
    ['JWT_SECRET_KEY', { POSTGRES_DB: 'db' }],
    ['JWT_SECRET_KEY', { ...GIVEN, JWT_SECRET_KEY: '' }],
    ['POSTGRES_DB', { POSTGRES_DB: ' ' }],
    ['POSTGRES_PORT', { ...GIVEN, POSTGRES_PORT: 'x' }],
    ['POSTGRES_PORT', { ...GIVEN, POSTGRES_PORT: '-1' }],
    ['POSTGRES_USER', { ...GIVEN, POSTGRES_USER: '' }],
    ['DB_ECHO', { DB_ECHO: 'True' }],
    ['SERVICE_MAX_REQUEST_TIME', { SERVICE_MAX_REQUEST_TIME: '-1' }],
    ['SERVICE_MAX_REQUEST_TIME', { SERVICE_MAX_REQUEST_TIME: '99999999' }],
    ['SERVICE_MAX_UPLOAD_TIME', { SERVICE_MAX_UPLOAD_TIME: 'long' }],
    ['SERVICE_MAX_STATEMENT_TIME', { SERVICE_MAX_STATEMENT_TIME: '-0.5' }],
    ['SERVICE_TASK_ENVIRONMENT', { SERVICE_TASK_ENVIRONMENT: '*' }],
    ['SERVICE_TASK_ENVIRONMENT', { SERVICE_TASK_ENVIRONMENT: 'A=b' }],
    ['OAUTH_TRUST_EMAIL', { OAUTH_TRUST_EMAIL: 'yes' }],
    ['JWT_EXPIRE_SECONDS', { JWT_EXPIRE_SECONDS: '' }],
    ['JWT_EXPIRE_SECONDS', { JWT_EXPIRE_SECONDS: '1.5' }],
    ['SERVICE_LOGGING_LEVEL', { SERVICE_LOGGING_LEVEL: 'INFO' }],
    ['SERVICE_RUNNER_BACKEND', { SERVICE_RUNNER_BACKEND: 'local_experimental' }],
    ['SERVICE_RUNNER_BACKEND', { SERVICE_RUNNER_BACKEND: 'local', SERVICE_BACKEND_RUNNER: 'slurm_ssh' }],
    ['SERVICE_DEFAULT_GROUP_NAME', { SERVICE_DEFAULT_GROUP_NAME: '' }],
    ['SERVICE_DEFAULT_GROUP_NAME', { SERVICE_DEFAULT_GROUP_NAME: 'Everybody' }],
    ['SERVICE_HELP_URL', { SERVICE_HELP_URL: '' }],
    ['SERVICE_HELP_URL', { SERVICE_HELP_URL: 'ftp://x' }],
    ['SERVICE_GRACEFUL_SHUTDOWN_TIME', { SERVICE_GRACEFUL_SHUTDOWN_TIME: 'soon' }],
    ['SERVICE_DISABLE_BASIC_AUTH', { SERVICE_DISABLE_BASIC_AUTH: 'TRUE' }],
    ['SERVICE_MAX_BODY_SIZE', { SERVICE_MAX_BODY_SIZE: 'large' }],
    ['SERVICE_TRUSTED_ORIGINS', { SERVICE_TRUSTED_ORIGINS: 'https://lab.example.org, lab' }],
    ['SERVICE_TRUSTED_ORIGINS', { SERVICE_TRUSTED_ORIGINS: 'https://lab.example.org/page' }],
    ['SERVICE_TRUSTED_ORIGINS', { SERVICE_TRUSTED_ORIGINS: 'null' }],
    ['ORIGIN', { ORIGIN: 'lab.example.org' }],
    ['SERVICE_VIEWER_AUTHORIZATION_SCHEME', { SERVICE_VIEWER_AUTHORIZATION_SCHEME: 'x' }],
    ['SERVICE_VIEWER_BASE_FOLDER', { SERVICE_VIEWER_AUTHORIZATION_SCHEME: 'users-folders' }],
    [
      'SERVICE_VIEWER_BASE_FOLDER',
      { SERVICE_VIEWER_AUTHORIZATION_SCHEME: 'users-folders', SERVICE_VIEWER_BASE_FOLDER: 'a' },
    ],
    ['SERVICE_EMAIL_SMTP_PORT', { ...MAIL, SERVICE_EMAIL_SMTP_PORT: 'x' }],
    ['SERVICE_EMAIL_SMTP_SERVER', { SERVICE_EMAIL_SENDER: 'a@example.org' }],
    ['SERVICE_EMAIL_PASSWORD', MAIL],
    ['SERVICE_EMAIL_SENDER', { ...MAIL, SERVICE_EMAIL_SENDER: 'me' }],
    ['SERVICE_EMAIL_RECIPIENTS', { ...MAIL, SERVICE_EMAIL_PASSWORD: 'x', SERVICE_EMAIL_RECIPIENTS: 'a@example.org,' }],
    ['OAUTH_OIDC_CONFIG_ENDPOINT', OIDC],
    ['OAUTH_CLIENT_NAME', { ...OIDC, OAUTH_CLIENT_NAME: 'users', OAUTH_OIDC_CONFIG_ENDPOINT: 'https://x.org' }],
    ['OAUTH_CLIENT_NAME', { ...OIDC, OAUTH_CLIENT_NAME: 'a/b', OAUTH_OIDC_CONFIG_ENDPOINT: 'https://x.org' }],
    ['SERVICE_PORT', { SERVICE_PORT: 'http' }],
    ['SERVICE_ADMIN_EMAIL', { SERVICE_ADMIN_EMAIL: 'admin' }],
  ])('that are wrong stop the start with one line that names %s', (name, given) => {
    const attempt = () => read(given);
    expect(attempt).toThrow(SettingsError);
    expect(attempt).toThrow(name);
    expect(attempt).toThrow(/^[^\n]+$/);
  });

  it('for mail are all or none', () => {
    expect(read({}).mail).toBeNull();
    expect(read({ SERVICE_EMAIL_PASSWORD: 'alone' }).mail).toBeNull();
    expect(read({ ...MAIL, SERVICE_EMAIL_USE_LOGIN: 'false' }).mail).toMatchObject({
      recipients: ['a@example.org', 'b@example.org'],
      port: 25,
      use_login: false,
      use_starttls: true,
    });
  });

  it('for sign-in are on when name, id and secret are set', () => {
    expect(read({ OAUTH_CLIENT_NAME: 'github', OAUTH_CLIENT_ID: 'x' }).signIn).toBeNull();
    expect(read({ ...OIDC, OAUTH_OIDC_CONFIG_ENDPOINT: 'https://x.org/.well-known' }).signIn).toMatchObject({
      name: 'institute',
    });
    expect(read({ ...OIDC, OAUTH_CLIENT_NAME: 'GitHub' }).signIn).toMatchObject({ name: 'github', discovery: null });
  });

  it('show addresses normalised and sizes in bytes', () => {
    const { app } = read({ SERVICE_HELP_URL: 'https://Help.example.org', SERVICE_MAX_UPLOAD_SIZE: '1g' });
    expect(app).toMatchObject({ SERVICE_HELP_URL: 'https://help.example.org/', SERVICE_MAX_UPLOAD_SIZE: 2 ** 30 });
  });

  it('read either name of the backend', () => {
    expect(read({ SERVICE_BACKEND_RUNNER: 'slurm_ssh' }).app.SERVICE_RUNNER_BACKEND).toBe('slurm_ssh');
  });

  it('mask secrets that are set, and only those', () => {
    const shown = maskedSettings(read({ ...GIVEN, ...MAIL, SERVICE_EMAIL_PASSWORD: 'hidden', POSTGRES_PASSWORD: '' }));
    expect(shown.app['JWT_SECRET_KEY']).toBe('**********');
    expect(shown.database['POSTGRES_PASSWORD']).toBe('');
    expect(shown.oauth['OAUTH_CLIENT_SECRET']).toBeNull();
    expect(shown.email.public?.password).toBe('**********');
    expect(JSON.stringify(shown)).not.toContain('hidden');
  });

  it('show addresses without the credentials in them', () => {
    const shown = maskedSettings(read({ SERVICE_PACKAGE_INDEX: 'https://me:hidden@index.example.org/simple' }));
    expect(shown.app['SERVICE_PACKAGE_INDEX']).toBe('https://***@index.example.org/simple');
  });
});

describe('the sources of settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'service-settings-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  writeFileSync(
    join(folder, '.service_server.env'),
    'SERVICE_A=new file\nFRACTAL_B=new file, old name\nC="quoted # text"\nSERVICE_D=new\n',
  );
  writeFileSync(
    join(folder, '.fractal_server.env'),
    'FRACTAL_A=old file\nFRACTAL_B=old file\nFRACTAL_D=old\nFRACTAL_E=only here\nC=old\n',
  );

  it.each([
    ['SERVICE_A', {}, 'new file'],
    ['SERVICE_A', { FRACTAL_A: 'environment, old name' }, 'environment, old name'],
    ['SERVICE_A', { FRACTAL_A: 'old', SERVICE_A: 'environment' }, 'environment'],
    ['SERVICE_A', { SERVICE_A: '' }, ''],
    ['SERVICE_B', {}, 'new file, old name'],
    ['SERVICE_D', {}, 'new'],
    ['SERVICE_E', {}, 'only here'],
    ['C', {}, 'quoted # text'],
    ['SERVICE_F', {}, undefined],
  ])('are asked in order: %s with %j', (name, environment, expected) => {
    expect(settingSources(environment, folder)(name)).toBe(expected);
  });

  it('may be absent', () => {
    expect(settingSources({}, '/nowhere')('SERVICE_A')).toBeUndefined();
  });
});
