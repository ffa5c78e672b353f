/** Waits for a database that is away: work that must not be lost is tried again until the database answers. */
import { retry } from '../retry.ts';
import { isStalePlan } from './named-statements.ts';

const SYSTEM_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
];
/** Connection broken, too many connections, shutting down or starting, a conflict with another transaction. */
const STATES = /^(08|53300|57P0|40001|40P01)/;
const WORDS = /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/;

/** True when the same work may go well a little later. */
export function isPassing(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  if (code !== undefined && (SYSTEM_CODES.includes(code) || STATES.test(code))) return true;
  return isStalePlan(error) || WORDS.test(message ?? '');
}

/** The work must be safe to do twice: a connection may break after the database has stored it. */
export const retryWhileAway = <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  retry(work, { passes: isPassing, firstPauseMs: 100, longestPauseMs: 2000, signal });
