/** Answers that last are counted for as long as they last. */
import { Readable } from 'node:stream';

import type { Operation } from '@service/contract';
import { expect, it } from 'vitest';

import { createLongAnswers } from '../../src/http/long-answers.ts';
import { Streamed } from '../../src/http/streamed.ts';

const DOWNLOAD = { answer: { mediaType: 'application/zip' }, file: true } as unknown as Operation;

it('an answer that has closed before it was looked at does not count', async () => {
  const { within } = createLongAnswers();
  const closed = new Readable({ read() {} });
  closed.destroy();
  await new Promise((resolve) => closed.once('close', resolve));
  for (let count = 0; count < 100; count++) await within(DOWNLOAD, 1, async () => new Streamed(closed));
  expect(await within(DOWNLOAD, 1, async () => 'next')).toBe('next');
});

it('more than a person may have open are refused, until one closes', async () => {
  const { within } = createLongAnswers();
  const open = Array.from({ length: 32 }, () => new Readable({ read() {} }));
  for (const body of open) await within(DOWNLOAD, 1, async () => new Streamed(body));
  await expect(within(DOWNLOAD, 1, async () => 'more')).rejects.toMatchObject({ status: 429 });
  expect(await within(DOWNLOAD, 2, async () => 'of another')).toBe('of another');
  open[0]!.destroy();
  await new Promise((resolve) => open[0]!.once('close', resolve));
  expect(await within(DOWNLOAD, 1, async () => 'next')).toBe('next');
});
