/**
 * Pages in one Chromium for each test file. Whoever opens one is somebody new: no cookies, nothing stored. What is kept from
 * one test to the next is what the browser knows of files: without it every page would be fetched and compiled anew.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, type BrowserContext, type CDPSession, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';

import { PICTURES } from './looks.ts';

const { web } = inject('site');

/** A place for the pages of one person after the other. */
interface Seat {
  context: BrowserContext;
  /** Of a small page that stays open, so that the process with everything in it stays too. */
  anchor: Page;
  session: CDPSession;
}

let browser: Browser;
const free: Seat[] = [];

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true });
  const args = ['--no-sandbox', '--process-per-site'];
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args });
});

afterAll(() => browser?.close());

async function newSeat(): Promise<Seat> {
  const context = await browser.newContext({ baseURL: web, acceptDownloads: true });
  const anchor = await context.newPage();
  await anchor.goto('/alive');
  return { context, anchor, session: await context.newCDPSession(anchor) };
}

/** Leaves nothing of whoever sat there; a context that was at other addresses is not used again. */
async function giveBack({ context, anchor, session }: Seat): Promise<void> {
  const pages = context.pages().filter((page) => page !== anchor);
  if (pages.some((page) => !page.url().startsWith(`${web}/`))) return context.close();
  for (const page of pages) {
    // an answer that is still being made up has nobody to go to
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.close();
  }
  await session.send('Storage.clearDataForOrigin', { origin: web, storageTypes: 'local_storage,indexeddb' });
  await context.clearCookies();
  await context.clearPermissions();
  free.push({ context, anchor, session });
}

export interface Look {
  width?: number;
  height?: number;
}

let count = 0;

/** A page of somebody's own, until the test is over. */
export async function newPage({ width = 1440, height = 900 }: Look = {}): Promise<Page> {
  const seat = free.pop() ?? (await newSeat());
  const page = await seat.context.newPage();
  await page.setViewportSize({ width, height });
  const number = ++count;
  onTestFinished(async ({ task }) => {
    if (task.result?.state !== 'fail') return giveBack(seat);
    const name = `failed-${task.name.replace(/\W+/g, '-').slice(0, 60)}-${number}`;
    if (!page.isClosed()) await page.screenshot({ path: join(PICTURES, `${name}.png`) });
    await seat.context.close();
  });
  return page;
}
