/** The lines the web server writes: to the console and, if wanted, to a file; within the service, to its log. */
import { LOG_CONFIG_FILE, LOG_FILE, LOG_LEVEL_CONSOLE, LOG_LEVEL_FILE } from '$app/env/private';

import { createLog, type Log, logOutputs } from './log-lines.ts';
import { type Handover, service } from './mounted.ts';

function ownLog(): Log {
  const { outputs, warning } = logOutputs({ LOG_CONFIG_FILE, LOG_FILE, LOG_LEVEL_CONSOLE, LOG_LEVEL_FILE });
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
