/** Measurements, from the map of a plate to the cells behind it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';

import type { Dataset, Job, Project } from '@service/contract';

import { LONG } from '../../../server/test/support/long.ts';
import { writeCsv, writeParquet } from '../../../server/test/support/tables.ts';
import { good, goTo, looksWell, type Person, person } from './site.ts';

const INSTALL_MS = 180_000;
const EDGE = { left: 60, right: 14, top: 12, bottom: 42 };

/** Draws around a part of the plot, given in parts of its axes from the upper left. */
async function lasso(page: Page, corners: [number, number][], key?: 'Shift' | 'Alt'): Promise<void> {
  const plot = page.getByRole('region', { name: 'Objects' }).getByRole('img');
  await plot.scrollIntoViewIfNeeded();
  const box = (await plot.boundingBox())!;
  const at = ([x, y]: [number, number]): [number, number] => [
    box.x + EDGE.left + x * (box.width - EDGE.left - EDGE.right),
    box.y + EDGE.top + y * (box.height - EDGE.top - EDGE.bottom),
  ];
  if (key) await page.keyboard.down(key);
  await page.mouse.move(...at(corners[0]!));
  await page.mouse.down();
  for (const corner of [...corners.slice(1), corners[0]!]) await page.mouse.move(...at(corner), { steps: 4 });
  await page.mouse.up();
  if (key) await page.keyboard.up(key);
}

const selected = (page: Page): Locator => page.getByRole('region', { name: 'Selection' });
const selectedCount = async (page: Page): Promise<number> =>
  Number((await selected(page).getByRole('status').textContent())!.replace(/\D/g, ''));

/** What a click saves. */
async function saved(page: Page, click: () => Promise<void>): Promise<{ name: string; content: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), content: readFileSync(await download.path()) };
}

test(
  'the effect of the demo’s drug is found from the plate to the cells',
  { timeout: INSTALL_MS + 120_000 },
  async () => {
    const anna = await person({ name: 'anna' });
    const page = await anna.open('/v2/projects');
    const broken: string[] = [];
    page.on('console', (message) => message.text().includes('Content Security Policy') && broken.push(message.text()));
    await page.getByRole('button', { name: 'Try with the demo plate' }).click();
    await page.waitForURL(/\/v2\/projects\/\d+\/workflows\/\d+\?dataset=\d+$/, { timeout: INSTALL_MS });
    const [project] = await good<Project[]>(anna.client.get('/api/v2/project/'));
    const [job] = await good<Job[]>(anna.client.get(`/api/v2/project/${project!.id}/job/`));
    expect((await anna.ended(job!)).status).toBe('done');
    await goTo(page, `/v2/projects/${project!.id}/datasets/${job!.dataset_id}?a.plate=demo_mip.zarr`);

    // nuclei of the last column are brighter, which the plate shows without the plots
    const map = page.getByRole('listbox', { name: /^Median of Mean nuclei in the wells of demo_mip/ });
    await page.getByRole('button', { name: 'Measurement', exact: true }).click();
    await map.getByRole('option', { name: /^A03, [\d\s.]+, \d+ objects/ }).click();
    const strips = page.getByRole('region', { name: 'Measurements of these wells' });
    await strips
      .getByRole('img', { name: /in A03, .* to .* on the plate/ })
      .first()
      .waitFor();
    await looksWell(page, 'plate-measurement');
    await strips.getByRole('link', { name: 'Objects of A03' }).click();
    await page.waitForURL(/\/measurements\?.*a\.well=A03/);
    await page.getByRole('button', { name: 'Clear the filter well' }).click();

    await map.waitFor();
    const brightness = async (well: string) =>
      Number(
        /^\w+, ([\d\u202f.]+),/
          .exec((await map.getByRole('option', { name: new RegExp(`^${well},`) }).getAttribute('aria-label'))!)![1]!
          .replaceAll('\u202f', ''),
      );
    expect(await brightness('A03')).toBeGreaterThan(1.1 * (await brightness('A01')));
    const spread = page.getByRole('region', { name: 'Distribution' });
    await spread.getByRole('img', { name: /control, median .*; drug 50%, median .*; drug 100%, median/ }).waitFor();
    await looksWell(page, 'measurements-demo');

    // the bright and small ones are treated cells
    await lasso(page, [
      [0, 0],
      [0.42, 0],
      [0.42, 0.5],
      [0, 0.5],
    ]);
    await expect.poll(() => selectedCount(page)).toBeGreaterThan(3);
    await spread.getByRole('button', { name: 'Table' }).click();
    const control = spread.getByRole('row', { name: /^control/ });
    await expect.poll(async () => (await control.getByRole('cell').last().textContent())!.trim()).toBe('0.0 %');

    // their pictures
    const gallery = page.getByRole('group', { name: 'Pictures of selected objects' });
    await expect.poll(() => gallery.locator('canvas').count(), { timeout: 60_000 }).toBe(await selectedCount(page));
    expect(await gallery.getByText(/no object|no OME-Zarr/).count()).toBe(0);
    const brightest = await gallery.locator('canvas').evaluateAll((all) =>
      (all as HTMLCanvasElement[]).map((canvas) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        // the nucleus is blue
        return data.reduce((most, value, at) => (at % 4 === 2 ? Math.max(most, value) : most), 0);
      }),
    );
    for (const value of brightest) expect(value).toBeGreaterThan(120);
    await page.getByRole('region', { name: 'Plate heat map' }).getByRole('combobox').selectOption('share');
    await looksWell(page, 'measurements-selected');

    // a link shows a colleague the same
    const other = await anna.open(page.url());
    await expect.poll(() => selectedCount(other).catch(() => 0), { timeout: 60_000 }).toBe(await selectedCount(page));

    // files of what is selected, and of the plots
    const csv = await saved(page, () => selected(page).getByRole('button', { name: /^CSV/ }).click());
    expect(csv.name).toMatch(/-selection\.csv$/);
    expect(csv.content.toString().trimEnd().split('\n')).toHaveLength(1 + (await selectedCount(page)));
    for (const [region, format, start] of [
      ['Objects', 'SVG', '<svg'],
      ['Objects', 'PNG', '\u0089PNG'],
      ['Plate heat map', 'SVG', '<svg'],
    ] as const) {
      await page
        .getByRole('region', { name: region })
        .getByRole('button', { name: /^Save the/ })
        .click();
      const file = await saved(page, () => page.getByRole('menuitem', { name: `Save as ${format}` }).click());
      expect(file.content.toString('latin1').startsWith(start), `${region} ${format}`).toBe(true);
      expect(file.content.length).toBeGreaterThan(1000);
    }

    // and the cell in its image
    await selected(page).getByRole('link', { name: 'Open in viewer' }).click();
    await page.waitForURL(/\/view\?image=.*&mark=/);
    await page.locator('rect.inner').first().waitFor();
    // in the colours of the feature, with its row
    await page.getByRole('combobox', { name: 'Colour by' }).selectOption({ label: 'Mean nuclei' });
    const picture = (await page.locator('#picture').boundingBox())!;
    await page.mouse.move(picture.x + picture.width / 2, picture.y + picture.height / 2);
    await page.getByRole('region', { name: 'Values of this object' }).getByText('Mean nuclei').waitFor();
    await page.waitForURL(/labels=nuclei%2C.*by%253Amean_nuclei|by%3Amean_nuclei/);
    await looksWell(page, 'measurements-viewer');
    expect(broken).toEqual([]);
  },
);

/** Two wells with a hundred objects each, whose area says which well they are of. */
function writeTables(folder: string): void {
  for (const [at, well] of ['01', '02'].entries()) {
    const lines = Array.from({ length: 100 }, (_, row) => `${row + 1},${100 * (at + 1) + row / 2},${row}`);
    writeCsv(join(folder, `P.zarr/A/${well}/0`), ['label,area_um2,mean_dapi', ...lines].join('\n'));
  }
}

async function plate(anna: Person, wells: string[]): Promise<{ dataset: Dataset; path: string }> {
  const dataset = await anna.dataset(
    await anna.project(),
    'Plate',
    wells.map((well) => ({ zarr_url: `P.zarr/A/${well}/0`, attributes: { plate: 'P', well: `A${well}` } })),
  );
  return { dataset, path: `/v2/projects/${dataset.project_id}/datasets/${dataset.id}/measurements` };
}

test('what is wrong with some tables is named, and the rest is shown', async () => {
  const anna = await person({ name: 'anna' });
  const { dataset, path } = await plate(anna, ['01', '02', '03', '04', '05']);
  writeTables(dataset.zarr_dir);
  // without a table, damaged, with other columns and words among numbers
  mkdirSync(join(dataset.zarr_dir, 'P.zarr/A/03/0'), { recursive: true });
  writeFileSync(join(dataset.zarr_dir, 'P.zarr/A/03/0/.zattrs'), '{}');
  writeParquet(join(dataset.zarr_dir, 'P.zarr/A/04/0'), [{ name: 'label', data: [1] }]);
  writeFileSync(join(dataset.zarr_dir, 'P.zarr/A/04/0/tables/nuclei/table.parquet'), 'cut off');
  writeCsv(join(dataset.zarr_dir, 'P.zarr/A/05/0'), 'label,area_um2\n1,NaN\n2,');
  const page = await anna.open(path);
  await page.getByText(/1 image without this table, 1 table that can’t be read/).waitFor();
  await page.getByText('Everything else is shown').click();
  await page.getByText('P.zarr/A/04/0, nuclei').waitFor();
  const map = page.getByRole('listbox', { name: /wells of P/ });
  await map.getByRole('option', { name: 'A01, 49.5, 100 objects' }).waitFor();
  await map.getByRole('option', { name: 'A05, not measured, 2 objects, 2 values missing' }).waitFor();
  await map.getByRole('option', { name: 'A03, no such table' }).waitFor();
  await map.getByRole('option', { name: 'A04, its table can’t be read' }).waitFor();
  await looksWell(page, 'measurements-problems');

  // the line of the plate says the same in short, and leads here; a service that was busy is asked again
  let refusals = 0;
  await page.route('**/tables/**', (asked) =>
    refusals++ < 2 ? asked.fulfill({ status: 503, json: { detail: 'The service is busy.' } }) : asked.continue(),
  );
  await goTo(page, path.replace('/measurements', ''));
  const quality = page.getByRole('region', { name: 'Quality' });
  await quality.getByText('5 wells, 202 objects').waitFor();
  expect(refusals).toBeGreaterThan(2);
  await quality.getByRole('link', { name: '2 wells not measured' }).click();
  await page.waitForURL(/\/measurements\?.*plate=P/);
});

test('two runs stand beside each other, well by well and object by object', async () => {
  const anna = await person({ name: 'anna' });
  const { dataset, path } = await plate(anna, ['01', '02']);
  writeTables(dataset.zarr_dir);
  // the same objects but one, 5 brighter in the second well
  for (const [at, well] of ['01', '02'].entries()) {
    const lines = Array.from({ length: 99 }, (_, row) => `${row + 1},${100 * (at + 1) + row / 2},${row + 5 * at}`);
    const text = ['label,area_um2,mean_dapi', ...lines].join('\n');
    writeCsv(join(dataset.zarr_dir, `P.zarr/A/${well}/0`), text, { name: 'again', names: ['nuclei', 'again'] });
  }
  const page = await anna.open(`${path}?table=again`);
  await page.getByRole('button', { name: /^Compare with/ }).click();
  await page.getByRole('option', { name: 'nuclei', exact: true }).click();
  const map = page.getByRole('listbox', { name: /^Difference of Mean dapi in the wells of P/ });
  await map.getByRole('option', { name: 'A02, 4.5, 99 objects' }).waitFor();
  await map.getByRole('option', { name: 'A01, \u22120.5, 99 objects' }).waitFor();
  const objects = page.getByRole('region', { name: 'Objects' });
  for (const words of ['198 in both tables', '0 only in this one', '2 only in the other'])
    await objects.getByText(words).waitFor();
  await page.getByRole('button', { name: 'Violin' }).click();
  await looksWell(page, 'measurements-two-runs');
});

test('a dataset without tables says what would make them; an unknown one says so', async () => {
  const anna = await person({ name: 'anna' });
  const { dataset, path } = await plate(anna, ['01']);
  mkdirSync(join(dataset.zarr_dir, 'P.zarr/A/01/0'), { recursive: true });
  writeFileSync(join(dataset.zarr_dir, 'P.zarr/A/01/0/.zattrs'), '{}');
  const page = await anna.open(path);
  await page.getByRole('heading', { name: 'No measurements' }).waitFor();
  await looksWell(page, 'measurements-none');
});

test('everything can be chosen, filtered and selected without a pointer, on a telephone too', async () => {
  const anna = await person({ name: 'anna' });
  const { dataset, path } = await plate(anna, ['01', '02']);
  writeTables(dataset.zarr_dir);
  const page = await anna.open(path, { width: 390, height: 844 });
  const objects = page.getByRole('region', { name: 'Objects' });
  await objects.getByText('200 of 200 drawn').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);

  // by numbers: the second half of the first well
  await objects.getByRole('button', { name: 'Select by numbers' }).click();
  await objects.getByRole('textbox', { name: 'Mean dapi from' }).fill('50');
  await objects.getByRole('textbox', { name: 'Area, µm² to' }).fill('199');
  await page.keyboard.press('Enter');
  await expect.poll(() => selectedCount(page)).toBe(50);
  await looksWell(page, 'measurements-telephone');

  // one well is kept by keys; what is selected is counted in it
  await page.getByRole('listbox', { name: /wells of P/ }).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press(' ');
  await objects.getByText('100 of 100 drawn').waitFor();
  await expect.poll(() => selectedCount(page)).toBe(0);
  await selected(page).getByText('No object here.').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => selectedCount(page)).toBe(50);

  // a range is asked of the service, an axis may be logarithmic, and all of it is in the address
  await page.getByRole('button', { name: 'Value', exact: true }).click();
  const form = page.getByRole('form', { name: 'Filter by value' });
  await form.getByRole('combobox').selectOption('area_um2');
  await form.getByRole('textbox', { name: 'From' }).fill('200');
  await form.getByRole('button', { name: 'Add' }).click();
  await objects.getByText('100 of 100 drawn').waitFor();
  await objects.getByRole('checkbox', { name: 'x log' }).check();
  await page.waitForURL(
    (url) => url.searchParams.get('range') === 'area_um2,200,' && url.searchParams.get('log') === 'x',
  );
  await page.reload();
  await objects.getByText('100 of 100 drawn').waitFor();
});

test('hundreds of thousands of objects are drawn, and a lasso answers at once', { timeout: 240_000 }, async () => {
  const [wells, each] = [50, LONG ? 10_000 : 2_000];
  const anna = await person({ name: 'anna' });
  const names = Array.from({ length: wells }, (_, at) => `${String(at + 1).padStart(2, '0')}`);
  const { dataset, path } = await plate(anna, names);
  for (const [at, well] of names.entries()) {
    const numbers = (value: (row: number) => number) => Float64Array.from({ length: each }, (_, row) => value(row));
    writeParquet(join(dataset.zarr_dir, `P.zarr/A/${well}/0`), [
      { name: 'label', data: Int32Array.from({ length: each }, (_, row) => row + 1), type: 'INT32' },
      { name: 'area', data: numbers((row) => (row * 37 + at * 11) % 1000), type: 'DOUBLE' },
      { name: 'mean_dapi', data: numbers((row) => (row * 53 + at * 7) % 997), type: 'DOUBLE' },
    ]);
  }
  const begun = Date.now();
  const page = await anna.open(path);
  const objects = page.getByRole('region', { name: 'Objects' });
  await objects
    .getByText(LONG ? '500\u202f000 of 500\u202f000 drawn' : '100\u202f000 of 100\u202f000 drawn')
    .waitFor({ timeout: 120_000 });
  const first = Date.now() - begun;
  await page.evaluate(() => {
    const status = document.querySelector('[aria-label="Selection"] [role=status]')!;
    const times = { up: 0, told: 0 };
    Object.assign(window, { times });
    addEventListener('pointerup', () => (times.up = performance.now()), { capture: true });
    new MutationObserver(() => (times.told ||= performance.now())).observe(status, {
      subtree: true,
      characterData: true,
      childList: true,
    });
  });
  await lasso(page, [
    [0.1, 0.1],
    [0.6, 0.1],
    [0.7, 0.6],
    [0.2, 0.7],
  ]);
  await expect.poll(() => selectedCount(page), { timeout: 60_000 }).toBeGreaterThan((wells * each) / 10);
  const { up, told, asked } = await page.evaluate(() => {
    const { times } = window as unknown as { times: { up: number; told: number } };
    const within = ({ startTime }: PerformanceEntry) => startTime >= times.up && startTime <= times.told;
    return {
      ...times,
      asked: performance
        .getEntriesByType('resource')
        .filter(within)
        .map(({ name }) => name),
    };
  });
  console.log(`first picture after ${first} ms, lasso after ${Math.round(told - up)} ms`);
  expect(told - up).toBeGreaterThan(0);
  // the page counts what it has drawn: it asks nobody, and takes little of the time that the first picture took
  expect(asked).toEqual([]);
  expect((told - up) / first).toBeLessThan(0.25);
  await looksWell(page, 'measurements-many');

  // a file of so many objects is as long as the selection
  const csv = await saved(page, () => selected(page).getByRole('button', { name: /^CSV/ }).click());
  expect(csv.content.toString().trimEnd().split('\n')).toHaveLength(1 + (await selectedCount(page)));
});
