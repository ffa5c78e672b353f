/** Filters in the address, changed faster than pages follow. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { good, person } from './site.ts';

const queryOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

/** Keeps answers back until they are let go. */
async function held(page: Page, address: RegExp) {
  let letGo = () => {};
  const free = new Promise<void>((resolve) => (letGo = resolve));
  let count = 0;
  await page.route(address, async (route) => {
    count += 1;
    await free;
    // what nobody waits for any more cannot be answered
    await route.continue().catch(() => undefined);
  });
  return { letGo, count: () => count };
}

/** One after another, with nothing in between. */
async function atOnce(page: Page, button: Locator, field: Locator, text: string) {
  const [pressed, typed] = await Promise.all([button.elementHandle(), field.elementHandle()]);
  await page.evaluate(
    ({ pressed, typed, text }) => {
      (pressed as HTMLElement).click();
      (typed as HTMLInputElement).value = text;
      typed.dispatchEvent(new Event('input', { bubbles: true }));
    },
    { pressed, typed, text },
  );
}

test('what is typed right after Clear filters does not bring the old filters back', async () => {
  const anna = await person({ name: 'anna' });
  const task = await anna.task({ category: 'Measurement' });
  const page = await anna.open(`/v2/tasks?text=${encodeURIComponent(task.name)}&category=Measurement&core=prefer`);
  const about = page.getByRole('button', { name: `About ${task.name}` });
  const search = page.getByRole('searchbox', { name: 'Search tasks' });
  await about.waitFor();

  await atOnce(page, page.getByRole('button', { name: 'Clear filters' }).first(), search, 'nothing has this name');
  await expect.poll(() => queryOf(page)).toEqual({ text: 'nothing has this name' });
  expect(await search.inputValue()).toBe('nothing has this name');

  await atOnce(page, page.getByRole('button', { name: 'Prefer core' }), search, task.name);
  await expect.poll(() => queryOf(page)).toEqual({ text: task.name, core: 'prefer' });
  await about.waitFor();
});

test('several filters that are set while the list is on its way all stay', async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Neurite screen');
  await anna.dataset(project, 'Plate one');
  await anna.dataset(project, 'Controls');
  const page = await anna.open('/v2/datasets');
  const name = page.getByRole('searchbox', { name: 'Dataset name' });
  const lists = await held(page, /\/api\/v2\/dataset/);

  await name.pressSequentially('Pla');
  await expect.poll(lists.count).toBeGreaterThan(0);
  // the answer for these letters is on its way
  await name.pressSequentially('te');
  await page.getByRole('searchbox', { name: 'Project name' }).pressSequentially('neurite');
  await page.getByRole('checkbox', { name: 'Only my own projects' }).check();
  lists.letGo();

  await expect.poll(() => queryOf(page)).toEqual({ dataset: 'Plate', project: 'neurite', owned: 'true' });
  await expect.poll(() => page.getByRole('link', { name: 'Controls' }).count()).toBe(0);
  await page.getByRole('link', { name: 'Plate one' }).waitFor();
  expect(await name.inputValue()).toBe('Plate');
});

test('what is typed while the list is on its way is not lost, and Clear clears it', async () => {
  const anna = await person({ name: 'anna' });
  const workflow = await anna.workflow(await anna.project(), 'Nuclei', [{ task: await anna.task({ name: 'Label' }) }]);
  const templates = `/api/v2/workflow-template/?workflow_id=${workflow.id}`;
  await good(anna.client.post(templates, { name: 'Nuclei', version: 1 }));
  const page = await anna.open('/v2/templates?version=3');
  await page.getByRole('heading', { name: 'No template matches' }).waitFor();
  const search = page.getByRole('searchbox', { name: 'Search by name' });
  const lists = await held(page, /\/api\/v2\/workflow-template/);

  await search.pressSequentially('nuclei ');
  await expect.poll(lists.count).toBeGreaterThan(0);
  await search.pressSequentially('in 3D');
  lists.letGo();
  await expect.poll(() => queryOf(page)).toEqual({ version: '3', name: 'nuclei in 3D' });
  expect(await search.inputValue()).toBe('nuclei in 3D');

  await search.pressSequentially(', all');
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await page.getByRole('cell', { name: 'Nuclei', exact: true }).waitFor();
  expect(queryOf(page)).toEqual({});
  expect(await search.inputValue()).toBe('');
});
