/** The lines the web server writes: to the console and, if wanted, to a file. */
import { LOG_CONFIG_FILE, LOG_FILE, LOG_LEVEL_CONSOLE, LOG_LEVEL_FILE } from '$app/env/private';

import { createLog, logOutputs } from './log-lines.ts';

const { outputs, warning } = logOutputs({ LOG_CONFIG_FILE, LOG_FILE, LOG_LEVEL_CONSOLE, LOG_LEVEL_FILE });

export const log = createLog(outputs);
if (warning !== undefined) log.warn(warning);
