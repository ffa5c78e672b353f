/** What the log says at the start: every variable, and what is worth a warning. */
import * as settings from '$app/env/private';
import * as publicSettings from '$app/env/public';

import { log } from './log.ts';
import { service } from './mounted.ts';

const SECRETS = new Set(['PUBLIC_GUEST_PASSWORD']);

export function logStart(): void {
  for (const [name, value] of Object.entries({ ...settings, ...publicSettings })) {
    if (value !== undefined) log.info(`${name}=${SECRETS.has(name) ? '***' : String(value)}`);
  }
  // within the service, nobody has set anything up yet as long as there is no origin
  const inUse = service === undefined || settings.ORIGIN !== undefined;
  if (settings.AUTH_COOKIE_NAME.startsWith('__Host-'))
    log.warn('AUTH_COOKIE_NAME begins with __Host-. Image data service and feature explorer may not understand it.');
  else if (settings.AUTH_COOKIE_DOMAIN === undefined && inUse)
    log.warn(
      'AUTH_COOKIE_DOMAIN is not set: the session cookie is for this host alone. ' +
        'Set it if an image data service or feature explorer runs under another host name.',
    );
}
