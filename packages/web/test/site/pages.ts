/**
 * Pages in one Chromium for all test files of a worker. Whoever opens one is somebody new: no cookies, nothing stored. What is
 * kept from one test to the next is what the browser knows of files: without it every page would be fetched and compiled anew.
 */
import { join } from 'node:path';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { inject, onTestFinished } from 'vitest';

import { launchBrowser } from '../../../../tests/support/browser.ts';
import { PICTURES } from './looks.ts';

const { web } = inject('site');

/** A place for the pages of one person after the other. */
interface Seat {
  context: BrowserContext;
  /** Of a small page that stays open, so that the process with everything in it stays too. */
  anchor: Page;
  session: CDPSession;
}

/** Ends with the worker, as Playwright sees to. */
let browser: Promise<Browser> | undefined;
const free: Seat[] = [];

async function newSeat(): Promise<Seat> {
  browser ??= launchBrowser('--process-per-site');
  const context = await (await browser).newContext({ baseURL: web, acceptDownloads: true, reducedMotion: 'reduce' });
  // on a machine with other work a page may take long; a test that waits in vain ends by its own limit
  context.setDefaultTimeout(90_000);
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
