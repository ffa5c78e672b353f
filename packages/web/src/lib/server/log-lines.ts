/**
 * Log lines by level, into any number of outputs.
 *
 * A configuration file, in YAML or JSON, names appenders and, for the category "default", which of them are used from
 * which level on:
 *
 *     appenders:
 *       out: { type: stdout }
 *       app: { type: file, filename: /var/log/web.log }
 *     categories:
 *       default: { appenders: [out, app], level: info }
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';

import { type Level, LEVELS } from './readers.ts';

type Named = 'trace' | 'debug' | 'info' | 'warn' | 'error';
export type Log = Record<Named, (text: string) => void>;

export interface Output {
  level: Level;
  write(line: string): void;
}

/** `mark` lets pass what is above everything else; lower levels let more pass. */
const ORDER: Level[] = ['all', 'trace', 'debug', 'info', 'warn', 'error', 'fatal', 'mark', 'off'];
const passes = (output: Output, level: Named) => ORDER.indexOf(level) >= ORDER.indexOf(output.level);

export function createLog(outputs: Output[], now: () => Date = () => new Date()): Log {
  const at = (level: Named) => (text: string) => {
    const line = `${now().toISOString()} ${level.toUpperCase().padEnd(5)} ${text}\n`;
    for (const output of outputs) if (passes(output, level)) output.write(line);
  };
  return { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

const onConsole = (level: Level): Output => ({ level, write: (line) => void process.stderr.write(line) });
const onStdout = (level: Level): Output => ({ level, write: (line) => void process.stdout.write(line) });

function inFile(level: Level, path: string): Output {
  const write = (line: string) => {
    try {
      appendFileSync(path, line);
    } catch (reason) {
      process.stderr.write(`${path} cannot be written: ${String(reason)}\n`);
    }
  };
  return { level, write };
}

interface Variables {
  LOG_CONFIG_FILE?: string | undefined;
  LOG_FILE?: string | undefined;
  LOG_LEVEL_CONSOLE: Level;
  LOG_LEVEL_FILE: Level;
}

interface Configuration {
  appenders?: Record<string, { type: string; filename?: string }>;
  categories?: { default?: { appenders?: string[]; level?: string } };
}

function configured(file: string): Output[] {
  const { appenders, categories } = (parse(readFileSync(file, 'utf8')) ?? {}) as Configuration;
  const { appenders: used, level: written } = categories?.default ?? {};
  if (used === undefined || written === undefined)
    throw new Error('it does not say appenders and level of the category "default"');
  const level = written.toLowerCase() as Level;
  if (!LEVELS.includes(level)) throw new Error(`the level "${level}" is not known`);
  return used.map((name) => {
    const appender = appenders?.[name];
    if (appender === undefined) throw new Error(`there is no appender "${name}"`);
    if (appender.type === 'file' && appender.filename !== undefined) return inFile(level, appender.filename);
    if (appender.type === 'stderr') return onConsole(level);
    if (appender.type === 'stdout' || appender.type === 'console') return onStdout(level);
    throw new Error(`the appender "${name}" is neither stdout, stderr nor a file with a filename`);
  });
}

/** Where lines go. A configuration that cannot be used is not the end: there is a warning and the other variables count. */
export function logOutputs(variables: Variables): { outputs: Output[]; warning?: string } {
  const plain = [onConsole(variables.LOG_LEVEL_CONSOLE)];
  if (variables.LOG_FILE !== undefined) plain.push(inFile(variables.LOG_LEVEL_FILE, variables.LOG_FILE));
  if (variables.LOG_CONFIG_FILE === undefined) return { outputs: plain };
  try {
    return { outputs: configured(variables.LOG_CONFIG_FILE) };
  } catch (reason) {
    const cause = reason instanceof Error ? reason.message : String(reason);
    return { outputs: plain, warning: `LOG_CONFIG_FILE ${variables.LOG_CONFIG_FILE} is not used: ${cause}` };
  }
}
