/** Settings as people may see them: every secret that is set shows as asterisks. */
import type { Settings } from './settings.ts';

/** Addresses may hold credentials, which are for nobody's eyes: `https://me:secret@host` → `https://***@host`. */
export const withoutCredentials = (text: string): string => text.replace(/:\/\/[^/\s]+@/g, '://***@');

const MASK = '**********';
const SECRETS = new Set([
  'JWT_SECRET_KEY',
  'POSTGRES_PASSWORD',
  'SERVICE_EMAIL_PASSWORD',
  'OAUTH_CLIENT_ID',
  'OAUTH_CLIENT_SECRET',
  'OAUTH_OIDC_CONFIG_ENDPOINT',
  'SERVICE_ADMIN_PWD',
]);

const mask = (value: unknown) => (value === null || value === '' ? value : MASK);
const shown = (value: unknown) => (typeof value === 'string' ? withoutCredentials(value) : value);

function masked(group: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(group).map(([name, value]) => [name, SECRETS.has(name) ? mask(value) : shown(value)]),
  );
}

export function maskedSettings(settings: Settings) {
  return {
    app: masked(settings.app),
    database: masked(settings.database),
    email: {
      ...masked(settings.email),
      public: settings.mail && { ...settings.mail, password: mask(settings.mail.password) },
    },
    oauth: masked(settings.oauth),
    start: masked(settings.start),
  };
}
