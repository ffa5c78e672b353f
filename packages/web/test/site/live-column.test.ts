/** Beside the arguments of a task that runs: the plate and what ended last. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { looksWell, person } from './site.ts';

const WELLS = ['p1 A01', 'p1 A02', 'p1 A03', 'p2 A01'];
const QUIET_MS = 6000;

const imageOf = (name: string) => {
  const [plate, well] = name.split(' ') as [string, string];
  return {
    zarr_url: `${plate}.zarr/${well[0]}/${well.slice(1)}/0`,
    attributes: { plate: `${plate}.zarr`, well },
  };
};

const live = (page: Page) => page.getByRole('complementary', { name: 'Live' });
const latest = (page: Page) => live(page).getByRole('region', { name: 'Latest' });
const well = (page: Page, words: string) => live(page).getByRole('option', { name: words });

/** A task that waits at a gate for each image; one gate leads to a failure. */
async function begin(wells = WELLS) {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Screen 7');
  const dataset = await anna.dataset(project, 'Plates', wells.map(imageOf));
  const gate = (name: string) => join(anna.folder, `go ${name}`);
  const plan = Object.fromEntries(
    wells.map((name) => [
      `${dataset.zarr_dir}/${imageOf(name).zarr_url}`,
      { wait_for: gate(name), ...(name === 'p1 A02' ? { raise: 'chunk 0/0 is damaged' } : {}) },
    ]),
  );
  const task = await anna.task({ name: 'Segment nuclei' });
  const workflow = await anna.workflow(project, 'Nuclei', [{ task, args_parallel: { plan } }]);
  const path = `/v2/projects/${project.id}/workflows/${workflow.id}?dataset=${dataset.id}`;
  const open = (name: string) => writeFileSync(gate(name), '');
  return { anna, path, open, submit: () => anna.submit(project, workflow, dataset) };
}

test('while a task runs, the plate and the newest images move; they lead to images and logs', async () => {
  const { anna, path, open, submit } = await begin();
  const page = await anna.open(path);
  expect(await live(page).count()).toBe(0);
  const job = await submit();

  // heard through the stream, without a reload
  await live(page).getByRole('heading', { name: 'Plate 1 of 2' }).waitFor();
  await live(page).getByRole('listbox', { name: 'Wells of p1.zarr' }).waitFor();
  await well(page, 'A01, running, 1 image').waitFor();
  await latest(page).getByText('No image has ended yet.').waitFor();

  open('p1 A01');
  await well(page, 'A01, done, 1 image').waitFor();
  await latest(page).getByRole('button', { name: 'p1 A01' }).waitFor();
  open('p1 A02');
  await well(page, 'A02, failed, 1 image').waitFor();
  await expect.poll(() => latest(page).getByRole('listitem').first().textContent()).toMatch(/p1 A02.*task error/);
  await looksWell(page, 'workflow-live');

  // the plate that the work is on, until the reader chooses one
  await live(page).getByRole('button', { name: 'Next plate' }).click();
  await live(page).getByRole('listbox', { name: 'Wells of p2.zarr' }).waitFor();
  await well(page, 'A01, running, 1 image').waitFor();
  open('p1 A03');
  await latest(page).getByRole('button', { name: 'p1 A03' }).waitFor();
  expect(await live(page).getByRole('listbox', { name: 'Wells of p2.zarr' }).count()).toBe(1);

  await latest(page).getByRole('button', { name: 'p1 A02' }).click();
  await page.getByText('ValueError: chunk 0/0 is damaged').first().waitFor();
  await page.getByRole('tab', { name: 'Arguments' }).click();
  await well(page, 'A02, failed, 1 image').click();
  await page.waitForURL((url) => url.searchParams.get('a.well') === 'A02');
  const table = page.getByRole('region', { name: 'Images of this task' });
  await expect.poll(() => table.getByRole('rowheader').allTextContents()).toEqual(['p1.zarr/A/02/0']);

  // what was shown stays when the task has ended, and the plate that the reader chose
  await page.getByRole('tab', { name: 'Arguments' }).click();
  await live(page).getByRole('button', { name: 'Next plate' }).click();
  await live(page).getByRole('button', { name: 'Previous plate' }).click();
  const chosen = await live(page).getByRole('listbox', { name: 'Wells of p1.zarr' }).elementHandle();
  open('p2 A01');
  await anna.ended(job);
  await latest(page).getByRole('button', { name: 'p2 A01' }).waitFor();
  await page.getByRole('button', { name: 'Rerun 1 failed' }).waitFor();
  expect(await chosen.evaluate((element) => element.isConnected)).toBe(true);
  await page.getByRole('tab', { name: /^Runs/ }).click();
  expect(await live(page).count()).toBe(0);
});

test('while nothing changes nothing is asked', async () => {
  // one image alone: others would begin whenever a job of somebody else leaves room
  const { anna, path, open, submit } = await begin(['p1 A01']);
  const job = await submit();
  const page = await anna.open(path);
  await well(page, 'A01, running, 1 image').waitFor();
  const asked: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/')) asked.push(pathname);
  });
  // what has happened so far may still be on its way
  await page.waitForTimeout(QUIET_MS);
  asked.length = 0;
  await page.waitForTimeout(QUIET_MS);
  expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(1);
  open('p1 A01');
  await anna.ended(job);
});
