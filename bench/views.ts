/** What people wait for, in a browser without a graphics card: a plate on its page, and an image in the viewer. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Page } from 'playwright-core';

import { launchBrowser } from '../tests/support/browser.ts';
import { startService } from '../tests/support/processes.ts';
import { CHANNELS, FIELDS, writeImage, writePlate } from './plates.ts';
import { caller, line, login } from './support.ts';

const PROMISED_FEWER = 50;
const PROMISED_MS = 2000;
const SIDE = 2000;

/** Requests and bytes of a page for what matches, counted by the browser. */
async function counted(page: Page, pattern: RegExp, work: () => Promise<void>) {
  const network = await page.context().newCDPSession(page);
  const wanted = new Set<string>();
  let bytes = 0;
  await network.send('Network.enable');
  network.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (pattern.test(request.url)) wanted.add(requestId);
  });
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (wanted.has(requestId)) bytes += encodedDataLength;
  });
  await work();
  await network.detach();
  return { requests: wanted.size, bytes };
}

/** Metadata of image and level, and a chunk for each channel: what a thumbnail of each field needs at least. */
const requestsByFiles = (images: number) => images * (2 + CHANNELS);

async function measurePlate(page: Page, address: string, images: number): Promise<void> {
  const { requests, bytes } = await counted(page, /\/plate-picture/, async () => {
    await page.goto(address);
    // each channel has its histogram, which is made of its picture
    const drawn = page.locator('[aria-label="Channels of the plate"] [aria-expanded] path:nth-of-type(2)');
    await drawn.nth(CHANNELS - 1).waitFor({ state: 'attached', timeout: 300_000 });
  });
  const byFiles = requestsByFiles(images);
  line(`plate of ${images / FIELDS} wells on its page, requests`, String(requests), `${(bytes / 1e6).toFixed(1)} MB`);
  line(
    'requests to read its files instead',
    String(byFiles),
    `${Math.round(byFiles / requests)} times (promised: ${PROMISED_FEWER})`,
  );
}

async function measureImage(page: Page, address: string): Promise<number> {
  const start = performance.now();
  await page.goto(address);
  await page.locator('#picture[aria-label*=" to "]').waitFor();
  await page.locator('section[aria-label="Picture"][aria-busy="false"]').waitFor();
  return performance.now() - start;
}

export async function measureViews(rows: number, columns: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'service-bench-views-'));
  const service = startService(['--port', '0', '--admin-pwd', 'password', '--data-dir', join(folder, 'data')], {
    environment: { SERVICE_WEB_CLIENT: 'true', SERVICE_ADMIN_PROJECT_DIR: folder },
  });
  const browser = await launchBrowser('--disable-gpu');
  try {
    const url = (await service.said(/answers at (http:\/\/\S+)/))[1]!;
    const token = await login(url);
    const call = caller(url, token);
    const image = join(folder, 'image.zarr');
    writeImage(image, 3, { size: SIDE, levels: 4, isWritten: () => true, chunk: 512 });
    const images = [...writePlate(folder, 'p384.zarr', rows, columns), { zarr_url: image, attributes: {}, types: {} }];
    const project = (await call.post('/api/v2/project/', { name: 'views' })) as { id: number };
    const body = { name: 'views', zarr_dir: folder, images };
    const dataset = (await call.post(`/api/v2/project/${project.id}/dataset/import/`, body)) as { id: number };
    const base = `${url}/v2/projects/${project.id}/datasets/${dataset.id}`;

    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.addCookies([{ name: 'fastapiusersauth', value: token, url }]);
    const page = await context.newPage();
    await measurePlate(page, base, images.length - 1);
    const view = `${base}/view?image=${encodeURIComponent(image)}`;
    const times: number[] = [];
    for (let at = 0; at < 3; at++) {
      const fresh = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      await fresh.addCookies([{ name: 'fastapiusersauth', value: token, url }]);
      times.push(await measureImage(await fresh.newPage(), view));
      await fresh.close();
    }
    line(
      `first view of ${SIDE} x ${SIDE} x ${CHANNELS}, nothing kept`,
      `${(Math.min(...times) / 1000).toFixed(2)} s`,
      `(promised: under ${PROMISED_MS / 1000} s; all: ${times.map((one) => (one / 1000).toFixed(2)).join(', ')})`,
    );
  } finally {
    await browser.close();
    service.process.kill('SIGTERM');
    await service.ended;
    rmSync(folder, { recursive: true, force: true });
  }
}
