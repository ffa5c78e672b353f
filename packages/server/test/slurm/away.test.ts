/** What is asked of a cluster that does not answer is asked again. */
import { expect, it } from 'vitest';

import { HostAway, HostTimeout } from '../../src/hosts/index.ts';
import { type Asked, type Asking, Interrupted, untilAnswered, whileAway } from '../../src/slurm/away.ts';

const asking = (more: Partial<Asking> = {}): Asking => ({
  signal: new AbortController().signal,
  pauses: { firstPauseMs: 1, longestPauseMs: 2 },
  ...more,
});

/** Gives these one after the other; an error is thrown. */
function inTurn<T>(...turns: (T | Error)[]): () => Promise<T> {
  return async () => {
    const next = turns.shift()!;
    if (next instanceof Error) throw next;
    return next;
  };
}

it('each new reason is told once, and the answer is given', async () => {
  const told: [string, boolean][] = [];
  const ask = inTurn<Asked<number>>(
    new HostAway('broke'),
    new HostAway('broke'),
    new HostTimeout('squeue', 'took too long'),
    { silence: 'no controller' },
    { silence: 'no controller' },
    { answer: 7 },
  );
  expect(await untilAnswered(ask, asking({ onSilence: (...said) => void told.push(said) }))).toBe(7);
  expect(told).toEqual([
    ['broke', true],
    ['squeue took too long', false],
    ['no controller', false],
  ]);
});

it('what is no silence is thrown at once', async () => {
  await expect(whileAway(inTurn(new Error('a defect'), 7), asking())).rejects.toThrow('a defect');
});

it('what only a person can repair is waited for, or thrown, as the caller wants', async () => {
  const lockedOut = () => inTurn<number>(new HostAway('wrong key', { needsPerson: true }), 7);
  expect(await whileAway(lockedOut(), asking())).toBe(7);
  await expect(whileAway(lockedOut(), asking({ failsForPerson: true }))).rejects.toThrow('wrong key');
});

it('a silence that is too long is what the caller makes of it; a host that stays away is told as such', async () => {
  const longestSilence = { ms: -1, problem: (why: string) => new Error(`given up: ${why}`) };
  const silent = () => Promise.resolve({ silence: 'no controller' });
  await expect(untilAnswered(silent, asking({ longestSilence }))).rejects.toThrow('given up: no controller');
  const away = inTurn<number>(new HostAway('broke'));
  await expect(whileAway(away, asking({ longestSilence }))).rejects.toBeInstanceOf(HostAway);
});

it('nothing is asked for somebody who has left', async () => {
  const asked = untilAnswered(inTurn<Asked<number>>(new Error('asked')), asking({ signal: AbortSignal.abort() }));
  await expect(asked).rejects.toBeInstanceOf(Interrupted);
});
