/** The first hour of somebody new: from signing in to a result, with a failure on the way. */
import { expect, test } from 'vitest';

import type { Job } from '@service/contract';

import { countClicks } from './clicks.ts';
import { good, goTo, looksWell, openPage, PASSWORD, person, web } from './site.ts';

const INSTALL_MS = 180_000;
/** From the sign-in to what the first job did, and to the result after one repair. These numbers only ever go down. */
const CLICKS = { first: 20, repaired: 26 };

test(
  'sign in, collect, set up, run, see a failure, fix it, continue, look',
  { timeout: INSTALL_MS + 120_000 },
  async () => {
    const nina = await person({ name: 'nina' });
    const page = await openPage('/auth/login');
    const clicks = await countClicks(page);
    const button = (name: string | RegExp) =>
      page.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) });
    const dialog = page.getByRole('dialog');
    const panel = page.getByRole('region', { name: 'Selected task' });

    // sign in
    await page.getByLabel('E-mail').fill(nina.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await button('Sign in').click();
    await page.getByRole('heading', { name: 'You have no projects yet' }).waitFor();

    // collect the demo package, which the web server hands out
    const wheel = await page.request.get(`${web}/demo/package`);
    const fileName = /filename="(.+)"/.exec(wheel.headers()['content-disposition']!)![1]!;
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('navigation', { name: 'Pages about tasks' }).getByRole('link', { name: 'Packages' }).click();
    await page.getByRole('radio', { name: /heel/ }).check({ force: true });
    await page
      .getByRole('button', { name: /^Wheel file/ })
      .setInputFiles({ name: fileName, mimeType: 'application/zip', buffer: await wheel.body() });
    await page.getByRole('radio', { name: 'Only me' }).check();
    await page
      .getByRole('region', { name: 'Collect a package' })
      .getByRole('button', { name: /^Collect/ })
      .click();
    const activities = page.getByRole('region', { name: 'Recent activities' });
    await activities.getByText('demo-tasks').first().waitFor();
    await looksWell(page, 'first-hour-collecting');
    await activities.getByText('Done').first().waitFor({ timeout: INSTALL_MS });

    // a project with a dataset and a workflow
    await goTo(page, '/v2/projects');
    await button('New project').first().click();
    await dialog.getByLabel('Name').fill('My first screen');
    await dialog.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'My first screen' }).waitFor();
    await button('New dataset').first().click();
    await dialog.getByLabel('Name').fill('Plate 1');
    await dialog.getByRole('button', { name: 'Create dataset' }).click();
    await page.getByRole('link', { name: 'Plate 1' }).waitFor();
    await button('New workflow').first().click();
    await dialog.getByLabel('Name').fill('Nuclei');
    await dialog.getByRole('button', { name: 'Create workflow' }).click();
    await page.waitForURL(/\/workflows\/\d+/);

    // tasks and their arguments
    for (const task of ['Make Demo Plate', 'Fail On Wells']) {
      await button('Add task').first().click();
      await dialog.getByRole('button', { name: `Add ${task}`, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    await panel.getByRole('heading', { name: 'Fail On Wells' }).waitFor();
    await panel.getByRole('button', { name: 'Add to Wells' }).click();
    await panel.getByRole('textbox', { name: /^Wells/ }).fill('A02');
    await button('Save').click();
    await expect.poll(() => button('Save').isDisabled()).toBe(true);
    await looksWell(page, 'first-hour-arguments');

    // run and watch
    const run = page.getByRole('region', { name: 'Run', exact: true });
    await run.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await run
      .getByText(/Running|Waiting/)
      .first()
      .waitFor();

    // a failure, its image and its log
    await page.getByText(/image failed in Fail On Wells|images failed in Fail On Wells/).waitFor({ timeout: 60_000 });
    const first = clicks();
    await button('Show what failed').click();
    await page
      .getByText(/ValueError|damaged/)
      .first()
      .waitFor();
    await looksWell(page, 'first-hour-failure');

    // fix and continue
    await page.getByRole('tab', { name: 'Arguments' }).click();
    await panel.getByRole('button', { name: /^Remove Wells/ }).click();
    await button('Save').click();
    await expect.poll(() => button('Save').isDisabled()).toBe(true);
    await run.getByRole('button', { name: /^Rerun \d+ failed$/ }).click();
    await dialog.getByRole('button', { name: /^Rerun \d+ images?$/ }).click();
    await dialog.waitFor({ state: 'detached' });
    await run.getByText('Done', { exact: true }).waitFor({ timeout: 60_000 });
    await looksWell(page, 'first-hour-done');

    // the result
    expect({ first, repaired: clicks() }).toEqual(CLICKS);
    const jobs = await good<Job[]>(nina.client.get('/api/v2/job/'));
    expect(jobs.map(({ status }) => status)).toEqual(['done', 'failed']);
    await page.getByRole('link', { name: /image/ }).first().click();
    await page.waitForURL(/\/datasets\/\d+/);
    await page
      .getByRole('cell', { name: /\.zarr\// })
      .first()
      .waitFor();
    await looksWell(page, 'first-hour-result');
  },
);
