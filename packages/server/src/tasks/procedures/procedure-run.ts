/**
 * One activity under way: its steps, its log, its commands.
 *
 *     await run.step('install', () => run.command([python, '-m', 'pip', 'install', spec]));
 *
 * The log is stored while a step runs, at most once a second, so that people can watch it grow. A long one keeps its
 * beginning and its end.
 */
import type { ActivityStep } from '@service/contract';
import { ServiceError } from '@service/contract/errors';

import { guarded, ignored } from '../../guard.ts';
import type { Host, ProcessHandle } from '../../hosts/index.ts';
import { withoutCredentials } from '../../settings/index.ts';

type Level = 'DEBUG' | 'INFO' | 'WARNING' | 'ERROR';

const stamp = (time: Date) => time.toISOString().replace('T', ' ').replace('Z', '').replace('.', ',');

/**
 * As clients know it: they look for the level.
 *
 *     2026-01-31 12:00:00,123 - collect - INFO - Step package
 */
export const logLine = (time: Date, name: string, level: Level, message: string) =>
  `${stamp(time)} - ${name} - ${level} - ${message}\n`;

/** A step that did not work; its message is for the person who asked. */
export class StepFailed extends ServiceError {
  readonly kind = 'step-failed';
}

interface CommandOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Where it runs, when that is not where the others do. */
  host?: Host;
  /** As `env`, for what nobody may see in the list of processes. */
  secrets?: Record<string, string>;
  /** Keeps the output out of the log: it is data. Warnings, which go to stderr, are not. */
  quiet?: boolean;
  /** Finds in the end of what it printed why it failed; where it finds nothing, its last line is what people are told. */
  explain?(printed: string): string | undefined;
}

export interface ProcedureRun {
  host: Host;
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Marks a step that is not needed this time. */
  skip(name: string): void;
  say(line: string, level?: Level): void;
  /** Adds what a program printed to the log, line by line; pieces of different sources are kept apart. */
  show(text: string, source?: string): void;
  /** Runs a command and gives back what it printed to stdout; fails the step when it fails. */
  command(command: readonly [string, ...string[]], options?: CommandOptions): Promise<string>;
  /** Fails when another process has taken this over: to be asked just before what cannot be undone. */
  stillOurs(): Promise<void>;
  /** Stores why it fails, before anybody is told that it did; saying it twice does no harm. */
  fail(reason: string): Promise<void>;
  /** Stores what there is; call it at the end. */
  close(failure?: string): Promise<void>;
}

export interface ProcedureOptions {
  host: Host;
  /** What is done, which every line of the log says. */
  name: string;
  steps: string[];
  /** The log so far, when an earlier attempt wrote one. */
  log: string;
  save(log: string, steps: ActivityStep[]): Promise<void>;
  remember(handle: ProcessHandle | null): Promise<void>;
  /** True for what does not end the activity: it starts over. */
  startsOver?(error: unknown): boolean;
  /** Proves that no other process has taken this over. */
  proveOurs?(): Promise<void>;
  /** Aborted when the service stops, or another process has taken this over: a command ends, and no step begins. */
  signal?: AbortSignal;
  now?: () => Date;
}

/** Of what a command prints that is data. */
const LONGEST_OUTPUT = 8 * 2 ** 20;
/** Of what a command printed, to find in it why it failed. */
const LONGEST_REMEMBERED = 64_000;
const LONGEST_LAST_LINE = 10_000;
const SAVE_EVERY_MS = 1000;
const LONGEST_BEGINNING = 200_000;
const LONGEST_END = 600_000;
/** What is printed without an end of line is shown in pieces of this length. */
const LONGEST_LINE = 10_000;

/** A log that would grow without end loses its middle, in whole lines where there are any. */
function createLog(text: string, leftOut: (characters: number) => string) {
  let beginning = text.slice(0, LONGEST_BEGINNING);
  let end = text.slice(LONGEST_BEGINNING).slice(-LONGEST_END);
  let lost = Math.max(0, text.length - LONGEST_BEGINNING - LONGEST_END);
  return {
    add(more: string) {
      // the database stores no NUL
      const clean = more.replaceAll('\u0000', '\uFFFD').toWellFormed();
      const room = LONGEST_BEGINNING - beginning.length;
      beginning += clean.slice(0, room);
      end += clean.slice(room);
      if (end.length > 2 * LONGEST_END) {
        lost += end.length - LONGEST_END;
        end = end.slice(-LONGEST_END);
      }
    },
    text() {
      if (lost === 0) return beginning + end;
      const [upTo, from] = [beginning.lastIndexOf('\n') + 1 || beginning.length, end.indexOf('\n') + 1];
      const note = leftOut(lost + beginning.length - upTo + from);
      const [before, after] = [beginning.slice(0, upTo), end.slice(from)];
      // where the middle is missing, half a character may stand on either side
      return `${before}${before.endsWith('\n') ? '' : '\n'}${note}${after}`.toWellFormed();
    },
  };
}

/** As it could be typed. */
export const shown = (command: readonly string[]) =>
  command.map((part) => (/^[\w@%+=:,./[\]-]+$/.test(part) ? part : JSON.stringify(part))).join(' ');

const nameOf = (command: readonly [string, ...string[]]) => command[0].split('/').at(-1);

export function createProcedureRun(options: ProcedureOptions): ProcedureRun {
  const { host, name: subject, remember, save, signal, startsOver = () => false } = options;
  const now = options.now ?? (() => new Date());
  const log = createLog(options.log, (characters) =>
    logLine(now(), subject, 'WARNING', `… ${characters} characters left out …`),
  );
  const steps: ActivityStep[] = options.steps.map((name) => ({
    name,
    status: 'pending',
    timestamp_started: null,
    timestamp_ended: null,
    done: null,
    total: null,
    detail: null,
  }));
  const stepOf = (name: string) => steps.find((step) => step.name === name)!;
  let saved = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const store = () => {
    saved = saved.then(() => save(withoutCredentials(log.text()), steps)).catch(() => undefined);
    return saved;
  };
  const soon = () => {
    const storeNow = () => {
      timer = undefined;
      return store();
    };
    timer ??= setTimeout(guarded(storeNow, ignored), SAVE_EVERY_MS);
  };
  const write = (line: string, level: Level) => {
    for (const one of line.split('\n')) log.add(logLine(now(), subject, level, one));
    soon();
  };

  /** What programs have printed of a line that has not ended yet. */
  const begun = new Map<string, string>();
  const show = (text: string, source = '') => {
    const lines = `${begun.get(source) ?? ''}${text}`.split('\n');
    const rest = lines.pop()!;
    for (const line of lines) write(line, 'DEBUG');
    if (rest.length > LONGEST_LINE) write(rest, 'DEBUG');
    begun.set(source, rest.length > LONGEST_LINE ? '' : rest);
  };
  const showRest = () => {
    for (const rest of begun.values()) if (rest !== '') write(rest, 'DEBUG');
    begun.clear();
  };
  const say = (line: string, level: Level = 'INFO') => {
    showRest();
    write(line, level);
  };

  let told: string | undefined;
  const fail = (reason: string) => {
    if (reason !== told) say(`Failed: ${reason}`, 'ERROR');
    told = reason;
    return store();
  };

  return {
    host,
    say,
    show,
    fail,
    async stillOurs() {
      await options.proveOurs?.();
      signal?.throwIfAborted();
    },
    skip(name) {
      stepOf(name).status = 'skipped';
    },
    async step(name, work) {
      const step = stepOf(name);
      step.status = 'ongoing';
      step.timestamp_started = now().toISOString();
      say(`Step ${name}`);
      await store();
      try {
        signal?.throwIfAborted();
        const result = await work();
        step.status = 'OK';
        step.timestamp_ended = now().toISOString();
        return result;
      } catch (error) {
        step.detail = withoutCredentials((error as Error).message).slice(0, 2000);
        if (startsOver(error)) throw error;
        step.status = 'failed';
        step.timestamp_ended = now().toISOString();
        await fail((error as Error).message);
        throw error;
      } finally {
        await store();
      }
    },
    async command(command, { quiet, explain, host: elsewhere, ...rest } = {}) {
      signal?.throwIfAborted();
      say(`$ ${shown(command)}`);
      let output = '';
      let end = '';
      const done = await (elsewhere ?? host).run(command, {
        // Python looks for modules in the current folder, so that must not be anybody's home
        cwd: '/',
        installs: true,
        ...rest,
        ...(signal ? { signal } : {}),
        onStart: remember,
        onOutput: (text, from) => {
          end = (end + text).slice(-LONGEST_REMEMBERED);
          if (from === 'stdout' && output.length <= LONGEST_OUTPUT) output += text;
          if (quiet && output.length > LONGEST_OUTPUT) throw new StepFailed(`${nameOf(command)} printed too much.`);
          if (!quiet || from === 'stderr') show(text, from);
        },
      });
      showRest();
      signal?.throwIfAborted();
      await remember(null);
      if (done.code === 0) return output;
      const cause = done.signal === null ? explain?.(end) : undefined;
      if (cause !== undefined) throw new StepFailed(withoutCredentials(cause));
      const last = (end.trim().split('\n').at(-1) ?? '').slice(-LONGEST_LAST_LINE);
      const how = done.signal === null ? `ended with ${done.code}` : `was ended by ${done.signal}`;
      throw new StepFailed(`${nameOf(command)} ${how}: ${withoutCredentials(last)}`);
    },
    async close(failure) {
      if (failure !== undefined) await fail(failure);
      showRest();
      clearTimeout(timer);
      timer = undefined;
      await store();
      await saved;
    },
  };
}
