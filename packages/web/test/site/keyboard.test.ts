/** Every page with the keyboard alone: each action is reached, the focus is seen, nothing holds it. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Resource, Task, TaskGroup } from '@service/contract';

import { LONG, oneIn } from '../../../server/test/support/long.ts';
import { tabTo, walkByTab } from './keyboard.ts';
import { admin, asAdmin, good, looksWell, openPage, type Person, person } from './site.ts';

const ROUTES = join(import.meta.dirname, '../../src/routes');
const PLACE = '/v2/projects/[project_id]';
/** A page of its own for each folder with a +page.svelte. */
const pages = readdirSync(ROUTES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('+page.svelte'))
  .map((file) => `/${dirname(file)}`.replace('/.', '/'))
  .sort();

/** No other test looks at these with axe. */
const LOOKED_AT_HERE = new Set([
  '/help/minimal/[...path]',
  '/v2/admin/groups/[group_id]/edit',
  '/v2/admin/impersonate',
  '/v2/admin/import',
  '/v2/admin/resources/[resource_id]/profiles',
  '/v2/admin/resources/[resource_id]/profiles/[profile_id]',
  '/v2/admin/resources/[resource_id]/profiles/[profile_id]/edit',
  '/v2/admin/resources/create',
  '/v2/admin/users/[user_id]/edit',
]);

/** Pages are lists and forms of the same parts: by Tab one of each kind, and all of them in long runs. */
const OF_EACH_KIND = new Set([
  '/auth/login',
  '/profile',
  '/v2/admin/jobs',
  '/v2/admin/resources/create',
  '/v2/projects',
  `${PLACE}/datasets/[dataset_id]`,
  `${PLACE}/datasets/[dataset_id]/view`,
  `${PLACE}/jobs/[job_id]`,
  `${PLACE}/workflows/[workflow_id]`,
]);
const isWalked = (address: string) => LONG || OF_EACH_KIND.has(address);

interface Place {
  anna: Person;
  ids: Record<string, string>;
}

/** Something on every page: a job that failed, a template, a guest. */
async function prepare(): Promise<Place> {
  const anna = await person({ name: 'anna' });
  const project = await anna.project('Keys alone');
  const images = ['A01', 'A02', 'B01'].map((well) => ({
    zarr_url: `p.zarr/${well}`,
    attributes: { plate: 'P1', well },
    types: { is_3D: true },
  }));
  const dataset = await anna.dataset(project, 'Plate', images);
  const task: Task = await anna.task({
    name: 'Segment',
    schema: {
      type: 'object',
      properties: { zarr_url: { type: 'string' }, diameter: { type: 'number', title: 'Diameter' } },
    },
  });
  const workflow = await anna.workflow(project, 'Nuclei', [
    { task, args_parallel: { plan: { [`${dataset.zarr_dir}/p.zarr/A02`]: { raise: 'no cells' } } } },
    { task },
  ]);
  const job = await anna.ended(await anna.submit(project, workflow, dataset));
  await good(anna.client.post(`/api/v2/workflow-template/?workflow_id=${workflow.id}`, { name: 'Nuclei', version: 1 }));
  const client = await admin();
  const [resource] = await good<Resource[]>(client.get('/admin/v2/resource/'));
  const [profile] = await good<{ id: number }[]>(client.get('/admin/v2/profile/'));
  const [group] = await good<{ id: number }[]>(client.get('/auth/group/'));
  const [taskGroup] = await good<TaskGroup[]>(anna.client.get('/api/v2/task-group/?only_owner=true'));
  const ids = {
    project_id: project.id,
    dataset_id: dataset.id,
    workflow_id: workflow.id,
    job_id: job.id,
    user_id: anna.id,
    group_id: group!.id,
    resource_id: resource!.id,
    profile_id: profile!.id,
    task_group_id: taskGroup?.id ?? 0,
    '...path': '',
  };
  return { anna, ids: Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, String(id)])) };
}

let place: Promise<Place> | undefined;
const prepared = () => (place ??= prepare());

async function open(address: string): Promise<Page> {
  const { anna, ids } = await prepared();
  const path = address.replace(/\[([^\]]+)\]/g, (_, name: string) => ids[name]!);
  if (address === '/auth/login') return openPage(path);
  // everybody that other tests made is a long way, and so is what they did
  const email = encodeURIComponent(anna.email);
  if (address === '/v2/admin/users') return asAdmin(`${path}?email=${email}`);
  if (address === '/v2/admin/jobs') return asAdmin(`${path}?job_user_email=${email}`);
  return address.startsWith('/v2/admin') ? asAdmin(path) : anna.open(path);
}

async function openLoaded(address: string): Promise<Page> {
  const page = await open(address);
  const waiting = page.getByRole('status').filter({ hasText: /^Loading/ });
  await expect.poll(() => waiting.count()).toBe(0);
  return page;
}

test('pages of each kind are among those there are', () => {
  expect(pages).toEqual(expect.arrayContaining([...OF_EACH_KIND, ...LOOKED_AT_HERE]));
});

test.each(pages.filter(isWalked))('%s by Tab', async (address) => {
  const { stops, missed, unmarked } = await walkByTab(await openLoaded(address));
  expect({ missed, unmarked }).toEqual({ missed: [], unmarked: [] });
  // the guide in a frame has nothing to press but its links
  expect(stops.length).toBeGreaterThan(address.startsWith('/help/minimal') ? -1 : 1);
});

test.each([...LOOKED_AT_HERE])('%s looks well', async (address) => {
  const page = await openLoaded(address);
  await looksWell(page, `page${address.replace(/[[\].]/g, '').replaceAll('/', '-')}`);
});

/** Pressed with Enter, a dialog opens and has the focus; Escape closes it and gives the focus back. */
const DIALOGS: [address: string, button: string | RegExp][] = [
  ['/v2/projects', 'New project'],
  [PLACE, 'New dataset'],
  [PLACE, 'New workflow'],
  [`${PLACE}/workflows/[workflow_id]`, 'Add task'],
  [`${PLACE}/workflows/[workflow_id]`, 'Reorder'],
  [`${PLACE}/workflows/[workflow_id]`, 'Save as template'],
  [`${PLACE}/workflows/[workflow_id]`, /^Rerun 1 failed/],
  [`${PLACE}/datasets/[dataset_id]`, 'Add image'],
  ['/v2/templates', /^Import/],
  ['/profile', 'New token'],
];

test.each(oneIn(2, DIALOGS))('%s: %s by Enter, back by Escape', async (address, button) => {
  const page = await open(address);
  await tabTo(page, button);
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  await expect.poll(() => dialog.evaluate((one) => one.contains(document.activeElement))).toBe(true);
  // Tab stays in it
  for (let at = 0; at < 30; at++) {
    await page.keyboard.press('Tab');
    const outside = await dialog.evaluate((one) => {
      const focused = document.activeElement;
      return focused !== document.body && !one.contains(focused);
    });
    expect(outside).toBe(false);
  }
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const name = () => page.evaluate(() => (document.activeElement?.textContent ?? '').trim().replace(/\s+/g, ' '));
  if (typeof button === 'string') await expect.poll(name).toBe(button);
  else await expect.poll(name).toMatch(button);
});

test('a menu, tabs and a list by arrow keys', async () => {
  const page = await open(`${PLACE}/workflows/[workflow_id]`);
  const focused = () => page.evaluate(() => (document.activeElement?.textContent ?? '').trim());
  await tabTo(page, /^More about the workflow|^More/);
  await page.keyboard.press('Enter');
  const items = page.getByRole('menuitem');
  await items.first().waitFor();
  const names = (await items.allTextContents()).map((text) => text.trim());
  await expect.poll(focused).toBe(names[0]);
  await page.keyboard.press('ArrowDown');
  await expect.poll(focused).toBe(names[1]);
  await page.keyboard.press('Escape');
  await expect.poll(() => items.count()).toBe(0);

  await tabTo(page, /^Arguments/);
  await page.keyboard.press('ArrowRight');
  await expect.poll(focused).toMatch(/^Images/);
  await expect.poll(() => page.getByRole('tab', { name: /^Images/ }).getAttribute('aria-selected')).toBe('true');
});
