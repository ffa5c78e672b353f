/**
 * Logging: `const log = logging.logger('lifespan.startup'); log.info('Listening on …')`.
 *
 * Names are paths: what no rule catches for `a.b` is asked of `a`, then of the root.
 */
import { builtInRoutes, configuredRoutes, type Route, type Routes } from './config.ts';
import { LEVELS, type LevelName, type LogRecord } from './record.ts';

export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warning(message: string, error?: unknown): void;
  error(message: string, error?: unknown): void;
  /** To leave out work for entries that nobody would see. */
  enabled(level: LevelName): boolean;
}

export interface Logging {
  logger(name: string): Logger;
}

/** The routes that concern a logger, from its own up to the root, as far as they pass entries on. */
function routesFor(routes: Routes, name: string): { level: number; chain: Route[] } {
  const parts = name.split('.');
  const names = parts.map((_, index) => parts.slice(0, parts.length - index).join('.'));
  const all = [...names, ''].map((one) => routes.get(one)).filter((route) => route !== undefined);
  const level = all.find((route) => route.level !== undefined)?.level ?? LEVELS.warning;
  const last = all.findIndex((route) => !route.propagate);
  return { level, chain: last < 0 ? all : all.slice(0, last + 1) };
}

function makeLogger(routes: Routes, name: string): Logger {
  const { level: threshold, chain } = routesFor(routes, name);
  const sinks = chain.flatMap((route) => route.sinks);
  const enabled = (level: LevelName) => LEVELS[level] >= threshold && sinks.length > 0;
  const write = (level: LevelName, message: string, thrown?: unknown) => {
    if (!enabled(level)) return;
    const error = thrown === undefined || thrown instanceof Error ? thrown : new Error(JSON.stringify(thrown));
    const record: LogRecord = { time: new Date(), level, name, message, error };
    for (const sink of sinks) if (LEVELS[level] >= sink.level) sink.output.write(sink.format(record));
  };
  return {
    enabled,
    debug: (message) => write('debug', message),
    info: (message) => write('info', message),
    warning: (message, error) => write('warning', message, error),
    error: (message, error) => write('error', message, error),
  };
}

export function createLogging(options: { level: number; configFile: string | null }): Logging {
  const loggers = new Map<string, Logger>();
  const { routes, problem } = chooseRoutes(options);
  const logging: Logging = {
    logger(name) {
      const known = loggers.get(name) ?? makeLogger(routes, name);
      loggers.set(name, known);
      return known;
    },
  };
  if (problem !== undefined) {
    logging.logger('lifespan.startup').error(`LOG_CONFIG_FILE is not used, built-in logging is: ${problem}`);
  }
  return logging;
}

function chooseRoutes({ level, configFile }: { level: number; configFile: string | null }) {
  if (configFile === null) return { routes: builtInRoutes(level) };
  try {
    return { routes: configuredRoutes(configFile) };
  } catch (error) {
    return { routes: builtInRoutes(level), problem: (error as Error).message };
  }
}
