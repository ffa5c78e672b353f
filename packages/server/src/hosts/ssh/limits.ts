/** How long things may take on the way to a host; tests make them short. */
import type { Pauses } from '../../retry.ts';

/** The pauses are those after attempts in vain. */
export interface SshLimits extends Pauses {
  /** To reach the host and agree on keys. */
  connectMs: number;
  loginMs: number;
  /** To open a session on a connection that stands. */
  openMs: number;
  /** A silent host is asked for a sign of life so often … */
  keepAliveMs: number;
  /** … and the connection is given up after so many questions without an answer. */
  keepAliveMisses: number;
  /** Sessions at a time. sshd allows ten by default; one more is kept free to end what runs. */
  sessions: number;
  /** How long a command waits for a free session. */
  waitMs: number;
  /** From the request to end a command until its session is given up. */
  endMs: number;
}

export const USUAL_LIMITS: SshLimits = {
  connectMs: 30_000,
  loginMs: 30_000,
  openMs: 30_000,
  keepAliveMs: 15_000,
  keepAliveMisses: 3,
  sessions: 8,
  waitMs: 500_000,
  firstPauseMs: 1000,
  longestPauseMs: 60_000,
  endMs: 15_000,
};
