/** Jobs as people see them: lists, the page of a job, its logs. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Project } from '@service/contract';

import { good, goTo, looksWell, type Person, person } from './site.ts';

const IMAGES = ['plate.zarr/A/01/0', 'plate.zarr/A/02/0', 'plate.zarr/A/03/0'];

const share = async (owner: Person, project: Project, guest: Person, permissions: 'r' | 'rwx') => {
  await good(
    owner.client.post(`/api/v2/project/${project.id}/guest/?email=${encodeURIComponent(guest.email)}`, { permissions }),
  );
  await good(guest.client.post(`/api/v2/project/${project.id}/access/accept/`));
};

const jobRow = (page: Page, id: number) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name: `Job ${id}`, exact: true }) });

async function choose(page: Page, filter: string, option: string | RegExp) {
  await page.getByRole('button', { name: new RegExp(`^${filter}: `) }).click();
  await page.getByRole('option', { name: option }).click();
}

async function savedText(page: Page, press: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), press()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') };
}

test('failed task: short error, full log with collapsed part and warning lines marked, log of the failing image', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const dataset = await anna.dataset(project, 'Plate', IMAGES);
  const failing = `${dataset.zarr_dir}/${IMAGES[1]}`;
  const plan = {
    [failing]: { print: 'reading pixels\nUserWarning: 2 % are saturated', raise: 'no pixels in A02' },
    '*': { print: 'WARNING: lamp is old' },
  };
  const task = await anna.task({ name: 'Segment' });
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task, args_parallel: { plan } },
    { task, alias: 'Measure' },
  ]);
  const job = await anna.ended(await anna.submit(project, workflow, dataset));
  expect(job.status).toBe('failed');

  const page = await anna.open(`/v2/projects/${project.id}/jobs/${job.id}`);
  const cause = page.getByRole('alert');
  await expect.poll(() => cause.textContent()).toContain('1 image failed in Segment.');
  expect(await cause.textContent()).toContain('ValueError: no pixels in A02');

  // the error first, its way there on demand, then the log of the job
  const error = page.getByRole('region', { name: `Error of job ${job.id}` });
  expect(await error.getByRole('listitem').first().textContent()).toContain('JOB ERROR');
  expect(await error.getByText('ValueError: no pixels in A02', { exact: true }).isVisible()).toBe(true);
  expect(await error.getByText('reading pixels').count()).toBe(0);
  await error.getByRole('button', { name: /^Show \d+ lines, 1 warning among them$/ }).click();
  expect(await error.getByText('reading pixels').isVisible()).toBe(true);
  const ground = (text: string) =>
    error
      .getByRole('listitem')
      .filter({ hasText: text })
      .first()
      .evaluate((line) => getComputedStyle(line).backgroundColor);
  expect(await ground('UserWarning: 2 % are saturated')).not.toBe(await ground('reading pixels'));
  await expect
    .poll(() => page.getByRole('region', { name: `Log of job ${job.id}` }).textContent())
    .toContain('Start of workflow "Nuclei"');
  await looksWell(page, 'job-failed');

  // what failed, and its log
  await page.getByRole('tab', { name: 'Failed 1' }).click();
  const units = page.getByRole('list', { name: 'Failed units' });
  await units.getByRole('button', { name: /A\/02\/0/ }).waitFor();
  expect(await units.getByRole('button').count()).toBe(1);
  const log = page.getByRole('region', { name: `Log of ${IMAGES[1]}` });
  await log.getByText('ValueError: no pixels in A02', { exact: true }).waitFor();
  const search = page.getByRole('textbox', { name: `Search in Log of ${IMAGES[1]}` });
  await search.fill('saturated');
  await log.getByText('UserWarning: 2 % are').waitFor();
  await page.getByText('1 of 1').waitFor();
  const saved = await savedText(page, () => page.getByRole('button', { name: 'Download the log' }).click());
  expect(saved.text).toContain('reading pixels');
  await looksWell(page, 'job-failed-units');

  // what went well with warnings
  await page.getByRole('tab', { name: /^Warnings/ }).click();
  const warned = page.getByRole('list', { name: 'Units with warnings' });
  await warned.getByRole('button', { name: /A\/03\/0/ }).click();
  await page
    .getByRole('region', { name: `Log of ${IMAGES[2]}` })
    .getByText('WARNING: lamp is old')
    .waitFor();

  // the arguments that it ran with, and the task that did not run
  await page.getByRole('tab', { name: 'Arguments' }).click();
  await page.getByRole('region', { name: 'Arguments of Segment' }).getByText('no pixels in A02').waitFor();
  const measure = page.getByRole('row').filter({ hasText: 'Measure' });
  expect(await measure.getByRole('img', { name: 'Not run' }).count()).toBe(1);
  const exported = await savedText(page, () => page.getByRole('button', { name: 'Download the workflow' }).click());
  expect((JSON.parse(exported.text) as { task_list: unknown[] }).task_list).toHaveLength(2);
  expect(exported.name).toBe(`job_${job.id}_workflow.json`);
  const zip = await savedText(page, () => page.getByRole('button', { name: 'Download all logs' }).click());
  expect(zip.name).toBe(`${job.id}_logs.zip`);
});

test('equal errors are one row with a count, which opens; the keys walk what is there', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const names = ['01', '02', '03', '04', '05', '06', '07'].map((column) => `plate.zarr/A/${column}/0`);
  const dataset = await anna.dataset(project, 'Plate (1, 2) [größer]', names);
  const plan = { '*': { raise: 'no channel' }, [`${dataset.zarr_dir}/${names[3]}`]: { exit: 3 } };
  const task = await anna.task({ name: 'Segment' });
  const workflow = await anna.workflow(project, 'Nuclei', [{ task, args_parallel: { plan } }]);
  const job = await anna.ended(await anna.submit(project, workflow, dataset));

  const page = await anna.open(`/v2/projects/${project.id}/jobs/${job.id}?tab=failed`);
  const units = page.getByRole('list', { name: 'Failed units' });
  const equal = units.getByRole('button', { name: '6 × ValueError: no channel' });
  await equal.waitFor();
  expect(await units.getByRole('button').count()).toBe(2);
  await page.getByRole('region', { name: `Log of ${names[0]}` }).waitFor();
  expect(await equal.getAttribute('aria-expanded')).toBe('false');
  await looksWell(page, 'job-equal-errors');

  await equal.click();
  expect(await equal.getAttribute('aria-expanded')).toBe('true');
  expect(await units.getByRole('button').count()).toBe(8);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.getByRole('region', { name: `Log of ${names[1]}` }).waitFor();
  await page.waitForURL(/unit=\d/);
  await page.reload();
  await units.getByRole('button', { name: /A\/02\/0/ }).waitFor();
  await equal.click();
  expect(await units.getByRole('button').count()).toBe(2);
  await units.getByRole('button', { name: /A\/04\/0/ }).click();
  await page.getByRole('region', { name: `Log of ${names[3]}` }).waitFor();
});

test('failed units are asked for once at a time, and what could not be read is forgotten when it can', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  // the last one keeps the job running: how it ended is explained with the same units
  const images = [...IMAGES, 'plate.zarr/A/04/0'];
  const dataset = await anna.dataset(project, 'Plate', images);
  const gate = (image: string) => join(anna.folder, `go-${image.replaceAll('/', '-')}`);
  const plan = Object.fromEntries(
    images.map((image, at) => [
      `${dataset.zarr_dir}/${image}`,
      { ...(at > 0 ? { wait_for: gate(image) } : {}), raise: `no pixels ${at}` },
    ]),
  );
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task: await anna.task({ name: 'Segment' }), args_parallel: { plan } },
  ]);
  const job = await anna.submit(project, workflow, dataset);
  const page = await anna.open('/v2/jobs');
  const held: Route[] = [];
  let asked = 0;
  await page.route('**/run/*/units?*', (route) => {
    asked += 1;
    held.push(route);
  });
  await goTo(page, `/v2/projects/${project.id}/jobs/${job.id}`);
  await page.getByRole('tab', { name: 'Failed 1' }).click();
  await expect.poll(() => asked).toBe(1);
  for (const [at, image] of IMAGES.slice(1).entries()) {
    writeFileSync(gate(image), '');
    await page.getByRole('tab', { name: `Failed ${at + 2}` }).waitFor();
  }
  expect(asked).toBe(1);

  // the next one has all of them; what the first one said does not stay
  await held.shift()!.fulfill({ status: 409, json: { detail: 'Busy right now.' } });
  await expect.poll(() => asked).toBe(2);
  await page.getByText('Busy right now.').waitFor();
  await held.shift()!.continue();
  const units = page.getByRole('list', { name: 'Failed units' });
  await expect.poll(() => units.getByRole('button').count()).toBe(3);
  expect(await page.getByText('Busy right now.').count()).toBe(0);
  expect(asked).toBe(2);

  // the same of a log
  await page.route('**/unit-log?*', (route) => route.fulfill({ status: 409, json: { detail: 'No log right now.' } }));
  await units.getByRole('button', { name: /A\/02\/0/ }).click();
  await page.getByText('No log right now.').waitFor();
  await page.unroute('**/unit-log?*');
  await units.getByRole('button', { name: /A\/03\/0/ }).click();
  await page.getByRole('region', { name: `Log of ${IMAGES[2]}` }).waitFor();
  expect(await page.getByText('No log right now.').count()).toBe(0);
  writeFileSync(gate(images[3]!), '');
  await anna.ended(job);
});

test('jobs of several users in a shared project: filters by project, workflow, dataset, user and status', async () => {
  const [anna, ben] = [await person({ name: 'anna' }), await person({ name: 'ben' })];
  const project = await anna.project();
  await share(anna, project, ben, 'rwx');
  const [one, two] = [
    await anna.dataset(project, 'Plate one', IMAGES.slice(0, 1)),
    await anna.dataset(project, 'Plate two', IMAGES.slice(0, 1)),
  ];
  const broken = { plan: { '*': { exit: 3 } } };
  const task = await ben.task();
  const nuclei = await anna.workflow(project, 'Nuclei', [{ task: await anna.task() }]);
  const workflow = await ben.workflow(project, 'Cells', [{ task }]);
  const failing = await ben.workflow(project, 'Broken', [{ task, args_parallel: broken }]);
  const hers = await anna.ended(await anna.submit(project, nuclei, one));
  const his = await ben.ended(await ben.submit(project, workflow, two));
  const also = await ben.ended(await ben.submit(project, workflow, one));
  const bad = await ben.ended(await ben.submit(project, failing, two));
  const own = await ben.project();
  const elsewhere = await ben.ended(
    await ben.submit(
      own,
      await ben.workflow(own, 'Alone', [{ task: await ben.task() }]),
      await ben.dataset(own, 'Mine', IMAGES.slice(0, 1)),
    ),
  );

  // ben sees the shared project and his own
  const page = await ben.open('/v2/jobs');
  const shown = async () => (await page.getByRole('link', { name: /^Job \d+$/ }).allTextContents()).map(Number);
  await expect.poll(shown).toEqual([elsewhere.id, bad.id, also.id, his.id, hers.id]);
  await looksWell(page, 'jobs');
  await choose(page, 'Project', new RegExp(project.name));
  await expect.poll(shown).toEqual([bad.id, also.id, his.id, hers.id]);
  await choose(page, 'User', anna.email);
  await expect.poll(shown).toEqual([hers.id]);
  await choose(page, 'User', ben.email);
  await expect.poll(shown).toEqual([bad.id, also.id, his.id]);
  await choose(page, 'Workflow', 'Cells');
  await expect.poll(shown).toEqual([also.id, his.id]);
  await choose(page, 'Dataset', 'Plate one');
  await expect.poll(shown).toEqual([also.id]);
  await choose(page, 'Status', 'Failed or stopped');
  await page.getByRole('heading', { name: 'No job matches these filters' }).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect.poll(shown).toEqual([elsewhere.id, bad.id, also.id, his.id, hers.id]);
  await choose(page, 'Status', 'Failed or stopped');
  await expect.poll(shown).toEqual([bad.id]);

  // kept in the address, so that it is found again
  await page.getByRole('link', { name: `Job ${bad.id}` }).click();
  await page.getByRole('heading', { name: `Job ${bad.id}` }).waitFor();
  await page.goBack();
  await expect.poll(shown).toEqual([bad.id]);

  // pages come from the service
  await goTo(page, '/v2/jobs?page_size=10&page=2');
  await page.getByText('5 jobs match, on earlier pages.').waitFor();

  // the list of one workflow, narrowed to one dataset by its address
  await goTo(page, `/v2/projects/${project.id}/workflows/${workflow.id}/jobs?dataset=${two.id}`);
  await expect.poll(shown).toEqual([his.id]);
  await choose(page, 'Dataset', 'Plate one');
  await expect.poll(shown).toEqual([also.id]);
  await looksWell(page, 'workflow-jobs');

  // what is deleted keeps its name
  await good(anna.client.delete(`/api/v2/project/${project.id}/dataset/${one.id}/`));
  await goTo(page, `/v2/jobs?user=${anna.email}`);
  expect(await jobRow(page, hers.id).textContent()).toMatch(/Plate one\s*deleted/);
});

test('a job while it runs: progress in the list, live log, timeline by keyboard, stop with its cost', async () => {
  const [anna, ben] = [await person({ name: 'anna' }), await person({ name: 'ben' })];
  const project = await anna.project();
  await share(anna, project, ben, 'r');
  const dataset = await anna.dataset(project, 'Plate', IMAGES);
  const go = join(anna.folder, 'go');
  const plan = { [`${dataset.zarr_dir}/${IMAGES[0]}`]: {}, '*': { wait_for: go } };
  const task = await anna.task({ name: 'Segment' });
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task, args_parallel: { plan } },
    { task, alias: 'Measure' },
  ]);
  const job = await anna.submit(project, workflow, dataset);

  const list = await anna.open('/v2/jobs');
  await jobRow(list, job.id).getByText('Segment, task 1 of 2').waitFor();
  await jobRow(list, job.id).getByText('1 / 3').waitFor();

  const page = await anna.open(`/v2/projects/${project.id}/jobs/${job.id}`);
  await page.getByRole('status').filter({ hasText: 'Running' }).waitFor();
  await page.getByText('Following').waitFor();
  await page
    .getByRole('region', { name: `Log of job ${job.id}` })
    .getByText(/Submit task 1/)
    .waitFor();
  const lane = page.getByRole('region', { name: 'Timeline' }).getByRole('row').filter({ hasText: 'Segment' });
  await expect.poll(() => lane.textContent()).toMatch(/1\s*\/ 3/);
  const moment = page.getByRole('slider', { name: 'Moment of the job' });
  await moment.focus();
  await page.keyboard.press('Home');
  expect(await moment.getAttribute('aria-valuetext')).toMatch(/\d+ running, \d+ finished/);
  await looksWell(page, 'job-running');

  // a reader sees it and stops nothing
  const reader = await ben.open(`/v2/projects/${project.id}/jobs/${job.id}`);
  await reader.getByRole('status').filter({ hasText: 'Running' }).waitFor();
  expect(await reader.getByRole('button', { name: 'Stop' }).count()).toBe(0);
  await goTo(reader, '/v2/jobs');
  await jobRow(reader, job.id).waitFor();
  expect(await reader.getByRole('button', { name: /^Stop job/ }).count()).toBe(0);

  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Stop job ${job.id}?` });
  await dialog.getByText(/running images? (is|are) lost, \d will not start, 1 finished one stays\./).waitFor();
  await looksWell(page, 'job-stop');
  await dialog.getByRole('button', { name: 'Keep running' }).click();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await dialog.getByRole('button', { name: 'Stop job' }).click();
  await page
    .getByRole('status')
    .filter({ hasText: /^Stopped by anna/ })
    .waitFor();
  await page.getByText('Finished results are kept.').waitFor();
  expect(await page.getByRole('button', { name: 'Stop', exact: true }).count()).toBe(0);
  expect(await page.getByRole('link', { name: 'Run again' }).getAttribute('href')).toContain(`dataset=${dataset.id}`);

  // both lists heard of it by themselves
  await jobRow(list, job.id).getByText('Stopped', { exact: true }).waitFor();
  await jobRow(reader, job.id).getByText('Stopped', { exact: true }).waitFor();
});

test('a list that gets no answer says so, tries again, and comes back', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const dataset = await anna.dataset(project, 'Plate', IMAGES.slice(0, 1));
  const go = join(anna.folder, 'go');
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task: await anna.task(), args_parallel: { plan: { '*': { wait_for: go } } } },
  ]);
  const job = await anna.submit(project, workflow, dataset);
  const page = await anna.open('/v2/jobs');
  await jobRow(page, job.id).waitFor();
  const busy = (route: Route) => route.fulfill({ status: 409, json: { detail: 'Busy right now.' } });
  await page.route('**/api/v2/job?*', busy);
  await page.getByText(/Not up to date since .* Busy right now\./).waitFor();
  await looksWell(page, 'jobs-lost');

  // a list in which nothing runs needs no news: what was lost is not said of it
  await page.unroute('**/api/v2/job?*');
  await choose(page, 'Status', 'Failed or stopped');
  await page.getByRole('heading', { name: 'No job matches these filters' }).waitFor();
  expect(await page.getByText(/Not up to date/).count()).toBe(0);
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await jobRow(page, job.id).waitFor();

  await page.route('**/api/v2/job?*', busy);
  await page.getByText(/Not up to date since .* Busy right now\./).waitFor();
  await page.unroute('**/api/v2/job?*');
  writeFileSync(go, '');
  await anna.ended(job);
  await page.getByRole('button', { name: 'Try now' }).click();
  await jobRow(page, job.id).getByText('Done', { exact: true }).waitFor();
  expect(await page.getByText(/Not up to date/).count()).toBe(0);
});

test('empty lists say what to do next', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/jobs');
  await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  await looksWell(page, 'jobs-empty');
  const project = await anna.project();
  const workflow = await anna.workflow(project, 'Nuclei', []);
  await goTo(page, `/v2/projects/${project.id}/workflows/${workflow.id}/jobs`);
  await page.getByRole('heading', { name: 'This workflow has not run yet' }).waitFor();
  expect(await page.getByRole('link', { name: 'Open workflow' }).count()).toBe(2);
});
