/** Runs before the built server: gives it the environment it needs, and each request the origin it was sent to. */
import { dev } from '$app/env';
import * as settings from '$app/env/private';
import * as publicSettings from '$app/env/public';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

import { log } from '#lib/server/log.ts';
import { nameOrigin, serverEnvironment } from '#lib/server/request-origin.ts';

const SECRETS = new Set(['PUBLIC_GUEST_PASSWORD']);

if (!dev) {
  for (const [name, value] of Object.entries(serverEnvironment(process.env))) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  subscribe('http.server.request.start', (message) =>
    nameOrigin((message as { request: IncomingMessage }).request, settings.ORIGIN),
  );

  for (const [name, value] of Object.entries({ ...settings, ...publicSettings })) {
    if (value !== undefined) log.info(`${name}=${SECRETS.has(name) ? '***' : String(value)}`);
  }
  if (settings.AUTH_COOKIE_NAME.startsWith('__Host-'))
    log.warn('AUTH_COOKIE_NAME begins with __Host-. Image data service and feature explorer may not understand it.');
  else if (settings.AUTH_COOKIE_DOMAIN === undefined)
    log.warn('AUTH_COOKIE_DOMAIN is not set. The session cookie is for the host name that people use.');
}
