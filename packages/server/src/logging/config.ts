/**
 * `LOG_CONFIG_FILE`: who logs what to where, as YAML. Existing deployments have such files in the dictionary format of
 * Python's logging, so that is the format here too, as far as it has a meaning in this process (docs/logging.md).
 */
import { readFileSync } from 'node:fs';

import { parse } from 'yaml';
import { z } from 'zod';

import { consoleOutput, fileOutput, noOutput, type Output } from './outputs.ts';
import { type Format, jsonFormat, LEVELS, lineFormat } from './record.ts';

const LEVEL_NUMBERS: Record<string, number> = { NOTSET: 0, WARN: 30, FATAL: 50 };
for (const [name, number] of Object.entries(LEVELS)) LEVEL_NUMBERS[name.toUpperCase()] = number;

const Level = z.union([z.number(), z.string()]).transform((level, ctx) => {
  const number = typeof level === 'number' ? level : LEVEL_NUMBERS[level.toUpperCase()];
  if (number === undefined) ctx.addIssue(`"${level}" is not a level; use DEBUG, INFO, WARNING, ERROR or CRITICAL`);
  return number ?? 0;
});

const Formatter = z.object({
  format: z.string().optional(),
  datefmt: z.string().optional(),
  json: z.boolean().optional(),
});
const Handler = z.object({
  class: z.enum([
    'logging.StreamHandler',
    'logging.NullHandler',
    'logging.FileHandler',
    'logging.handlers.RotatingFileHandler',
    'logging.handlers.TimedRotatingFileHandler',
  ]),
  level: Level.default(0),
  formatter: z.string().optional(),
  stream: z.enum(['ext://sys.stdout', 'ext://sys.stderr']).default('ext://sys.stderr'),
  filename: z.string().optional(),
  maxBytes: z.number().default(0),
  backupCount: z.number().default(0),
});
const LoggerEntry = z.object({
  level: Level.optional(),
  handlers: z.array(z.string()).default([]),
  propagate: z.boolean().default(true),
});
const Configuration = z.object({
  version: z.literal(1).default(1),
  formatters: z.record(z.string(), Formatter).default({}),
  handlers: z.record(z.string(), Handler).default({}),
  loggers: z.record(z.string(), LoggerEntry).default({}),
  root: LoggerEntry.omit({ propagate: true }).default({ handlers: [] }),
});

/** A place that takes records from some level on. */
interface Sink {
  level: number;
  format: Format;
  output: Output;
}

export interface Route {
  level: number | undefined;
  sinks: Sink[];
  propagate: boolean;
}

/** Loggers by name; `''` is the root. */
export type Routes = Map<string, Route>;

export function builtInRoutes(level: number): Routes {
  const sink = { level: 0, format: lineFormat(), output: consoleOutput(process.stderr) };
  return new Map([['', { level, sinks: [sink], propagate: false }]]);
}

function outputOf(name: string, handler: z.output<typeof Handler>): Output {
  if (handler.class === 'logging.NullHandler') return noOutput;
  if (handler.class === 'logging.StreamHandler') {
    return consoleOutput(handler.stream === 'ext://sys.stdout' ? process.stdout : process.stderr);
  }
  if (handler.filename === undefined) throw new Error(`handlers.${name}.filename is missing`);
  return fileOutput(handler.filename, {
    maxBytes: handler.maxBytes,
    daily: handler.class === 'logging.handlers.TimedRotatingFileHandler',
    keep: handler.backupCount,
  });
}

export function configuredRoutes(path: string): Routes {
  if (path === '') throw new Error('the variable is empty');
  const read = Configuration.safeParse(parse(readFileSync(path, 'utf8')));
  if (!read.success) {
    const [issue] = read.error.issues;
    throw new Error(`${issue!.path.join('.') || 'the file'}: ${issue!.message}`);
  }
  const { formatters, handlers, loggers, root } = read.data;
  const sinks = new Map<string, Sink>();
  const sinkOf = (name: string): Sink => {
    const known = sinks.get(name);
    if (known) return known;
    const handler = handlers[name];
    if (!handler) throw new Error(`there is no handler named ${name}`);
    const formatter = handler.formatter === undefined ? {} : formatters[handler.formatter];
    if (!formatter) throw new Error(`there is no formatter named ${handler.formatter}`);
    const format = formatter.json ? jsonFormat : lineFormat(formatter.format, formatter.datefmt);
    const sink = { level: handler.level, format, output: outputOf(name, handler) };
    sinks.set(name, sink);
    return sink;
  };
  const routes: Routes = new Map();
  routes.set('', { level: root.level ?? LEVELS.warning, sinks: root.handlers.map(sinkOf), propagate: false });
  for (const [name, logger] of Object.entries(loggers)) {
    const isRoot = name === '' || name === 'root';
    routes.set(isRoot ? '' : name, {
      level: logger.level,
      sinks: logger.handlers.map(sinkOf),
      propagate: logger.propagate,
    });
  }
  return routes;
}
