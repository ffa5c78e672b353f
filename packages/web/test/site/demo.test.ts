import { expect, test } from 'vitest';

import type { Dataset, Job, Project, Workflow } from '@service/contract';

import { LONG } from '../../../server/test/support/long.ts';
import { good, looksWell, person } from './site.ts';

const INSTALL_MS = 180_000;

// measurements.test.ts has it made and run, too
test.runIf(LONG)(
  'somebody without projects gets a demo that runs, and the same one when interrupted',
  { timeout: INSTALL_MS + 60_000 },
  async () => {
    const anna = await person({ name: 'anna' });
    const page = await anna.open('/v2/projects');
    // goes away when the project has just been made
    await page.route('**/dataset', (route) => route.abort());
    await page.getByRole('button', { name: 'Try with the demo plate' }).click();
    await page.getByRole('alert').getByText('Can’t reach the server').waitFor({ timeout: INSTALL_MS });
    await looksWell(page, 'demo-interrupted');
    await page.getByRole('button', { name: 'Close' }).last().click();
    await page.unroute('**/dataset');

    await page.getByRole('button', { name: 'Finish the demo' }).click();
    await page.waitForURL(/\/v2\/projects\/\d+\/workflows\/\d+\?dataset=\d+$/, { timeout: INSTALL_MS });
    const projects = await good<Project[]>(anna.client.get('/api/v2/project/'));
    expect(projects.map(({ name }) => name)).toEqual(['Demo']);
    const path = `/api/v2/project/${projects[0]!.id}`;
    const workflows = await good<Workflow[]>(anna.client.get(`${path}/workflow/`));
    expect(workflows.map(({ name }) => name).sort()).toEqual(['Demo with a failure', 'Measure nuclei']);
    expect(await good<Dataset[]>(anna.client.get(`${path}/dataset/`))).toHaveLength(2);
    const jobs = await good<Job[]>(anna.client.get(`${path}/job/`));
    expect(jobs).toHaveLength(1);
    expect(page.url()).toContain(`/workflows/${jobs[0]!.workflow_id}?dataset=${jobs[0]!.dataset_id}`);
    expect((await anna.ended(jobs[0]!)).status).toBe('done');
  },
);

test('an installation that fails is shown with its log, and nothing is left behind', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/projects');
  const activity = {
    id: 999_999,
    pkg_name: 'demo-tasks',
    version: '0.1.0',
    action: 'collect',
    status: 'failed',
    steps: [],
    log: 'Step environment\nERROR: no space left on device',
  };
  await page.route('**/api/v2/task-group?**', (route) => route.fulfill({ json: [] }));
  await page.route('**/api/v2/task/collect/pip?**', (route) => route.fulfill({ status: 202, json: activity }));
  await page.getByRole('button', { name: 'Try with the demo plate' }).click();
  await page.getByText('The tasks could not be installed.').waitFor();
  await page.getByText('no space left on device').waitFor();
  await looksWell(page, 'demo-failed');
  expect(await good(anna.client.get('/api/v2/project/'))).toEqual([]);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
});

test.each([
  ['jobs', '/v2/jobs', 'No jobs yet'],
  ['datasets', '/v2/datasets', 'No datasets yet'],
])('an empty list of %s leads to the demo in one click', async (name, path, title) => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open(path);
  await page.getByRole('heading', { name: title }).waitFor();
  await looksWell(page, `empty-${name}`);
  // far enough to see that it begins
  await page.route('**/demo/workflow', (route) => route.abort());
  await page.getByRole('button', { name: 'Try with the demo plate' }).click();
  await page.getByRole('dialog', { name: 'The demo plate' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/v2/projects');
  expect(await good(anna.client.get('/api/v2/project/'))).toEqual([]);
  // opened again, the address alone begins nothing
  await page.reload();
  await page.getByRole('heading', { name: 'You have no projects yet' }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('somebody new is offered the demo beside a project of their own', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/projects');
  await page.getByText('The demo needs no images').waitFor();
  await looksWell(page, 'first-page');
});
