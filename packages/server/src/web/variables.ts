/**
 * The variables of the web client (packages/web/src/env.ts) that it takes from the service's own sources, so that they may
 * stand in the settings file too. What it needs to know of the service comes from the service.
 */
import type { Settings } from '../settings/index.ts';

/** Log lines go where those of the service go, so LOG_… is not among them. */
export const CLIENT_VARIABLES = [
  'AUTH_COOKIE_NAME',
  'AUTH_COOKIE_SECURE',
  'AUTH_COOKIE_DOMAIN',
  'AUTH_COOKIE_PATH',
  'AUTH_COOKIE_SAME_SITE',
  'SERVICE_HIDE_BASIC_AUTH',
  'SERVICE_DISPLAY_CORE_TASK_FILTER',
  'PUBLIC_SERVICE_NAME',
  'PUBLIC_OAUTH_CLIENT_NAME',
  'PUBLIC_GUEST_USERNAME',
  'PUBLIC_GUEST_PASSWORD',
  'PUBLIC_SERVICE_ADMIN_SUPPORT_EMAIL',
  'PUBLIC_UPDATE_JOBS_INTERVAL',
  'PUBLIC_SERVICE_DATA_URL',
  'PUBLIC_SERVICE_VIZARR_VIEWER_URL',
  'PUBLIC_SERVICE_VIEWER_URL',
  'PUBLIC_SERVICE_VOLE_VIEWER_URL',
  'PUBLIC_SERVICE_FEATURE_EXPLORER_URL',
  'PUBLIC_ENABLE_HELP_LINKS',
  'PUBLIC_HELP_LINKS_BASE_URL',
  'WARNING_BANNER_PATH',
  'NEWS_INFO_PATH',
  'LOGIN_INVITE_PATH',
  'ORIGIN',
  'BODY_SIZE_LIMIT',
] as const;

export function clientVariables(
  settings: Settings,
  lookup: (name: string) => string | undefined,
  dataBase?: string,
): Record<string, string | undefined> {
  const given = Object.fromEntries(CLIENT_VARIABLES.map((name) => [name, lookup(name)]));
  const { SERVICE_RUNNER_BACKEND, SERVICE_DEFAULT_GROUP_NAME, SERVICE_DISABLE_BASIC_AUTH } = settings.app;
  return {
    ...given,
    SERVICE_RUNNER_BACKEND,
    SERVICE_DEFAULT_GROUP_NAME: SERVICE_DEFAULT_GROUP_NAME ?? '',
    // without somebody's own choice, the client offers what the service accepts
    SERVICE_HIDE_BASIC_AUTH: given['SERVICE_HIDE_BASIC_AUTH'] ?? SERVICE_DISABLE_BASIC_AUTH,
    PUBLIC_OAUTH_CLIENT_NAME: given['PUBLIC_OAUTH_CLIENT_NAME'] ?? settings.signIn?.name,
    // so do image files, unless they come from elsewhere
    PUBLIC_SERVICE_DATA_URL: given['PUBLIC_SERVICE_DATA_URL'] ?? dataBase,
    // the guide comes with the service
    PUBLIC_ENABLE_HELP_LINKS: given['PUBLIC_ENABLE_HELP_LINKS'] ?? 'true',
  };
}
