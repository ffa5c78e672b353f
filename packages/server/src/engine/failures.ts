/**
 * What a person is told when a process or a job fails.
 *
 *     unitFailure({ …, exit_code: 1, tail: 'Traceback (most recent call last):\n  File …\nValueError: no channel' })
 *     // { cause: 'error', message: 'ValueError: no channel\nExit code 1' }
 */
import type { Cause } from '@service/contract';

import type { EndKind } from './slurm/states.ts';
import { cleanText, cutEnd, cutStart } from './text.ts';

export { cleanText } from './text.ts';

export interface UnitOutcome {
  exit_code: number | null;
  signal: number | null;
  out_of_memory: boolean;
  /** Why it could not start. */
  problem: string | null;
  stopped: boolean;
  /** The process is gone and nobody knows how it ended. */
  lost: boolean;
  output_problem: string | null;
  /** The end of its log. */
  tail: string;
  /** How the scheduler ended the job that it was part of, where that is what became of it. */
  scheduler?: { kind: EndKind | 'gone'; words: string } | undefined;
}

const LONGEST_EXCERPT = 500;
const LAST_LINES = 5;
const TRACEBACK = 'Traceback (most recent call last):';

/** Colours, and what a progress bar wrote over, are for terminals. */
const ESCAPE = String.fromCharCode(27);
const COLOURS = new RegExp(`${ESCAPE}\\[[\\d;]*[A-Za-z]`, 'g');
function shown(line: string): string {
  const text = line.replace(COLOURS, '').trimEnd();
  return text.slice(text.lastIndexOf('\r') + 1);
}

/** The exception of the last traceback, or the last lines; empty when there is nothing. */
function excerptOf(tail: string): string {
  const lines = cleanText(tail).split('\n').map(shown);
  const traceback = lines.findLastIndex((line) => line.includes(TRACEBACK));
  const exception = lines.findIndex((line, index) => traceback >= 0 && index > traceback && /^\S/.test(line));
  if (exception >= 0) return cutEnd(lines.slice(exception).join('\n').trimEnd(), LONGEST_EXCERPT);
  const last = lines.filter((line) => line.trim() !== '').slice(-LAST_LINES);
  return cutStart(last.join('\n'), LONGEST_EXCERPT);
}

const SIGNAL_NAMES: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
};

const SIGNAL_HINTS: Record<number, string> = {
  4: 'the program was made for another processor',
  9: 'the machine may have run out of memory',
  11: 'the program, or a library it uses, has a defect',
};

function killedBy(signal: number): string {
  const name = SIGNAL_NAMES[signal] === undefined ? '' : ` (${SIGNAL_NAMES[signal]})`;
  const hint = SIGNAL_HINTS[signal] === undefined ? '' : `; ${SIGNAL_HINTS[signal]}`;
  return `Killed by signal ${signal}${name}${hint}`;
}

interface Reason {
  cause: Cause;
  /** What happened, in a line. */
  reason: string;
  /** Whether the log can tell more. */
  log: 'first' | 'last' | 'none';
}

/** Signals by which a scheduler ends processes. Another one, or an exit code, is the process's own doing. */
const ENDING_SIGNALS = new Set([9, 15]);

const SCHEDULER_CAUSES: Partial<Record<EndKind | 'gone', Cause>> = {
  memory: 'memory',
  time_limit: 'time_limit',
  cancelled: 'stopped',
  node: 'lost',
  preempted: 'lost',
  boot: 'lost',
  gone: 'lost',
};

/** The scheduler's part in it, if it had one. */
function scheduledEnd({ scheduler, exit_code, signal }: UnitOutcome): Reason | undefined {
  const cause = scheduler && SCHEDULER_CAUSES[scheduler.kind];
  if (!cause || exit_code !== null || (signal !== null && !ENDING_SIGNALS.has(signal))) return undefined;
  return { cause, reason: scheduler.words, log: 'last' };
}

function reasonOf(outcome: UnitOutcome): Reason {
  const { exit_code, signal, problem, output_problem } = outcome;
  if (outcome.stopped) return { cause: 'stopped', reason: 'The job was stopped before this was done.', log: 'none' };
  if (problem !== null) return { cause: 'start', reason: `Could not start: ${problem}`, log: 'none' };
  if (outcome.out_of_memory) {
    return { cause: 'memory', reason: 'Out of memory. Give the task more memory, or smaller images.', log: 'last' };
  }
  const scheduled = scheduledEnd(outcome);
  if (scheduled) return scheduled;
  if (signal !== null) return { cause: 'signal', reason: killedBy(signal), log: 'last' };
  if (outcome.lost || exit_code === null) {
    const reason = 'The process is gone and left no outcome; its machine may have restarted. Run the task again.';
    return { cause: 'lost', reason, log: 'last' };
  }
  if (exit_code === 0 && output_problem !== null) {
    return { cause: 'output', reason: `The output is not valid. ${output_problem}`, log: 'none' };
  }
  return { cause: 'error', reason: `Exit code ${exit_code}`, log: 'first' };
}

/** Why a process failed, in a few lines. */
export function unitFailure(outcome: UnitOutcome): { cause: Cause; message: string } {
  const { cause, reason, log } = reasonOf(outcome);
  const excerpt = log === 'none' ? '' : excerptOf(outcome.tail);
  const lines = log === 'first' ? [excerpt, reason] : [reason, excerpt];
  return { cause, message: cleanText(lines.filter((line) => line !== '').join('\n')) };
}

/** Of a longer log only the end is quoted. */
export const LONGEST_QUOTED_LOG = 100_000;
/** In characters: tracebacks with long paths have room in it. */
export const LONGEST_QUOTED_END = 20_000;

interface UnitError {
  exit_code: number | null;
  signal: number | null;
  log: QuotedLog;
  command: string;
  logfile: string;
  /** What is wrong when it is not the exit code: no start, no valid output, stopped, lost. */
  problem?: string | null;
  /** What the exit code or signal means, where that is known. */
  reason?: string | null;
}

/** A log, or the end of one that is too long to be quoted. */
export interface QuotedLog {
  text: string;
  /** The size of the whole, where only its end is here. */
  bytes?: number;
}

/** The end of a text in whole lines, where there are any: what comes first may be cut anywhere, also inside a character. */
export function endOfLog(text: string): string {
  const end = cleanText(text.slice(-LONGEST_QUOTED_END)).replace(/^\uFFFD+/, '');
  const line = end.indexOf('\n') + 1;
  return line > 0 && line < end.length ? end.slice(line) : `…${end}`;
}

function quotedLog({ text, bytes }: QuotedLog): string {
  if (bytes === undefined) return text === '' ? 'The log is empty.' : text;
  return `The log has ${bytes} bytes, too many to show here. Download the job to read it. This is its end:\n${text}`;
}

/** The text of a failed process inside the log of its job. */
export function unitErrorText({ exit_code, signal, log, command, logfile, problem, reason }: UnitError): string {
  const code = signal === null ? exit_code : -signal;
  const ending =
    problem ?? (code === null ? 'Task failed without a returncode.' : `Task failed with returncode=${code}.`);
  const lines = ['', `Command: ${command}`, `Log file: ${logfile}`, ending, ...(reason ? [reason] : []), 'Log:'];
  return cleanText([...lines, quotedLog(log)].join('\n'));
}

/** The log of a job that failed in a way that its user can do something about. Clients look for these markers. */
export const jobErrorLog = (jobId: number, heading: string, message: string): string =>
  cleanText(`JOB ERROR in job ${jobId}:\nTRACEBACK:\n${heading}\n${message}`);

/** The log of a job that failed through a defect. */
export const unknownErrorLog = (jobId: number, stack: string): string =>
  cleanText(`UNKNOWN ERROR in job ${jobId}:\nTRACEBACK:\n${stack}`);

const two = (value: number) => String(value).padStart(2, '0');

/** A line of `workflow.log`, in local time as in all logs: `2026-01-31 12:00:00,123 - WF1_job2 - INFO - Start`. */
export function workflowLogLine(time: Date, workflowId: number, jobId: number, level: string, message: string): string {
  const date = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  const milliseconds = String(time.getMilliseconds()).padStart(3, '0');
  return `${date} ${clock},${milliseconds} - WF${workflowId}_job${jobId} - ${level} - ${message}`;
}
