/**
 * The lines the web server writes: to the console and, if wanted, to a file; within the service, to its log. At the start
 * they say every variable, and what is worth a warning.
 */
import * as settings from '$app/env/private';
import * as publicSettings from '$app/env/public';

import { createLog, type Log, logOutputs } from './log-lines.ts';
import { type Handover, service } from './mounted.ts';

function ownLog(): Log {
  const { outputs, warning } = logOutputs(settings);
  const log = createLog(outputs);
  if (warning !== undefined) log.warn(warning);
  return log;
}

/** The service tells of every request at debug; so do we, within it. */
const serviceLog = ({ debug, warn, error }: Handover['log']): Log => ({
  trace: () => undefined,
  debug,
  info: debug,
  warn,
  error,
});

export const log = service === undefined ? ownLog() : serviceLog(service.log);

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
