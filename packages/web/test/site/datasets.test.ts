/** The datasets of all projects. */
import { expect, test } from 'vitest';

import { good, looksWell, type Person, person } from './site.ts';

const names = async (page: Awaited<ReturnType<Person['open']>>) => {
  const rows = await page.getByRole('row').all();
  const cells = await Promise.all(rows.slice(1).map((row) => row.getByRole('cell').allTextContents()));
  return cells.map((row) => `${row[1]!.trim()}: ${row[5]!.trim()}`).sort();
};

test('a list of nothing says what to do', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/datasets');
  await page.getByRole('heading', { name: 'No datasets yet' }).waitFor();
  await looksWell(page, 'datasets-empty');
  expect(await page.getByRole('link', { name: 'Open projects' }).getAttribute('href')).toBe('/v2/projects');
});

test('owner and guest find theirs, by any part of a name, and see how many images there are', async () => {
  const anna = await person({ name: 'anna' });
  const bob = await person({ name: 'bob' });
  const screen = await anna.project('Neurite screen');
  await anna.dataset(screen, 'Plate One', ['a', 'b', 'c']);
  await anna.dataset(screen, 'Controls', ['a']);
  await anna.dataset(await anna.project('Other'), 'Plate Two');
  await good(anna.client.post(`/api/v2/project/${screen.id}/guest/?email=${bob.email}`, { permissions: 'r' }));
  await good(bob.client.post(`/api/v2/project/${screen.id}/access/accept/`, {}));
  await bob.dataset(await bob.project('Own'), 'Mine', ['x', 'y']);

  const page = await anna.open('/v2/datasets');
  await expect.poll(() => names(page)).toEqual(['Controls: 1', 'Plate One: 3', 'Plate Two: 0']);
  await looksWell(page, 'datasets');
  await page.getByRole('searchbox', { name: 'Dataset name' }).fill('PLATE');
  await expect.poll(() => names(page)).toEqual(['Plate One: 3', 'Plate Two: 0']);
  await page.getByRole('searchbox', { name: 'Project name' }).fill('neuRITE');
  await expect.poll(() => names(page)).toEqual(['Plate One: 3']);
  expect(new URL(page.url()).search).toBe('?dataset=PLATE&project=neuRITE');
  await page.getByRole('searchbox', { name: 'Project name' }).fill('nothing like it');
  await page.getByRole('heading', { name: 'No dataset matches these filters' }).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await expect.poll(() => names(page)).toHaveLength(3);
  await page.getByRole('button', { name: 'Star Controls' }).click();
  await expect
    .poll(() => page.getByRole('button', { name: 'Star Controls' }).getAttribute('aria-pressed'))
    .toBe('true');

  const guest = await bob.open('/v2/datasets');
  await expect.poll(() => names(guest)).toEqual(['Controls: 1', 'Mine: 2', 'Plate One: 3']);
  expect(await guest.getByRole('button', { name: 'Star Plate One' }).count()).toBe(0);
  await guest.getByRole('checkbox', { name: 'Only my own projects' }).check();
  await expect.poll(() => names(guest)).toEqual(['Mine: 2']);
  await guest.getByRole('link', { name: 'Mine' }).click();
  await guest.getByRole('heading', { name: /^Mine/ }).waitFor();
});
