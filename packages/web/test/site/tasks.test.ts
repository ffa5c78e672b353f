/** Looking through tasks: filters, versions, documentation. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Task } from '@service/contract';

import { temporaryFolder } from '../../../server/test/support/file-end.ts';
import { admin, good, goTo, looksWell, type Person, person } from './site.ts';

const PYTHON = '/usr/bin/python3';

/** A private package in an environment that is there already. */
async function collected(owner: Person, label: string, version: string, tasks: object[], authors?: string) {
  const root = temporaryFolder('package');
  writeFileSync(join(root, 'run.py'), 'print("hello")\n');
  const manifest = {
    manifest_version: '2',
    has_args_schemas: false,
    task_list: tasks.map((task) => ({ executable_parallel: 'run.py', type: 'parallel', ...task })),
    ...(authors ? { authors } : {}),
  };
  const body = { python_interpreter: PYTHON, label, version, package_root: root, manifest };
  return good<Task[]>(owner.client.post('/api/v2/task/collect/custom/?private=true', body));
}

const SEGMENT = {
  name: 'Segment nuclei',
  category: 'Segmentation',
  modality: 'HCS',
  tags: ['cellpose', '3D'],
  input_types: { illumination_corrected: true },
  docs_info: 'Finds nuclei with **Cellpose**.\n\n- needs a `DAPI` channel\n\n<script>alert(1)</script>',
  docs_link: 'https://example.org/segment',
};

const count = (page: Page) => page.getByText(/^\d+ of \d+ tasks?$/).textContent();
const choose = async (page: Page, filter: string, option: string) => {
  await page.getByRole('button', { name: new RegExp(`^${filter}:`) }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
};

/** Packages with names that no other test has. */
async function shelf(owner: Person) {
  const mark = owner.email.split('.')[1]!.split('@')[0]!;
  const names = { cell: `cell-${mark}`, plate: `plate-${mark}` };
  const [older] = await collected(owner, names.cell, '0.8.1', [SEGMENT], 'M. Keller');
  await collected(
    owner,
    names.cell,
    '0.9.0',
    [SEGMENT, { name: 'Measure objects', category: 'Measurement', modality: 'HCS' }],
    'M. Keller',
  );
  await collected(owner, names.plate, '2.0.0', [
    { name: 'Convert plate', category: 'Conversion', modality: 'EM', tags: ['import'] },
  ]);
  await good((await admin()).post('/admin/v2/task/make-core/', [older!.id]));
  return { ...names, mark };
}

test('task filters: package, category, modality, tag, free text, core selector; row counts match', async () => {
  const anna = await person({ name: 'anna' });
  const { cell, mark } = await shelf(anna);
  const page = await anna.open('/v2/tasks');
  const search = page.getByRole('searchbox', { name: 'Search tasks' });
  await expect.poll(() => search.evaluate((input) => input === document.activeElement)).toBe(true);

  const of = (await count(page))!.split(' of ')[1];
  await search.fill(mark);
  await expect.poll(() => count(page)).toBe(`3 of ${of}`);
  await expect.poll(() => new URL(page.url()).searchParams.get('text')).toBe(mark);

  await choose(page, 'Package', cell);
  await expect.poll(() => count(page)).toBe(`2 of ${of}`);
  await choose(page, 'Category', 'Measurement');
  await expect.poll(() => count(page)).toBe(`1 of ${of}`);
  await choose(page, 'Modality', 'EM');
  await expect.poll(() => count(page)).toBe(`0 of ${of}`);
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect.poll(() => count(page)).toBe(`${of!.split(' ')[0]} of ${of}`);
  await expect.poll(() => new URL(page.url()).search).toBe('');

  await search.fill(mark);
  await choose(page, 'Tag', 'import');
  await expect.poll(() => count(page)).toBe(`1 of ${of}`);
  await page.getByRole('button', { name: 'Clear filters' }).first().click();

  // free text finds authors and keys of types too
  await search.fill('illumination_corrected');
  await expect.poll(() => page.getByRole('row').filter({ hasText: 'Segment nuclei' }).count()).toBeGreaterThan(0);
  await search.fill(mark);

  const version = page.getByRole('combobox', { name: 'Version of Segment nuclei' });
  await expect.poll(() => version.locator('option:checked').textContent()).toBe('0.9.0');
  await page.getByRole('button', { name: 'Prefer core' }).click();
  await expect.poll(() => version.locator('option:checked').textContent()).toBe('0.8.1 (core)');
  await page.getByRole('button', { name: 'Core only' }).click();
  await expect.poll(() => count(page)).toBe(`1 of ${of}`);

  // a filter in the address is there again after coming back
  await expect.poll(() => new URL(page.url()).searchParams.get('core')).toBe('only');
  await goTo(page, page.url());
  await expect.poll(() => count(page)).toBe(`1 of ${of}`);
  await looksWell(page, 'tasks');

  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect.poll(() => page.getByRole('button', { name: 'Show all' }).getAttribute('aria-pressed')).toBe('true');
  await expect.poll(() => count(page)).toBe(`${of!.split(' ')[0]} of ${of}`);
});

test('badges set the filter, documentation is text and not a page', async () => {
  const anna = await person({ name: 'anna' });
  const { mark } = await shelf(anna);
  const page = await anna.open(`/v2/tasks?text=${mark}`, { width: 1024 });
  await page.getByRole('button', { name: 'About Segment nuclei' }).click();
  await expect.poll(() => page.getByText('needs a DAPI channel').count()).toBe(1);
  await expect.poll(() => page.locator('strong', { hasText: 'Cellpose' }).count()).toBe(1);
  await expect.poll(() => page.getByText('<script>alert(1)</script>').count()).toBe(1);
  await looksWell(page, 'tasks-open');
  await page.getByRole('button', { name: 'Only category Conversion' }).click();
  await expect.poll(() => count(page)).toMatch(/^1 of/);
  await expect.poll(() => new URL(page.url()).searchParams.get('category')).toBe('Conversion');
  await page.getByRole('button', { name: 'Category: Conversion' }).click();
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await expect.poll(() => count(page)).toMatch(/^3 of/);
});

test('somebody without tasks is told where they come from', async () => {
  const client = await admin();
  const [resource] = await good<Record<string, unknown>[]>(client.get('/admin/v2/resource/'));
  const fields = Object.fromEntries(
    Object.entries(resource!).filter(([key]) => key !== 'id' && key !== 'timestamp_created'),
  );
  const mark = `${process.pid}-${Date.now()}`;
  const created = await good<{ id: number }>(client.post('/admin/v2/resource/', { ...fields, name: `Empty ${mark}` }));
  const profile = await good<{ id: number }>(
    client.post(`/admin/v2/resource/${created.id}/profile/`, {
      name: `Empty ${mark}`,
      resource_type: fields['type'],
    }),
  );
  const ben = await person({ name: 'ben', profile_id: profile.id });
  const page = await ben.open('/v2/tasks');
  await expect.poll(() => page.getByRole('heading', { name: 'No tasks yet' }).count()).toBe(1);
  await looksWell(page, 'tasks-empty');
  await page.getByRole('link', { name: 'Collect a package' }).click();
  await expect.poll(() => page.getByRole('heading', { name: 'Task packages' }).count()).toBe(1);
  await expect.poll(() => page.getByRole('heading', { name: 'No packages yet' }).count()).toBe(1);
});
