/**
 * The first hour with a real task package from the package index: collect it, import a plate, segment it with a wrong channel
 * name that the form corrects, and rerun the six images that were recorded with other names. Its installation takes minutes.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import type { Dataset, Job, Project } from '@service/contract';

import { drawPlate } from '../../../../tests/support/demo-plate.ts';
import { LONG } from '../../../server/test/support/long.ts';
import { countClicks } from './clicks.ts';
import { good, goTo, looksWell, openPage, PASSWORD, person } from './site.ts';

const PACKAGE = 'fractal-tasks-core';
const INSTALL_MS = 900_000;
const RUN_MS = 240_000;
const WELLS = 9;
const RENAMED = 6;
/** From the sign-in to the first images, to what the segmentation did, and to the end. These numbers only ever go down. */
const CLICKS = { imported: 16, segmented: 22, repaired: 29 };

/** The last six wells were recorded in another session, with another name for the same channel. */
function record(folder: string): void {
  for (const [at, image] of drawPlate(folder, { wells: WELLS, size: 128 }).entries()) {
    const file = join(image, '.zattrs');
    const attributes = JSON.parse(readFileSync(file, 'utf8'));
    for (const [number, channel] of attributes.omero.channels.entries()) {
      channel.wavelength_id = `A0${number + 1}_C0${number + 1}`;
      if (number === 0 && at >= WELLS - RENAMED) channel.label = 'DAPI';
    }
    writeFileSync(file, JSON.stringify(attributes));
  }
}

test.runIf(LONG)(
  `${PACKAGE}: a wrong channel name is corrected, six failed images run again without the others`,
  { timeout: INSTALL_MS + 4 * RUN_MS },
  async () => {
    const nina = await person({ name: 'nina' });
    const page = await openPage('/auth/login');
    const clicks = await countClicks(page);
    const button = (name: string | RegExp) =>
      page.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) });
    const dialog = page.getByRole('dialog');
    const panel = page.getByRole('region', { name: 'Selected task' });
    const run = page.getByRole('region', { name: 'Run', exact: true });
    const save = async () => {
      await button('Save').click();
      await expect.poll(() => button('Save').isDisabled()).toBe(true);
    };
    const add = async (task: string) => {
      await button('Add task').first().click();
      await dialog.getByRole('searchbox').fill(task);
      await dialog.getByRole('button', { name: `Add ${task}`, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await panel.getByRole('heading', { name: task }).waitFor();
    };
    const press = async (name: string | RegExp, confirm: string | RegExp) => {
      await run.getByRole('button', { name }).click();
      await dialog.getByRole('button', { name: confirm }).click();
      await dialog.waitFor({ state: 'detached' });
    };

    // sign in, collect
    await page.getByLabel('E-mail').fill(nina.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await button('Sign in').click();
    await page.getByRole('heading', { name: 'You have no projects yet' }).waitFor();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Tasks' }).click();
    await page.getByRole('navigation', { name: 'Pages about tasks' }).getByRole('link', { name: 'Packages' }).click();
    const form = page.getByRole('region', { name: 'Collect a package' });
    await form.getByLabel('Package', { exact: true }).fill(PACKAGE);
    await form.getByRole('radio', { name: 'Only me' }).check();
    await form.getByRole('button', { name: /^Collect/ }).click();
    const activities = page.getByRole('region', { name: 'Recent activities' });
    await activities.getByText(PACKAGE).first().waitFor();
    await looksWell(page, 'first-hour-real-collecting');
    await activities.getByText('Done').first().waitFor({ timeout: INSTALL_MS });

    // a project with a dataset, whose folder the microscope fills, and a workflow
    await goTo(page, '/v2/projects');
    await button('New project').first().click();
    await dialog.getByLabel('Name').fill('Infection screen');
    await dialog.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { name: 'Infection screen' }).waitFor();
    await button('New dataset').first().click();
    await dialog.getByLabel('Name').fill('Plate 1');
    await dialog.getByRole('button', { name: 'Create dataset' }).click();
    await page.getByRole('link', { name: 'Plate 1' }).waitFor();
    const [project] = await good<Project[]>(nina.client.get('/api/v2/project/'));
    const [dataset] = await good<Dataset[]>(nina.client.get(`/api/v2/project/${project!.id}/dataset/`));
    record(dataset!.zarr_dir);
    await button('New workflow').first().click();
    await dialog.getByLabel('Name').fill('Nuclei');
    await dialog.getByRole('button', { name: 'Create workflow' }).click();
    await page.waitForURL(/\/workflows\/\d+/);

    // the plate is imported: the first result
    await add('Import OME-Zarr');
    await panel.getByRole('textbox', { name: /^Zarr name/i }).fill('demo.zarr');
    await save();
    await press('Run', 'Run');
    await run.getByText('Done', { exact: true }).waitFor({ timeout: RUN_MS });
    const imported = clicks();
    await looksWell(page, 'first-hour-real-imported');

    // a channel name with a typing error is corrected by what the images have
    await add('Threshold Segmentation');
    const channel = panel.getByRole('combobox', { name: 'Identifier' });
    await channel.fill('nucli');
    await panel.getByText('No channel “nucli” in this dataset.').waitFor();
    await looksWell(page, 'first-hour-real-channel');
    await button('Use nuclei').click();
    expect(await channel.inputValue()).toBe('nuclei');
    await save();
    await press(/^Continue from task 2$/, 'Run');
    await page.getByText(`${RENAMED} images failed in Threshold Segmentation`).waitFor({ timeout: RUN_MS });
    const segmented = clicks();
    await button('Show what failed').click();
    await page.getByRole('button', { name: new RegExp(`^${RENAMED} × `) }).waitFor();
    await looksWell(page, 'first-hour-real-failure');

    // all sessions have the same wavelengths
    await page.getByRole('tab', { name: 'Arguments' }).click();
    await panel.getByRole('combobox', { name: 'Mode' }).selectOption('wavelength_id');
    await channel.click();
    await panel.getByRole('option', { name: /^A01_C01/ }).click();
    await save();
    await press(/^Rerun 6 failed$/, /^Rerun 6 images$/);
    await run.getByText('Done', { exact: true }).waitFor({ timeout: RUN_MS });
    await looksWell(page, 'first-hour-real-done');
    expect({ imported, segmented, repaired: clicks() }).toEqual(CLICKS);

    // six of nine were done again, and no other
    const jobs = await good<Job[]>(nina.client.get('/api/v2/job/'));
    expect(jobs.map(({ status }) => status)).toEqual(['done', 'failed', 'done']);
    const timeline = await good<{ tasks: { num_units: number }[] }>(
      nina.client.get(`/api/v2/project/${project!.id}/job/${jobs[0]!.id}/timeline/`),
    );
    expect(timeline.tasks.map(({ num_units }) => num_units)).toEqual([RENAMED]);
  },
);
