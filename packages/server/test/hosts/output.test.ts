/** What a command prints: never faster than it is taken, and a handler that throws fails its own command. */
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { guarded } from '../../src/guard.ts';
import { capture, localHost } from '../../src/hosts/index.ts';
import { isAlive, until } from '../support/lab.ts';

const thrown = (): never => {
  throw new Error('thrown on purpose');
};
const SPEAKS = ['sh', '-c', 'echo out; echo err >&2; sleep 60'] as const;

type Options = NonNullable<Parameters<typeof localHost.run>[1]>;

describe('a handler that throws ends its command, which fails with it', () => {
  it.each<[string, Options]>([
    ['onBytes', { onBytes: thrown }],
    ['onBytes, later', { onBytes: () => Promise.reject(new Error('thrown on purpose')) }],
    ['onOutput', { onOutput: thrown }],
    ['onOutput of errors', { onOutput: (_, from) => (from === 'stderr' ? thrown() : undefined) }],
    ['onOutput, later', { onOutput: () => Promise.reject(new Error('thrown on purpose')) }],
    ['onStart', { onStart: thrown }],
    [
      'the source of its input',
      {
        // eslint-disable-next-line require-yield
        input: (async function* () {
          thrown();
        })(),
      },
    ],
  ])('%s', async (_, options) => {
    let pid = 0;
    const { onStart } = options;
    const running = localHost.run(SPEAKS, {
      ...options,
      onStart(handle) {
        ({ pid } = handle);
        return onStart?.(handle);
      },
    });
    await expect(running).rejects.toThrow('thrown on purpose');
    await until('the end of the command', () => !isAlive(pid));
  });
});

it('a handler that throws when a launched command ends harms nobody', async () => {
  let told = 0;
  const onExit = () => {
    told += 1;
    thrown();
  };
  const { pid } = await localHost.launch(['true'], { cwd: '/', output: '/dev/null', onExit });
  await until('its end', () => !isAlive(pid) && told > 0);
  // what nobody catches would fail the test
  await sleep(100);
  expect(told).toBe(1);
});

it('a command is held back while what it printed is not taken', async () => {
  let taken = 0;
  const end = new AbortController();
  const running = localHost.run(['cat', '/dev/zero'], {
    signal: end.signal,
    async onBytes(chunk) {
      taken += chunk.length;
      await sleep(50);
    },
  });
  await sleep(1500);
  end.abort();
  await running;
  // without holding it back, these would be gigabytes
  expect(taken).toBeLessThan(10 * 2 ** 20);
});

it('everything is taken before the end of a command is told, one piece after the other', async () => {
  let [text, busy] = ['', 0];
  await localHost.run(['seq', '100000'], {
    async onOutput(piece) {
      expect(++busy).toBe(1);
      await sleep(1);
      text += piece;
      busy -= 1;
    },
  });
  expect(text).toBe(`${Array.from({ length: 100_000 }, (_, index) => index + 1).join('\n')}\n`);
});

it('what a command prints is kept up to a limit, and of its complaints the beginning', async () => {
  const endless = capture(localHost, ['cat', '/dev/zero'], { mostBytes: 2 ** 20 });
  await expect(endless).rejects.toThrow('cat printed more than 1 MiB and was ended.');
  const complaining = await capture(localHost, ['sh', '-c', 'yes complaint | head -c 10000000 >&2']);
  expect(complaining.stderr).toHaveLength(64 * 1024);
});

it('a guard tells what was thrown, at once or later', async () => {
  const told: string[] = [];
  const fails = (error: Error) => void told.push(error.message);
  guarded(thrown, fails)();
  guarded(() => Promise.reject(new Error('later')), fails)();
  expect(guarded((one: number, other: number) => one + other, fails)(1, 2)).toBeUndefined();
  await sleep(1);
  expect(told).toEqual(['thrown on purpose', 'later']);
});
