/** The page of a dataset: its images, its plates, what tasks did with them. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';

import type { Dataset, ImagePage, Project } from '@service/contract';

import { good, goTo, looksWell, type Person, person } from './site.ts';

const addressOf = (project: Project, dataset: Dataset) => `/v2/projects/${project.id}/datasets/${dataset.id}`;

async function dataset(images: Record<string, unknown>[] = [], name = 'Plates') {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const made = await anna.dataset(project, name, images);
  return { anna, project, made, address: addressOf(project, made) };
}

const listed = (anna: Person, { project_id, id }: Dataset, body = {}) =>
  good<ImagePage>(anna.client.post(`/api/v2/project/${project_id}/dataset/${id}/images/query/`, body));

const rows = (page: Page) =>
  page
    .getByRole('region', { name: 'Images' })
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader') });
const paths = async (page: Page) =>
  (await rows(page).getByRole('rowheader').allTextContents()).map((text) => text.trim());
const shows = (page: Page, wanted: string[]) => expect.poll(() => paths(page)).toEqual(wanted);
const dialog = (page: Page) => page.getByRole('dialog');
const said = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();

async function choose(page: Page, filter: string, ...values: string[]) {
  const button = page.getByRole('button', { name: `Filter by ${filter}` });
  await button.click();
  for (const value of values) await page.getByRole('option', { name: value, exact: true }).click();
  await page.keyboard.press('Escape');
}

describe('a dataset', () => {
  test('is renamed in place, and exported as import takes it', async () => {
    const { anna, project, made, address } = await dataset(
      [{ zarr_url: 'a.zarr', attributes: { well: 'A01' } }],
      'First',
    );
    const page = await anna.open(address);
    await page.getByRole('button', { name: 'Rename this dataset' }).click();
    const name = page.getByRole('textbox', { name: 'Name of the dataset' });
    await name.fill('  ');
    await name.press('Enter');
    await said(page, 'A dataset needs a name.');
    await name.fill('Second');
    await name.press('Enter');
    await page.getByRole('heading', { name: /^Second/ }).waitFor();
    expect((await good<Dataset>(anna.client.get(`/api/v2/project/${project.id}/dataset/${made.id}/`))).name).toBe(
      'Second',
    );

    await page.getByRole('button', { name: 'More about this dataset' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'Export dataset' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toMatch(/^dataset-export-Second-\d+\.json$/);
    const content = JSON.parse(readFileSync(await file.path(), 'utf8')) as { name: string; images: unknown[] };
    expect(content).toMatchObject({ name: 'Second', zarr_dir: made.zarr_dir });
    expect(content.images).toHaveLength(1);
  });

  test('is deleted after it was said that files stay', async () => {
    const { anna, project, made, address } = await dataset();
    const page = await anna.open(address);
    await page.getByRole('button', { name: 'More about this dataset' }).click();
    await page.getByRole('menuitem', { name: 'Delete dataset' }).click();
    await dialog(page).getByText('Files on disk stay.').waitFor();
    await dialog(page).getByRole('button', { name: 'Delete dataset' }).click();
    await page.waitForURL(`**/v2/projects/${project.id}`);
    const { status } = await anna.client.get(`/api/v2/project/${project.id}/dataset/${made.id}/`);
    expect(status).toBe(404);
  });
});

describe('images', () => {
  test('are added with attributes of each kind and types; what is wrong is said before it is sent', async () => {
    const { anna, made, address } = await dataset();
    const page = await anna.open(address);
    await page.getByRole('heading', { name: 'No images yet' }).waitFor();
    await looksWell(page, 'dataset-empty');

    const add = async (path: string) => {
      await page.getByRole('button', { name: 'Add image' }).first().click();
      await dialog(page).getByLabel('Path').fill(path);
    };
    const send = () => dialog(page).getByRole('button', { name: 'Add image' }).click();
    const attribute = async (key: string, kind: string, value: string) => {
      await dialog(page).getByRole('button', { name: 'Attribute', exact: true }).click();
      const line = dialog(page).getByRole('group', { name: 'Attribute new attribute' });
      await line.getByLabel('Kind of').selectOption(kind);
      if (kind === 'True or false') await line.getByLabel('Value of').selectOption(value);
      else await line.getByLabel('Value of').fill(value);
      await line.getByLabel('Name of the attribute').fill(key);
    };

    await page.getByRole('button', { name: 'Add image' }).first().click();
    expect(await dialog(page).getByLabel('Path').inputValue()).toBe(`${made.zarr_dir}/`);
    await send();
    await said(page, 'Enter the path of the image.');
    await dialog(page).getByLabel('Path').fill('/somewhere/else.zarr');
    await send();
    await said(page, `The image must be inside ${made.zarr_dir}.`);
    await dialog(page).getByLabel('Path').fill(`${made.zarr_dir}/plain.zarr`);
    await send();
    await shows(page, ['plain.zarr']);

    await add(`${made.zarr_dir}/plain.zarr`);
    await send();
    await dialog(page).getByRole('alert').getByText('is in the dataset already').waitFor();

    await dialog(page).getByLabel('Path').fill(`${made.zarr_dir}/rich.zarr`);
    await attribute('treatment', 'Text', 'DMSO');
    await attribute('offset', 'Number', '12x');
    await attribute('treatment', 'True or false', 'true');
    await dialog(page).getByRole('button', { name: 'Type', exact: true }).click();
    await dialog(page).getByLabel('Name of the type').fill('is_3D');
    await send();
    await said(page, '12x is not a number.');
    await said(page, 'There is another attribute treatment.');
    await looksWell(page, 'dataset-add-image');
    const offset = dialog(page).getByRole('group', { name: 'Attribute offset' });
    await offset.getByLabel('Value of offset').fill('-3');
    await offset.getByLabel('Kind of offset').selectOption('Text');
    await offset.getByLabel('Kind of offset').selectOption('Number');
    expect(await offset.getByLabel('Value of offset').inputValue()).toBe('-3');
    await dialog(page).getByLabel('Name of the attribute').last().fill('kept');
    await send();
    await shows(page, ['plain.zarr', 'rich.zarr']);
    expect((await listed(anna, made)).items[1]).toMatchObject({
      attributes: { treatment: 'DMSO', offset: -3, kept: true },
      types: { is_3D: true },
    });
  });

  test('are filtered by each kind of value; False finds images without the type too', async () => {
    const { anna, address } = await dataset([
      { zarr_url: 'a', attributes: { name: 'x', cycle: 1, size: 1, kept: true }, types: { is_3D: true } },
      { zarr_url: 'b', attributes: { name: 'y', cycle: '1', size: 0.5, kept: false }, types: { is_3D: false } },
      { zarr_url: 'c', attributes: { name: 'z', cycle: 2 } },
    ]);
    const page = await anna.open(address);
    await shows(page, ['a', 'b', 'c']);
    await choose(page, 'name', 'x', 'z');
    await shows(page, ['a', 'c']);
    await page.getByRole('button', { name: 'Clear the filter name' }).click();
    await choose(page, 'cycle', '1 number');
    await shows(page, ['a']);
    await choose(page, 'cycle', '1 text');
    await shows(page, ['b']);
    await page.getByRole('button', { name: 'Clear the filter cycle' }).click();
    await choose(page, 'size', '1', '0.5');
    await shows(page, ['a', 'b']);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await choose(page, 'kept', 'false');
    await shows(page, ['b']);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByRole('button', { name: 'Filter by is_3D' }).click();
    await said(page, 'False also matches images that lack the type.');
    await page.getByRole('option', { name: 'False' }).click();
    await shows(page, ['b', 'c']);
    await said(page, '2 of 3 images');
    // the view can be sent: the filters are in the address
    const again = await anna.open(new URL(page.url()).pathname + new URL(page.url()).search);
    await shows(again, ['b', 'c']);
    await choose(again, 'name', 'x');
    await again.getByRole('heading', { name: 'No image matches these filters' }).waitFor();
    await again.getByRole('button', { name: 'Clear filters' }).first().click();
    await shows(again, ['a', 'b', 'c']);
  });

  test('are sorted, and shown in pages of ten; the last of a page removed leads back', async () => {
    const images = Array.from({ length: 11 }, (_, index) => ({
      zarr_url: `i${String(index).padStart(2, '0')}`,
      attributes: { nuclei: index },
    }));
    const { anna, made, address } = await dataset(images);
    const page = await anna.open(address);
    await expect.poll(() => rows(page).count()).toBe(10);
    await page.getByRole('button', { name: 'nuclei', exact: true }).click();
    await page.getByRole('button', { name: 'nuclei', exact: true }).click();
    await expect.poll(async () => (await paths(page))[0]).toBe('i10');
    await page.getByRole('button', { name: 'Page 2' }).click();
    await shows(page, ['i00']);
    await page.getByRole('button', { name: 'Remove i00' }).click();
    await dialog(page).getByText('Its files stay on disk.').waitFor();
    await dialog(page).getByRole('button', { name: 'Remove from dataset' }).click();
    await expect.poll(() => rows(page).count()).toBe(10);
    expect((await listed(anna, made)).total_count).toBe(10);
  });

  test('are edited one by one; the path stays', async () => {
    const { anna, made, address } = await dataset([
      { zarr_url: 'a', attributes: { size: 1, gone: 'x' }, types: { is_3D: true } },
    ]);
    const page = await anna.open(address);
    await page.getByRole('button', { name: 'Edit a', exact: true }).click();
    expect(await dialog(page).getByLabel('Path').isEditable()).toBe(false);
    await dialog(page).getByRole('button', { name: 'Remove gone' }).click();
    await dialog(page).getByLabel('Value of size').fill('0.5');
    await dialog(page).getByRole('checkbox').uncheck();
    await dialog(page).getByRole('button', { name: 'Save' }).click();
    await dialog(page).waitFor({ state: 'hidden' });
    expect((await listed(anna, made)).items[0]).toMatchObject({ attributes: { size: 0.5 }, types: { is_3D: false } });
  });

  test('are changed many at once, also those of other pages, and exported as a list', async () => {
    const images = Array.from({ length: 12 }, (_, index) => ({
      zarr_url: `i${String(index).padStart(2, '0')}`,
      attributes: { kind: index < 11 ? 'small' : 'large' },
    }));
    const { anna, made, address } = await dataset(images);
    const page = await anna.open(`${address}?a.kind=small`);
    await page.getByRole('checkbox', { name: 'Select i00' }).check();
    await page.getByRole('checkbox', { name: 'Select i03' }).check();
    await page.getByRole('button', { name: 'Set attribute' }).click();
    await dialog(page).getByLabel('Name of the attribute').fill('cycle');
    await dialog(page).getByLabel('Kind of cycle').selectOption('Number');
    await dialog(page).getByLabel('Value of cycle').fill('-1');
    await looksWell(page, 'dataset-set-attribute');
    await dialog(page).getByRole('button', { name: 'Set attribute' }).click();
    await said(page, '2 images changed.');
    expect(
      (await listed(anna, made, { attribute_filters: { cycle: [-1] } })).items.map(({ zarr_url }) => zarr_url),
    ).toEqual([`${made.zarr_dir}/i00`, `${made.zarr_dir}/i03`]);

    await page.getByRole('checkbox', { name: 'Select all of this page' }).check();
    await page.getByRole('button', { name: /Choose all 11 that match/ }).click();
    await page.getByRole('button', { name: 'Set type' }).click();
    await dialog(page).getByLabel('Type').fill('is_3D');
    await dialog(page).getByRole('button', { name: 'Set type' }).click();
    await said(page, '11 images changed.');
    expect((await listed(anna, made, { type_filters: { is_3D: true } })).total_count).toBe(11);

    await page.getByRole('button', { name: 'Export list' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: '11 images as CSV' }).click();
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines[0]).toBe('zarr_url,origin,cycle,kind,is_3D');
    expect(lines).toHaveLength(12);

    await page.getByRole('checkbox', { name: 'Select i00' }).check();
    await page.getByRole('button', { name: 'Remove from dataset' }).click();
    await dialog(page).getByText('Their files stay on disk.').waitFor();
    await dialog(page).getByRole('button', { name: 'Remove from dataset' }).click();
    await said(page, '1 image removed from the dataset.');
    expect((await listed(anna, made)).total_count).toBe(11);
  });

  test('are only read by who may only read', async () => {
    const { anna, project, address } = await dataset([{ zarr_url: 'a', attributes: { well: 'A01' } }]);
    const bob = await person({ name: 'bob' });
    await good(anna.client.post(`/api/v2/project/${project.id}/guest/?email=${bob.email}`, { permissions: 'r' }));
    await good(bob.client.post(`/api/v2/project/${project.id}/access/accept/`, {}));
    const page = await bob.open(address);
    await shows(page, ['a']);
    for (const name of ['Add image', 'Edit a', 'Remove a', 'Rename this dataset'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    expect(await page.getByRole('checkbox').count()).toBe(0);
    await page.getByRole('button', { name: 'More about this dataset' }).click();
    expect(await page.getByRole('menuitem').allTextContents()).toEqual([expect.stringContaining('Export dataset')]);
  });
});

const onPlate = (plate: string, well: string, more = {}) => ({
  zarr_url: `${plate}.zarr/${well[0]}/${well.slice(1)}/0`,
  attributes: { plate, well, ...more },
});

/** As if the operator had set up viewers: the page reads them from what the web server delivers. */
async function withViewers(page: Page) {
  const viewers = {
    PUBLIC_SERVICE_DATA_URL: 'https://data.example.org',
    PUBLIC_SERVICE_VIZARR_VIEWER_URL: 'https://vizarr.example.org',
    PUBLIC_SERVICE_VOLE_VIEWER_URL: 'https://vole.example.org',
    PUBLIC_SERVICE_FEATURE_EXPLORER_URL: 'https://explorer.example.org',
  };
  await page.route('**/v2/projects/*/datasets/*', async (route) => {
    if (route.request().resourceType() !== 'document') return route.continue();
    const response = await route.fetch();
    let body = await response.text();
    for (const [name, address] of Object.entries(viewers))
      body = body.replace(new RegExp(`${name}:(void 0|undefined|"[^"]*")`), `${name}:${JSON.stringify(address)}`);
    await route.fulfill({ response, body });
  });
}

describe('plates', () => {
  test('three over two pages: each has its map and its links; a plate whose last image goes is forgotten', async () => {
    const wells = ['A01', 'A02', 'B01', 'B02', 'B03'];
    const { anna, made, address } = await dataset([
      ...wells.map((well) => onPlate('P1', well)),
      ...wells.map((well) => onPlate('P2', well)),
      onPlate('P3', 'A01'),
    ]);
    const page = await anna.open('/v2/datasets');
    await withViewers(page);
    await goTo(page, address);
    await expect.poll(() => page.getByRole('option', { name: /^[AB]0\d, 1 image$/ }).count()).toBe(5);
    const plate = page.getByRole('combobox', { name: 'Plate', exact: true });
    for (const name of ['P1', 'P2', 'P3']) {
      await plate.selectOption(name);
      await page.getByRole('listbox', { name: `Wells of ${name}` }).waitFor();
      const folder = encodeURI(`${made.zarr_dir}/${name}.zarr`);
      const link = (words: string) => page.getByRole('region', { name: 'Wells' }).getByRole('link', { name: words });
      const ends = (words: string) => link(words).getAttribute('href');
      await expect
        .poll(() => ends('Open in the viewer'))
        .toBe(`https://vizarr.example.org/?source=https://data.example.org/files${folder}`);
      expect(await ends('Open in the feature explorer')).toBe(
        `https://explorer.example.org/?zarr_url=https://data.example.org/files${folder}&setup_mode=Plates`,
      );
    }
    await shows(page, ['P3.zarr/A/01/0']);
    expect(
      await rows(page)
        .getByRole('link', { name: /^Open in the volume viewer/ })
        .getAttribute('href'),
    ).toBe(
      `https://vole.example.org/viewer?url=https://data.example.org/files${encodeURI(made.zarr_dir)}/P3.zarr/A/01/0`,
    );
    await looksWell(page, 'dataset-plates');

    await page.getByRole('button', { name: 'Remove P3.zarr/A/01/0' }).click();
    await dialog(page).getByRole('button', { name: 'Remove from dataset' }).click();
    await page.getByRole('listbox', { name: 'Wells of P1' }).waitFor();
    await expect.poll(() => plate.getByRole('option').allTextContents()).toEqual(['P1', 'P2']);
    await said(page, '10 images');
  });

  test('are coloured by values: means and mixed wells are called so, and numbers are filtered by range', async () => {
    const { anna, address } = await dataset([
      onPlate('P1', 'A01', { dose: 1, drug: 'DMSO' }),
      { ...onPlate('P1', 'A01', { dose: 3, drug: 'Taxol' }), zarr_url: 'P1.zarr/A/01/1' },
      onPlate('P1', 'A02', { dose: 5, drug: 'DMSO' }),
      onPlate('P2', 'A01', { dose: 9, drug: 'Taxol' }),
      onPlate('P2', 'A02', { dose: 20 }),
      onPlate('P2', 'A03', { dose: 40 }),
    ]);
    const page = await anna.open(`${address}?by=drug`);
    const map = page.getByRole('region', { name: 'Plate map' });
    await map.getByRole('option', { name: 'A01, drug mixed (DMSO, Taxol), 2 images' }).waitFor();
    await map.getByText('mixed', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Colour by' }).selectOption('dose');
    await map.getByRole('option', { name: 'A01, dose mean 2 of 2 values, 2 images' }).waitFor();
    await map.getByText('mean of each well').waitFor();
    await map.getByText('2 5', { exact: true }).waitFor();
    await map.getByRole('checkbox', { name: 'Same scale on all plates' }).check();
    await map.getByText('1 40', { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Filter by dose' }).click();
    const range = page.getByRole('form', { name: 'Range of dose' });
    await range.getByRole('textbox', { name: 'From' }).fill('50');
    await range.getByRole('button', { name: 'Choose' }).click();
    await range.getByText('No image has a value in this range.').waitFor();
    await range.getByRole('textbox', { name: 'From' }).fill('3');
    await range.getByRole('textbox', { name: 'To' }).fill('9');
    await page.keyboard.press('Enter');
    await shows(page, ['P1.zarr/A/01/1', 'P1.zarr/A/02/0', 'P2.zarr/A/01/0']);
    await looksWell(page, 'dataset-range');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Filter by dose 3 to 9' }).waitFor();
  });

  test('of a path with too few folders says why it cannot be opened', async () => {
    const anna = await person({ name: 'anna', patch: { project_dirs: ['/plates'] } });
    const project = await anna.project();
    const images = [{ zarr_url: '/plates/0', attributes: { plate: 'P1', well: 'A01' } }];
    const body = { name: 'Flat', zarr_dir: '/plates', images };
    const made = await good<Dataset>(anna.client.post(`/api/v2/project/${project.id}/dataset/import/`, body));
    const page = await anna.open('/v2/datasets');
    await withViewers(page);
    await goTo(page, addressOf(project, made));
    await said(page, 'The plate cannot be opened');
    expect(await page.getByRole('link', { name: 'Open in the feature explorer' }).count()).toBe(0);
  });

  test('are walked with the keyboard: one tab stop, Space chooses, Shift with arrows chooses more', async () => {
    const { anna, address } = await dataset(
      ['A01', 'A02', 'B01', 'B02'].map((well) => onPlate('P1', well, { nuclei: well === 'A01' ? 5 : 9 })),
    );
    const page = await anna.open(address);
    const map = page.getByRole('listbox', { name: 'Wells of P1' });
    await map.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Space');
    await shows(page, ['P1.zarr/A/02/0']);
    expect(await map.getByRole('option', { name: /^A02/ }).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Shift+ArrowDown');
    await shows(page, ['P1.zarr/A/02/0', 'P1.zarr/B/02/0']);
    await page.keyboard.press('Shift+ArrowLeft');
    await expect.poll(() => rows(page).count()).toBe(4);
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).search).toBe('');
    // the same without the map
    await choose(page, 'well', 'B01');
    await shows(page, ['P1.zarr/B/01/0']);
    await expect.poll(() => map.getByRole('option', { name: /^B01/ }).getAttribute('aria-selected')).toBe('true');
    await page.getByRole('combobox', { name: 'Colour by' }).selectOption({ label: 'nuclei' });
    await map.getByRole('option', { name: 'A01, nuclei 5, 1 image' }).waitFor();
  });

  test('of many images are counted, not read one by one', async () => {
    const anna = await person({ name: 'anna' });
    const project = await anna.project();
    const zarr_dir = `${anna.folder}/big`;
    const images = Array.from({ length: 30_000 }, (_, at) => ({
      zarr_url: `${zarr_dir}/P1.zarr/${at}`,
      attributes: {
        plate: 'P1',
        well: `${'ABCDEFGH'[at % 8]}${String((Math.floor(at / 8) % 12) + 1).padStart(2, '0')}`,
      },
    }));
    const body = { name: 'Big', zarr_dir, images };
    const made = await good<Dataset>(anna.client.post(`/api/v2/project/${project.id}/dataset/import/`, body));
    const page = await anna.open('/v2/datasets');
    const sizes: number[] = [];
    page.on('response', (response) => {
      if (new URL(response.url()).pathname.startsWith('/api/'))
        void response.body().then(
          ({ length }) => sizes.push(length),
          () => undefined,
        );
    });
    await goTo(page, addressOf(project, made));
    await page.getByRole('option', { name: /^A01, 313 images$/ }).waitFor();
    await page.getByRole('option', { name: /^H12, 312 images$/ }).waitFor();
    await page
      .getByRole('region', { name: 'Wells' })
      .getByText(/^30.000$/)
      .waitFor();
    expect(sizes.length).toBeGreaterThan(0);
    expect(Math.max(...sizes)).toBeLessThan(100_000);
  });

  test('show what a task did: the failed well first, with its log', async () => {
    const { anna, project, made, address } = await dataset(['A01', 'A02', 'B01'].map((well) => onPlate('P1', well)));
    const page = await anna.open(address);
    await page.getByRole('option', { name: 'A01, 1 image' }).waitFor();
    expect(await page.getByText('Status of').count()).toBe(0);
    const task = await anna.task({ name: 'Segment nuclei' });
    const bad = `${made.zarr_dir}/P1.zarr/A/02/0`;
    const plan = { [bad]: { raise: 'chunk 0 is damaged' }, '*': {} };
    const workflow = await anna.workflow(project, 'Measure', [{ task, args_parallel: { plan } }]);
    await anna.ended(await anna.submit(project, workflow, made));

    await goTo(page, address);
    await page.getByRole('option', { name: 'A02, failed, 1 image' }).waitFor();
    await page.getByRole('option', { name: 'A01, done, 1 image' }).waitFor();
    await looksWell(page, 'dataset-status');
    await page.getByRole('button', { name: '1 failed' }).click();
    await shows(page, ['P1.zarr/A/02/0']);
    await page.getByRole('button', { name: 'Log of P1.zarr/A/02/0' }).click();
    await dialog(page).getByText('ValueError: chunk 0 is damaged').first().waitFor();
    await looksWell(page, 'dataset-image-log');
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Export list' }).click();
    const download = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: '1 image as CSV' }).click();
    expect(readFileSync(await (await download).path(), 'utf8')).toContain(`${bad},Task error,`);
    await page.getByRole('combobox', { name: 'Status of' }).selectOption('No task');
    await page.getByRole('option', { name: 'A02, 1 image' }).waitFor();

    // of several plates one stays until it is known which one the task has seen last
    const { zarr_url, attributes } = onPlate('P2', 'A01');
    const added = { zarr_url: `${made.zarr_dir}/${zarr_url}`, attributes };
    await good(anna.client.post(`/api/v2/project/${project.id}/dataset/${made.id}/images/`, added));
    await goTo(page, page.url());
    await page.getByRole('option', { name: 'A02, 1 image' }).waitFor();
    const groups = '**/images/groups?*';
    const released = Promise.withResolvers<void>();
    await page.route(groups, async (route) => {
      await released.promise;
      await route.continue();
    });
    const asked = page.waitForRequest(groups);
    await page.getByRole('combobox', { name: 'Status of' }).selectOption('Segment nuclei');
    await asked;
    const map = page.getByRole('region', { name: 'Plate map' });
    expect(await map.getByRole('option', { name: 'A02, 1 image' }).count()).toBe(1);
    expect(await page.getByRole('region', { name: 'Wells' }).count()).toBe(1);
    expect(await map.getAttribute('aria-busy')).toBe('true');
    released.resolve();
    await page.getByRole('option', { name: 'A02, failed, 1 image' }).waitFor();
    await expect.poll(() => map.getAttribute('aria-busy')).toBe('false');
  });
});
