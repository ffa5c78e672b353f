/** Asking again where there is no stream. */
export interface Lost {
  /** As a moment in milliseconds. */
  since: number;
  /** The service answers when it is asked, only its stream does not come. */
  answers?: boolean;
}

/** While nothing changes one request in five seconds is enough. */
const LEAST_QUIET_MS = 5000;
/** Nobody waits for a job that has ended: only a new one could begin. */
const IDLE_MS = 15_000;

/** `quietRounds`: how many answers in a row were the same. */
export function pollDelay(interval: number, isRunning: boolean, quietRounds: number): number {
  if (!isRunning) return Math.max(interval, IDLE_MS);
  return quietRounds > 0 ? Math.max(interval, LEAST_QUIET_MS) : interval;
}
