/**
 * The pictures of the manual and of the README: pages of the demo in a real browser, small enough to be kept in the repository.
 * `npm run pictures` writes them to docs/pictures; every run of the tests takes them, so that a page that changed is noticed
 * by what is waited for here.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

import { until } from '../../packages/server/test/support/lab.ts';

export interface DemoPlace {
  /** Where pages are opened. */
  web: string;
  /** Of the tests, which nobody should read in a picture. */
  dataFolder: string;
  project: number;
  measured: { workflow: number; dataset: number; job: number };
  failed: { workflow: number; dataset: number; job: number };
}

interface Picture {
  address: (demo: DemoPlace) => string;
  /** Waits for what the picture shows, after pressing what leads there. */
  ready: (page: Page) => Promise<void>;
  width?: number;
  height?: number;
}

const inProject = ({ project }: DemoPlace) => `/v2/projects/${project}`;

const text = (words: string | RegExp) => (page: Page) => page.getByText(words).first().waitFor();

/** All pictures that the page shows are there, and what is drawn on a canvas. */
const drawn = async (page: Page) => {
  await page.waitForLoadState('networkidle');
  // asked from outside: the security policy of the page lets no function wait inside it
  await until('all pictures', () => page.evaluate<boolean>('[...document.images].every(({ complete }) => complete)'));
};

export const PICTURES: Record<string, Picture> = {
  projects: { address: () => '/v2/projects', ready: text('Demo'), height: 420 },
  project: { address: inProject, ready: text('Measure nuclei'), height: 540 },
  workflow: {
    address: (demo) =>
      `${inProject(demo)}/workflows/${demo.measured.workflow}?dataset=${demo.measured.dataset}&task=4&tab=images`,
    ready: text('Measure Nuclei'),
  },
  arguments: {
    address: (demo) => `${inProject(demo)}/workflows/${demo.measured.workflow}?dataset=${demo.measured.dataset}`,
    ready: text('Arguments'),
  },
  failure: {
    address: (demo) => `${inProject(demo)}/workflows/${demo.failed.workflow}?dataset=${demo.failed.dataset}`,
    async ready(page) {
      await page.getByRole('button', { name: 'Show what failed' }).click();
      await page
        .getByText(/ValueError/)
        .first()
        .waitFor();
    },
  },
  plate: {
    address: (demo) => `${inProject(demo)}/datasets/${demo.measured.dataset}`,
    ready: text('demo_mip.zarr'),
    height: 980,
  },
  measurements: {
    address: (demo) => `${inProject(demo)}/datasets/${demo.measured.dataset}/measurements`,
    ready: text('61 objects'),
    width: 1440,
    height: 1000,
  },
  viewer: {
    address: (demo) => `${inProject(demo)}/datasets/${demo.measured.dataset}`,
    async ready(page) {
      await page.getByRole('link', { name: 'Open in viewer' }).click();
      await page.waitForURL('**/view?**');
      await page.getByText('nuclei').first().waitFor();
    },
  },
  jobs: { address: () => '/v2/jobs', ready: text('Measure nuclei'), height: 420 },
  job: {
    address: (demo) => `${inProject(demo)}/jobs/${demo.measured.job}`,
    ready: text('Segment Nuclei'),
  },
  sharing: { address: (demo) => `${inProject(demo)}/sharing`, ready: text('Sharing'), height: 520 },
  packages: { address: () => '/v2/tasks/management', ready: text('demo-tasks') },
  token: { address: () => '/profile', ready: text('token') },
  admin: { address: () => '/v2/admin', ready: text('Resources') },
};

/** Where the tests keep the demo is nothing to look at. */
async function hideFolder(page: Page, { dataFolder }: DemoPlace): Promise<void> {
  const replace = `(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      node.nodeValue = node.nodeValue.replaceAll(${JSON.stringify(dataFolder)}, '/srv/service/data');
    }
  })()`;
  await page.evaluate(replace);
}

/** Smaller than PNG by far; the browser knows how. */
async function asWebp(page: Page, png: Buffer): Promise<Buffer> {
  const drawer = await page.context().newPage();
  try {
    const encoded = await drawer.evaluate<string>(`(async () => {
      const response = await fetch('data:image/png;base64,${png.toString('base64')}');
      const bitmap = await createImageBitmap(await response.blob());
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      canvas.getContext('2d').drawImage(bitmap, 0, 0);
      const blob = await canvas.convertToBlob({ type: 'image/webp', quality: 0.82 });
      const bytes = new Uint8Array(await blob.arrayBuffer());
      return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
    })()`);
    return Buffer.from(encoded, 'base64');
  } finally {
    await drawer.close();
  }
}

/** Takes one picture into a folder; gives back how large it is. */
export async function takePicture(page: Page, demo: DemoPlace, name: string, folder: string): Promise<number> {
  const { address, ready, width = 1280, height = 800 } = PICTURES[name]!;
  await page.setViewportSize({ width, height });
  await page.goto(demo.web + address(demo));
  await page.locator('html[data-ready]').waitFor();
  await ready(page);
  await drawn(page);
  await hideFolder(page, demo);
  const webp = await asWebp(page, await page.screenshot());
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.webp`), webp);
  return webp.length;
}
