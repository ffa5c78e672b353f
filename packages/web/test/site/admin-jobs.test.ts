/** Jobs and accounting of everybody, as administrators see them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Request } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Job } from '@service/contract';

import { admin, asAdmin, good, goTo, looksWell, type Person, person } from './site.ts';

const IMAGES = ['plate.zarr/A/01/0', 'plate.zarr/A/02/0'];

async function ranJob(owner: Person, plan: object = {}): Promise<Job> {
  const project = await owner.project();
  const dataset = await owner.dataset(project, 'Plate', IMAGES);
  const workflow = await owner.workflow(project, 'Nuclei', [
    { task: await owner.task(), args_parallel: { plan: { '*': plan } } },
  ]);
  return owner.submit(project, workflow, dataset);
}

const shown = async (page: Page) => (await page.getByRole('link', { name: /^Job \d+$/ }).allTextContents()).map(Number);

async function choose(page: Page, filter: string, option: string) {
  await page.getByRole('button', { name: new RegExp(`^${filter}: `) }).click();
  await page.getByRole('combobox', { name: `Search in ${filter}` }).fill(option);
  await page.getByRole('option', { name: option }).click();
}

function countRequests(page: Page, isMeant: (request: Request) => boolean): () => number {
  let count = 0;
  page.on('request', (request) => (count += Number(isMeant(request))));
  return () => count;
}

async function savedText(page: Page, press: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'latin1') };
}

test('admin jobs: all filters, CSV row count, log download of a deleted project’s job', async () => {
  const anna = await person({ name: 'anna' });
  const done = await anna.ended(await ranJob(anna));
  const failed = await anna.ended(await ranJob(anna, { raise: 'no pixels' }));
  const page = await asAdmin(`/v2/admin/jobs`);

  await choose(page, 'Job user', anna.email);
  await expect.poll(() => shown(page)).toEqual([failed.id, done.id]);
  await looksWell(page, 'admin-jobs');
  const csv = await savedText(page, () => page.getByRole('button', { name: 'CSV of all matches' }).click());
  expect(csv.name).toBe('jobs.csv');
  expect(csv.text.trim().split('\r\n')).toHaveLength(3);

  await page.getByText('2 jobs match, newest first').waitFor();
  await choose(page, 'Status', 'Done');
  await expect.poll(() => shown(page)).toEqual([done.id]);
  await page.getByText('1 job matches, newest first').waitFor();
  await choose(page, 'Status', 'Failed or stopped');
  await expect.poll(() => shown(page)).toEqual([failed.id]);
  await page.getByRole('button', { name: 'Clear filters' }).first().click();

  await choose(page, 'Project owner', anna.email);
  await expect.poll(() => shown(page)).toEqual([failed.id, done.id]);
  const cases: [string, number][] = [
    ['Job id', done.id],
    ['Project id', done.project_id!],
    ['Workflow id', done.workflow_id!],
    ['Dataset id', done.dataset_id!],
  ];
  for (const [name, value] of cases) {
    const field = page.getByRole('textbox', { name });
    await field.fill(String(value));
    await field.press('Enter');
    await expect.poll(() => shown(page), { message: name }).toEqual([done.id]);
    await field.fill('');
    await field.press('Enter');
    await expect.poll(() => shown(page), { message: name }).toEqual([failed.id, done.id]);
  }
  await page.getByRole('button', { name: /^Resource: / }).click();
  await page.getByRole('option').first().click();
  await expect.poll(() => page.url()).toContain('resource_id=');
  await expect.poll(() => shown(page)).toEqual([failed.id, done.id]);

  // days: everything until tomorrow, nothing from tomorrow on; the address keeps it
  const day = (offset: number) => {
    const date = new Date(Date.now() + offset * 86_400_000);
    return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
      .map((part) => String(part).padStart(2, '0'))
      .join('-');
  };
  for (const what of ['Started', 'Ended']) {
    await page.getByLabel(`${what} from, day`).fill(day(1));
    await page.getByRole('heading', { name: 'No job matches these filters' }).waitFor();
    await page.getByLabel(`${what} from, day`).fill(day(-1));
    await expect.poll(() => shown(page), { message: what }).toEqual([failed.id, done.id]);
    await page.getByLabel(`${what} until, day`).fill(day(-1));
    await page.getByRole('heading', { name: 'No job matches these filters' }).waitFor();
    await page.getByLabel(`${what} until, day`).fill(day(1));
    await expect.poll(() => shown(page), { message: what }).toEqual([failed.id, done.id]);
  }
  await page.reload();
  await expect.poll(() => shown(page)).toEqual([failed.id, done.id]);
  expect(await page.getByLabel('Ended until, day').inputValue()).toBe(day(1));

  // a job whose project is deleted is still there, with its log
  await good(anna.client.delete(`/api/v2/project/${failed.project_id}/`));
  const asked = countRequests(page, (request) => request.url().includes(`/admin/v2/job/${failed.id}?`));
  await goTo(page, `/v2/admin/jobs?id=${failed.id}`);
  await page.getByRole('link', { name: `Job ${failed.id}`, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Job ${failed.id}` });
  await dialog.getByText('ValueError: no pixels', { exact: true }).waitFor();
  expect(await dialog.textContent()).toContain('(deleted)');
  await looksWell(page, 'admin-job');
  const zip = await savedText(page, () => dialog.getByRole('button', { name: 'Download logs' }).click());
  expect(zip.name).toBe(`${failed.id}_logs.zip`);
  expect(zip.text.slice(0, 2)).toBe('PK');
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog.count()).toBe(0);
  expect(asked()).toBe(1);
});

test('admin jobs: live update, stop, set failed', async () => {
  const anna = await person({ name: 'anna' });
  const waits = { wait_for: join(anna.folder, 'never'), stubborn: true };
  const [stopped, labelled] = [await ranJob(anna, waits), await ranJob(anna, waits)];
  const page = await asAdmin(`/v2/admin/jobs?job_user_email=${anna.email}`);
  await expect.poll(() => shown(page)).toEqual([labelled.id, stopped.id]);
  const row = (job: Job) =>
    page.getByRole('row').filter({ has: page.getByRole('link', { name: `Job ${job.id}`, exact: true }) });

  await page.getByRole('button', { name: `Stop job ${stopped.id}` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop job' }).click();
  await row(stopped).getByText('Stopped', { exact: true }).waitFor({ timeout: 60_000 });

  await page.getByRole('button', { name: `Actions for job ${labelled.id}` }).click();
  await page.getByRole('menuitem', { name: 'Set status to failed' }).click();
  const dialog = page.getByRole('dialog', { name: `Set job ${labelled.id} to failed?` });
  await dialog.getByText(/has lost track of/).waitFor();
  await looksWell(page, 'admin-job-failed');
  await dialog.getByRole('button', { name: 'Set to failed' }).click();
  await row(labelled).getByText('Failed', { exact: true }).waitFor();
  const job = await good<Job>((await admin()).get(`/admin/v2/job/${labelled.id}/`));
  expect(job.failure?.kind).toBe('admin');
});

test('accounting: user and time range, table, CSV, charts with a table for screen readers', async () => {
  const anna = await person({ name: 'anna' });
  await anna.ended(await ranJob(anna));
  await anna.ended(await ranJob(anna));
  const page = await asAdmin('/v2/admin/accounting');
  const asked = countRequests(
    page,
    (request) => request.url().endsWith('/admin/v2/accounting') && request.postData()!.includes('user_id'),
  );
  await choose(page, 'User', anna.email);
  const records = page.getByRole('region', { name: 'Records' });
  await expect.poll(() => records.getByRole('row').count()).toBe(3);
  const byUser = page.getByRole('region', { name: 'By user' });
  await expect.poll(() => byUser.getByRole('row').nth(1).textContent()).toMatch(/anna.*4/s);
  const byDay = page.getByRole('table', { name: 'Tasks and new images by day' });
  expect(await byDay.getByRole('row').count()).toBe(2);
  await page.getByRole('button', { name: 'By week' }).click();
  await page.getByRole('table', { name: 'Tasks and new images by week' }).waitFor();
  await looksWell(page, 'accounting');
  // all records for the charts, once for this choice
  expect(asked()).toBe(1);
  const csv = await savedText(page, () => page.getByRole('button', { name: 'CSV of all matches' }).click());
  expect(csv.text.trim().split('\r\n')).toHaveLength(3);
  expect(csv.text).toContain(anna.email);

  await page.getByLabel('Until, day').fill('2020-01-01');
  await page.getByText('No record matches these filters.').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect.poll(() => records.getByRole('row').count()).toBeGreaterThan(3);
  // there is no cluster here, so nothing about Slurm
  expect(await page.getByRole('tab').count()).toBe(0);
});
