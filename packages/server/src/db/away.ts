/**
 * What an error of the database means, and waiting for a database that is away: work that must not be lost is tried again
 * until the database answers.
 */
import { isOfKind } from '@service/contract/errors';

import { retry } from '../retry.ts';
import { isStalePlan } from './named-statements.ts';

/**
 * `away`: it cannot be reached, or starts or ends. `conflict`: others changed the same at the same moment. `stale-plan`: a
 * table was changed in the midst of it. `too-slow`: cut by a time limit. `too-long`: an index has a longest entry.
 */
export type DatabaseFailure = 'away' | 'conflict' | 'stale-plan' | 'too-slow' | 'too-long';

const SYSTEM_CODES = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'];
const STATES: [RegExp, DatabaseFailure][] = [
  // connection broken, too many connections, shutting down or starting
  [/^(08|53300|57P0)/, 'away'],
  [/^(40001|40P01)/, 'conflict'],
  [/^(57014|25P03)/, 'too-slow'],
  [/^54000/, 'too-long'],
];
const AWAY = ['connection-lost', 'no-connection'];
/** What the driver says without a code. */
const WORDS = /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/;

export function databaseFailure(error: unknown): DatabaseFailure | undefined {
  const { code = '', syscall, message = '' } = (error ?? {}) as { code?: string; syscall?: string; message?: string };
  // a file that is not there has the same code as the socket of a database
  const isUnreachable = SYSTEM_CODES.includes(code) || (code === 'ENOENT' && syscall === 'connect');
  if (isUnreachable || AWAY.some((kind) => isOfKind(error, kind)) || WORDS.test(message)) return 'away';
  if (isStalePlan(error)) return 'stale-plan';
  return STATES.find(([pattern]) => pattern.test(code))?.[1];
}

/** True when the same work may go well a little later. */
export function isPassing(error: unknown): boolean {
  const failure = databaseFailure(error);
  return failure === 'away' || failure === 'conflict' || failure === 'stale-plan';
}

/** The work must be safe to do twice: a connection may break after the database has stored it. */
export const retryWhileAway = <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  retry(work, { passes: isPassing, firstPauseMs: 100, longestPauseMs: 2000, signal });
