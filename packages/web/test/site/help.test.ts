/** The user guide, in the dialog of a screen and on pages of its own. */
import { expect, test } from 'vitest';

import { goTo, looksWell, openPage, person } from './site.ts';

test('the help icon opens the guide; Esc closes it on the first and on a followed page', async () => {
  const anna = await person({ name: 'anna' });
  const page = await anna.open('/v2/jobs');
  const icon = page.getByRole('button', { name: 'Help on this page' });
  const dialog = page.getByRole('dialog');

  await icon.click();
  await dialog.getByRole('heading', { name: 'The page of a job' }).waitFor();
  await looksWell(page, 'help-dialog');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await icon.evaluate((node) => node === document.activeElement)).toBe(true);

  await goTo(page, '/v2/projects');
  await icon.click();
  await dialog.getByRole('link', { name: 'Projects', exact: true }).click();
  await dialog.getByRole('heading', { name: 'Where the files are' }).waitFor();
  await dialog.getByRole('button', { name: 'Back' }).click();
  await dialog.getByRole('heading', { name: 'What you can do' }).waitFor();
  await dialog.getByRole('link', { name: 'Projects', exact: true }).click();
  await dialog.getByRole('heading', { name: 'Where the files are' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe('/v2/projects');
});

test('the guide can be read without signing in, with its own navigation', async () => {
  const page = await openPage('/help');
  const contents = page.getByRole('navigation', { name: 'User guide' });
  await contents.getByRole('link', { name: 'Your first hour' }).click();
  await page.getByRole('heading', { level: 1, name: 'Your first hour' }).waitFor();
  expect(await contents.getByRole('link', { name: 'Your first hour' }).getAttribute('aria-current')).toBe('page');
  await looksWell(page, 'guide');
  const manual = contents.getByRole('link', { name: 'Manual' });
  expect(await manual.getAttribute('href')).toBe('/manual/');
  // it is being built when nobody has wanted it before
  expect([200, 503]).toContain((await page.request.get('/manual/')).status());
});

test('the page for frames has no frame of its own', async () => {
  const page = await openPage('/help/minimal/reference/workflow/');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('The workflow page');
  expect(await page.getByRole('banner').count()).toBe(0);
});
