/**
 * What it means that a cluster does not answer: nothing about its jobs, and that it is asked again.
 *
 *     const { code } = await whileAway(() => capture(commands, ['mkdir', folder]), { signal });
 *
 * Away is a machine that cannot be reached, a command that takes too long, and a Slurm whose controller is not there.
 */
import { setTimeout as sleep } from 'node:timers/promises';

import { isOfKind, ServiceError } from '@service/contract/errors';

import { HostAway } from '../hosts/index.ts';
import { type Pauses, retry } from '../retry.ts';

const PAUSES: Pauses = { firstPauseMs: 1000, longestPauseMs: 30_000 };

export const isAway = (error: unknown): error is ServiceError =>
  isOfKind(error, 'host-away', 'host-timeout', 'silent-file');

/** For what is tried again later anyway: `await cancel(…).catch(unlessAway)`. */
export function unlessAway(error: unknown): void {
  if (!isAway(error)) throw error;
}

/** The wait was ended: the job is to stop, or somebody else goes on. */
export class Interrupted extends ServiceError {
  readonly kind = 'interrupted';

  constructor({ reason }: AbortSignal) {
    super('The wait for the cluster was ended.', { cause: reason });
  }
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new Interrupted(signal);
  });
}

/** What came of a question; a silence says why there is no answer. */
export type Asked<T> = { answer: T } | { silence: string };

/** How a cluster is asked again. */
export interface Asking {
  signal: AbortSignal;
  pauses?: Partial<Pauses>;
  /** Hears why there is no answer, whenever the reason is another one. */
  onSilence?: (why: string, isFirst: boolean) => void;
  /** What only a person can repair is an error at once, not waited for. */
  failsForPerson?: boolean;
  /** How long a silence is borne, and what it is then; without end where it is not said. */
  longestSilence?: { ms: number; problem(why: string): Error };
}

/** There is no answer, for this reason. */
class Unanswered extends ServiceError {
  readonly kind = 'unanswered';
}

const needsPerson = (error: ServiceError) => error instanceof HostAway && error.needsPerson;

/** Away, and nobody has to do anything about it. */
export const comesBack = (error: unknown): boolean => isAway(error) && !needsPerson(error);

/** Asks until there is an answer. What is no silence, it throws. */
export async function untilAnswered<T>(ask: () => Promise<Asked<T>>, asking: Asking): Promise<T> {
  const { signal, longestSilence, onSilence } = asking;
  const end = Date.now() + (longestSilence?.ms ?? Infinity);
  const isBorne = () => Date.now() <= end;
  const isSilence = (error: unknown): error is ServiceError =>
    error instanceof Unanswered || (isAway(error) && isBorne() && !(asking.failsForPerson && needsPerson(error)));
  let told: string | undefined;
  const tell = ({ message }: Error) => {
    if (told !== message) onSilence?.(message, told === undefined);
    told = message;
  };

  async function askOnce(): Promise<T> {
    if (signal.aborted) throw new Interrupted(signal);
    const asked = await ask();
    if ('answer' in asked) return asked.answer;
    if (longestSilence && !isBorne()) throw longestSilence.problem(asked.silence);
    throw new Unanswered(asked.silence);
  }

  try {
    return await retry(askOnce, {
      ...PAUSES,
      ...asking.pauses,
      passes: isSilence,
      signal,
      onFailure: (error) => tell(error as Error),
    });
  } catch (error) {
    throw signal.aborted && isSilence(error) ? new Interrupted(signal) : error;
  }
}

/** Does something, again and again while the cluster is away. */
export const whileAway = <T>(work: () => Promise<T>, asking: Asking): Promise<T> =>
  untilAnswered(async () => ({ answer: await work() }), asking);
