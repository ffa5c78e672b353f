/**
 * The start-time variables. They are read when the web server starts, never at build time; what begins with PUBLIC_ is
 * seen by browsers.
 */
import { building, dev } from '$app/env';
import { defineEnvVars } from '@sveltejs/kit/env';

import {
  choice,
  cookieName,
  flag,
  hostName,
  integer,
  LEVELS,
  or,
  orElse,
  origin,
  path,
  required,
  size,
  text,
  url,
  urlOrPath,
} from '#lib/server/readers.ts';
import { route } from '#lib/route.ts';
import { endOnProblems } from '#lib/server/start-check.ts';

/** Nothing has to be set to build the client or to work on it. */
const atWork = building || dev;
const runner = choice('local', 'slurm_sudo', 'slurm_ssh');

export const variables = defineEnvVars({
  SERVICE_SERVER_HOST: {
    description: 'Base URL of the API server, without slash at the end.',
    schema: required(url, atWork ? 'http://127.0.0.1:8000' : undefined),
  },
  SERVICE_RUNNER_BACKEND: {
    description: 'How the service runs jobs; also known as SERVICE_BACKEND_RUNNER.',
    schema: orElse(required(runner, atWork ? 'local' : undefined), 'SERVICE_BACKEND_RUNNER'),
  },
  SERVICE_DEFAULT_GROUP_NAME: { description: 'The group of everybody, if there is one.', schema: choice('All') },

  AUTH_COOKIE_NAME: { description: 'The session cookie.', schema: or(cookieName, 'fastapiusersauth') },
  AUTH_COOKIE_SECURE: { description: 'Unset: as the scheme of the request.', schema: flag },
  AUTH_COOKIE_DOMAIN: { description: 'Unset: the host alone.', schema: hostName },
  AUTH_COOKIE_PATH: { schema: or(path, '/') },
  AUTH_COOKIE_SAME_SITE: { schema: or(choice('lax', 'strict', 'none'), 'lax') },

  SERVICE_HIDE_BASIC_AUTH: { description: 'Leaves out sign-in with a password.', schema: or(flag, false) },
  SERVICE_DISPLAY_CORE_TASK_FILTER: { description: 'The core selector of task tables.', schema: or(flag, true) },
  PUBLIC_SERVICE_NAME: {
    public: true,
    description: 'What this deployment is called.',
    schema: or(text, 'Image analysis service'),
  },
  PUBLIC_OAUTH_CLIENT_NAME: { public: true, description: 'The external account, as the API names it.', schema: text },
  PUBLIC_GUEST_USERNAME: { public: true, description: 'Guest sign-in, with its password.', schema: text },
  PUBLIC_GUEST_PASSWORD: { public: true, description: 'Every browser gets it.', schema: text },
  PUBLIC_SERVICE_ADMIN_SUPPORT_EMAIL: { public: true, description: 'Whom people can ask.', schema: text },
  PUBLIC_UPDATE_JOBS_INTERVAL: { public: true, description: 'Milliseconds.', schema: or(integer(1), 3000) },
  PUBLIC_SERVICE_DATA_URL: { public: true, description: 'The image data service.', schema: urlOrPath },
  PUBLIC_SERVICE_VIZARR_VIEWER_URL: {
    public: true,
    description: 'Viewer of images and plates; also known as PUBLIC_SERVICE_VIEWER_URL.',
    schema: orElse(url, 'PUBLIC_SERVICE_VIEWER_URL'),
  },
  PUBLIC_SERVICE_VOLE_VIEWER_URL: { public: true, description: 'Viewer of volumes.', schema: url },
  PUBLIC_SERVICE_FEATURE_EXPLORER_URL: { public: true, schema: url },
  PUBLIC_ENABLE_HELP_LINKS: {
    public: true,
    description: 'Help icons and the user guide.',
    schema: (value): boolean => (text(value) ?? String(dev)) === 'true',
  },
  PUBLIC_HELP_LINKS_BASE_URL: { public: true, description: 'The user guide.', schema: or(urlOrPath, route.help()) },

  WARNING_BANNER_PATH: { description: 'Plain text for every page.', schema: text },
  NEWS_INFO_PATH: { description: 'Markdown for the home page.', schema: text },
  LOGIN_INVITE_PATH: { description: 'HTML for the login page.', schema: text },

  LOG_CONFIG_FILE: {
    description: 'Appenders and categories; the other LOG_ variables are then not read.',
    schema: text,
  },
  LOG_FILE: { schema: text },
  LOG_LEVEL_FILE: { schema: or(choice(...LEVELS), 'info') },
  LOG_LEVEL_CONSOLE: { schema: or(choice(...LEVELS), 'warn') },

  PORT: { schema: integer(0, 65_535) },
  ORIGIN: { description: 'The public origin. Unset: scheme and host of the request.', schema: origin },
  BODY_SIZE_LIMIT: { description: 'Bytes of a call to the API. Unset: what the API allows.', schema: size },
});

// Kit would end with status 1 and a stack
if (!atWork) endOnProblems(variables, process.env);
