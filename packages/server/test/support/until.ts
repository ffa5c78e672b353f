/** Waiting in tests for what comes on its own. */
import { setTimeout as sleep } from 'node:timers/promises';

type Check<T> = () => T | Promise<T>;
type Found<T> = Exclude<T, undefined | null | false | 0 | ''>;

/** When to look again, in milliseconds: soon, since most things are quick, then less and less often. */
export const FIRST_PAUSE = 10;
export const longer = (pause: number) => Math.min(200, pause * 1.25);

async function waitFor<T>(what: string, check: Check<T>, seconds = 20): Promise<Found<T>> {
  const deadline = Date.now() + seconds * 1000;
  for (let pause = FIRST_PAUSE; ; pause = longer(pause)) {
    const found = await check();
    if (found) return found as Found<T>;
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${seconds} s: ${what}`);
    await sleep(pause);
  }
}

/** Waits until something holds; fails with its name, or else with how it was looked for, when it does not come. */
export function until<T>(what: string, check: Check<T>, seconds?: number): Promise<Found<T>>;
export function until<T>(check: Check<T>, seconds?: number): Promise<Found<T>>;
export function until<T>(first: string | Check<T>, second?: Check<T> | number, third?: number): Promise<Found<T>> {
  if (typeof first === 'string') return waitFor(first, second as Check<T>, third);
  return waitFor(String(first), first, second as number | undefined);
}
