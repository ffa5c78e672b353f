/** The job-submission test: it waits for the job, reports, and cleans up. */
import { expect, test } from 'vitest';

import type { Project } from '@service/contract';

import { good, looksWell, person } from './site.ts';

test('waits for the job and reports; Open workflow shows the echo task; Remove deletes the project', async () => {
  const anna = await person({ name: 'anna' });
  const projects = () => good<Project[]>(anna.client.get('/api/v2/project/'));
  const page = await anna.open('/healthcheck');
  await looksWell(page, 'healthcheck');

  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText('Jobs get through.').waitFor({ timeout: 60_000 });
  await looksWell(page, 'healthcheck-done');
  expect(await projects()).toHaveLength(1);

  await page.getByRole('link', { name: 'Open workflow' }).click();
  await page.waitForURL(/\/v2\/projects\/\d+\/workflows\/\d+\?dataset=\d+$/);
  await page.getByText('__TEST_ECHO_TASK__').first().waitFor();

  const second = await anna.open('/healthcheck');
  await second.getByRole('button', { name: 'Test', exact: true }).click();
  await second.getByRole('button', { name: 'Remove test project' }).click({ timeout: 60_000 });
  await second.getByText('Test project deleted.').waitFor();
  expect(await projects()).toHaveLength(1);
});

test('a step that is refused is named, and what was made stays', async () => {
  const ben = await person({ name: 'ben' });
  const page = await ben.open('/healthcheck');
  await page.route('**/job/submit**', (route) =>
    route.fulfill({ status: 422, contentType: 'application/json', body: '{"detail": "The queue is closed."}' }),
  );
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'Submit a job' });
  await alert.waitFor();
  expect(await alert.textContent()).toContain('The queue is closed.');
  expect(await alert.textContent()).toMatch(/The project test_\d+ is kept/);
  await looksWell(page, 'healthcheck-failed');
  expect(await page.getByRole('link', { name: 'Open workflow' }).count()).toBe(1);
});

test('a job that fails shows its log', async () => {
  const eva = await person({ name: 'eva' });
  // the test task is the reader's own where they have one, so it can be one that fails
  await eva.client.post('/api/v2/task/?private=true', {
    name: '__TEST_ECHO_TASK__',
    type: 'converter_non_parallel',
    command_non_parallel: 'false',
    version: '9.9.9',
  });
  const page = await eva.open('/healthcheck');
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.getByText('The test job failed.').waitFor({ timeout: 60_000 });
  await page.getByRole('region', { name: 'Log of the test job' }).first().waitFor();
  await page.getByRole('link', { name: 'Open workflow' }).waitFor();
});

test('guests are told why they cannot', async () => {
  const guest = await person({ name: 'guest', patch: { is_guest: true } });
  const page = await guest.open('/healthcheck');
  await page.getByText('Guest accounts are read-only').waitFor();
  expect(await page.getByRole('button', { name: 'Test', exact: true }).count()).toBe(0);
});
