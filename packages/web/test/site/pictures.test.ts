/** Pictures of images that only another image data service sees, read from their files through it. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { Dataset } from '@service/contract';

import { type DataService, makePlate, serveFiles, square, writeImage4, writeImage5 } from '../images/ome-zarr.ts';
import { START_MS, startWeb, type Web } from '../server/built-web.ts';
import { api, looksWell, openPage, type Person, person } from './site.ts';

let anna: Person;
let dataset: Dataset;
let elsewhere: string;
let data: DataService;
let web: Web;

const WELLS = ['A01', 'A02', 'B01', 'B02', 'C01', 'C02'];
const pathOf = (well: string) => `P1.zarr/${well[0]}/${well.slice(1)}/0`;

/** Two rows as a task writes them, and one of other makers: Zarr 3, and Zarr 2 packed by Blosc. */
beforeAll(async () => {
  anna = await person({ name: 'anna' });
  const project = await anna.project('Screen 7');
  dataset = await anna.dataset(
    project,
    'Plate',
    WELLS.map((well) => ({ zarr_url: pathOf(well), attributes: { plate: 'P1', well } })),
  );
  elsewhere = `${dataset.zarr_dir}-elsewhere`;
  mkdirSync(elsewhere, { recursive: true });
  makePlate(elsewhere, 'P1', 2, 2);
  await writeImage5(join(elsewhere, pathOf('C01')), [square(900), square(300)]);
  await writeImage4(join(elsewhere, pathOf('C02')), [square(900)]);
  rmSync(join(elsewhere, pathOf('B02')), { recursive: true });
  data = await serveFiles(elsewhere, { as: dataset.zarr_dir });
  web = await startWeb(api, { PUBLIC_SERVICE_DATA_URL: data.url });
}, START_MS);

afterAll(() => data?.close());

const open = () => openPage(`${web.url}/v2/projects/${dataset.project_id}/datasets/${dataset.id}`, anna.token);
const wells = (page: Page) => page.getByRole('region', { name: 'Wells' });
const choose = (page: Page, well: string) => page.getByRole('option', { name: new RegExp(`^${well},`) }).click();

/** The brightest pixel of a picture, and a text that is the same for the same picture. */
async function pixels(page: Page, name: string): Promise<{ brightest: number; text: string }> {
  const picture = page.getByRole('img', { name, exact: true }).locator('canvas');
  await picture.waitFor();
  return picture.evaluate((canvas: HTMLCanvasElement) => {
    const { data: values } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    return { brightest: Math.max(...values.filter((_, at) => at % 4 !== 3)), text: values.join() };
  });
}

test('a well is shown channel by channel, with its neighbours; each looks different', async () => {
  const page = await open();
  const broken: string[] = [];
  page.on('console', (message) => message.text().includes('Content Security Policy') && broken.push(message.text()));
  await choose(page, 'A01');
  const pictures = await Promise.all(
    ['DAPI of A01', 'Tubulin of A01', 'All channels of A01', 'Picture of A02'].map((name) => pixels(page, name)),
  );
  for (const { brightest } of pictures) expect(brightest).toBeGreaterThan(60);
  expect(new Set(pictures.map(({ text }) => text)).size).toBe(4);
  await wells(page).getByText('0.65 µm').waitFor();
  await looksWell(page, 'dataset-pictures');

  await page.getByRole('button', { name: 'Next well' }).click();
  const next = await pixels(page, 'All channels of A02');
  expect(next.text).not.toBe(pictures[2]!.text);
  await page.waitForURL((url) => url.searchParams.get('a.well') === 'A02');
  expect(broken).toEqual([]);
});

test('images of Zarr 3, and those that Blosc packed, are shown too; labels are drawn over them', async () => {
  const page = await open();
  await choose(page, 'C01');
  expect((await pixels(page, 'Stain 1 of C01')).brightest).toBe(255);
  await choose(page, 'C02');
  await wells(page).getByText('Image, label nuclei').waitFor();
  expect((await pixels(page, 'All channels of C02')).brightest).toBe(255);
});

test('where there is no image, a quiet place says so, and the others are shown', async () => {
  const page = await open();
  await choose(page, 'B02');
  await wells(page).getByText('No picture of B02', { exact: false }).first().waitFor();
  expect((await pixels(page, 'Picture of B01')).brightest).toBeGreaterThan(60);
  await looksWell(page, 'dataset-no-picture');
});

test('a data service that is open to all is read without the session', async () => {
  const openToAll = await serveFiles(elsewhere, { sessions: false, as: dataset.zarr_dir });
  const other = await startWeb(api, { PUBLIC_SERVICE_DATA_URL: openToAll.url });
  const path = `${other.url}/v2/projects/${dataset.project_id}/datasets/${dataset.id}?a.well=A01`;
  const page = await openPage(path, anna.token);
  expect((await pixels(page, 'All channels of A01')).brightest).toBeGreaterThan(60);
  openToAll.close();
});
