/** The viewer and the pictures of plates, from the dataset page to a cell and back. */
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';

import type { Dataset, Job, PlatePictureInfo, Project } from '@service/contract';

import { LONG } from '../../../server/test/support/long.ts';
import { makePlate, square, writeImage4 } from '../images/ome-zarr.ts';
import { startWeb } from '../server/built-web.ts';
import { api, good, looksWell, openPage, type Person, person } from './site.ts';

const INSTALL_MS = 180_000;
const WELLS = ['A01', 'A02', 'B01', 'B02'];
const pathOf = (well: string) => `P1.zarr/${well[0]}/${well.slice(1)}/0`;

let anna: Person;
let dataset: Dataset;
let base: string;

beforeAll(async () => {
  anna = await person({ name: 'anna' });
  const project = await anna.project('Screen 8');
  dataset = await anna.dataset(
    project,
    'Plate',
    WELLS.map((well) => ({ zarr_url: pathOf(well), attributes: { plate: 'P1', well } })),
  );
  makePlate(dataset.zarr_dir, 'P1', 2, 2);
  for (const well of ['B01', 'B02']) rmSync(join(dataset.zarr_dir, pathOf(well)), { recursive: true });
  await writeImage4(join(dataset.zarr_dir, pathOf('B01')), [square(900)]);
  base = `/v2/projects/${dataset.project_id}/datasets/${dataset.id}`;
});

/** Two wells with one channel and labels, whose files say nothing about contrast. */
async function smallPlate(name: string): Promise<Dataset> {
  const made = await anna.dataset(
    await anna.project(name),
    'Plate',
    ['A01', 'A02'].map((well) => ({ zarr_url: `P2.zarr/A/${well.slice(1)}/0`, attributes: { plate: 'P2', well } })),
  );
  for (const [well, value] of [
    ['01', 900],
    ['02', 600],
  ] as const)
    await writeImage4(join(made.zarr_dir, `P2.zarr/A/${well}/0`), [square(value)]);
  return made;
}

const viewOf = (well: string) => `${base}/view?image=${encodeURIComponent(`${dataset.zarr_dir}/${pathOf(well)}`)}`;
/** A key that is not held, however slow the machine is. */
const tap = (page: Page, key: string) =>
  page.locator('#picture').evaluate((picture, name) => {
    for (const type of ['keydown', 'keyup'])
      picture.dispatchEvent(new KeyboardEvent(type, { key: name, bubbles: true, cancelable: true }));
  }, key);
const words = async (page: Page) => (await page.locator('#picture').getAttribute('aria-label')) ?? '';

/** How many pixels of the picture are like a colour. What WebGL painted can only be seen from outside. */
async function countLike(page: Page, [red, green, blue]: number[], far = 24): Promise<number> {
  const shot = (await page.locator('#picture').screenshot()).toString('base64');
  return page.evaluate(
    async ({ text, colour, most }) => {
      const image = new Image();
      image.src = `data:image/png;base64,${text}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [image.width, image.height];
      const context = canvas.getContext('2d')!;
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      let count = 0;
      for (let at = 0; at < data.length; at += 4) {
        if (colour.every((part, index) => Math.abs(part! - data[at + index]!) <= most)) count++;
      }
      return count;
    },
    { text: shot, colour: [red, green, blue], most: far },
  );
}

/** What is drawn over pictures. */
const OUTLINE = [0xe6, 0xeb, 0xee];

interface Seen {
  /** Of the red light of all pixels but those of the colour. */
  brightest: number;
  /** Pixels of the colour. */
  count: number;
}

/** What is in a picture that is a plain canvas, beside a colour. */
const seenIn = (picture: Locator, but: number[]): Promise<Seen> =>
  picture.locator('canvas').evaluate((canvas: HTMLCanvasElement, colour) => {
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    const seen = { brightest: 0, count: 0 };
    for (let at = 0; at < data.length; at += 4) {
      const isLike = colour.every((part, index) => Math.abs(part - data[at + index]!) <= 2);
      if (isLike) seen.count++;
      else seen.brightest = Math.max(seen.brightest, data[at]!);
    }
    return seen;
  }, but);

const countIn = async (picture: Locator, colour: number[]) => (await seenIn(picture, colour)).count;
const brightest = async (picture: Locator, but: number[] = [-9]) => (await seenIn(picture, but)).brightest;

// a shorter way there is in measurements.test.ts
test.runIf(LONG)(
  'from the demo to the outline of a cell, without leaving the pages',
  { timeout: INSTALL_MS + 120_000 },
  async () => {
    const bob = await person({ name: 'bob' });
    const page = await bob.open('/v2/projects');
    const broken: string[] = [];
    page.on('console', (message) => message.text().includes('Content Security Policy') && broken.push(message.text()));
    await page.getByRole('button', { name: 'Try with the demo plate' }).click();
    await page.waitForURL(/\/v2\/projects\/\d+\/workflows\/\d+\?dataset=\d+$/, { timeout: INSTALL_MS });
    const [project] = await good<Project[]>(bob.client.get('/api/v2/project/'));
    const [job] = await good<Job[]>(bob.client.get(`/api/v2/project/${project!.id}/job/`));
    expect((await bob.ended(job!)).status).toBe('done');

    await page.goto(`/v2/projects/${project!.id}/datasets/${job!.dataset_id}?a.plate=demo_mip.zarr`);
    await page.getByRole('button', { name: 'Picture', pressed: true }).waitFor();
    await page.getByRole('button', { name: 'nuclei', exact: true }).waitFor();
    const well = page.getByRole('option', { name: /^A01,/ });
    await well.click();
    await page.getByRole('region', { name: 'Wells' }).getByRole('link', { name: 'Open in viewer' }).waitFor();
    await page.waitForTimeout(1500);
    await looksWell(page, 'demo-plate-picture');

    await well.dblclick();
    await page.waitForURL(/\/view\?image=/);
    await expect.poll(() => words(page)).toMatch(/nuclei from 0 to .* labels nuclei/);
    await expect.poll(() => countLike(page, OUTLINE), { timeout: 30_000 }).toBeGreaterThan(500);
    const outlined = await countLike(page, OUTLINE);
    const where = page.getByRole('complementary', { name: 'Where' });
    await where.getByRole('link', { name: 'Maximum Projection' }).waitFor();
    await where.getByText('task 3 of job').first().waitFor();
    await looksWell(page, 'viewer-demo');

    // without labels there are no outlines
    await page.getByRole('switch', { name: 'Show labels' }).click();
    await expect.poll(() => countLike(page, OUTLINE)).toBeLessThan(outlined / 2);
    expect(broken).toEqual([]);
  },
);

test('the view is in its address, and a link shows a colleague the same', async () => {
  const page = await anna.open(viewOf('A01'));
  await expect.poll(() => words(page)).toContain('DAPI');
  await tap(page, '2');
  await page.keyboard.press('+');
  await page.waitForURL((url) => url.searchParams.getAll('c').some((one) => one.startsWith('1,off')));
  await page.waitForURL((url) => url.searchParams.has('at'));
  // the address follows after a pause: it is complete when the last change is in it
  const nuclei = new URL(page.url()).searchParams.get('c');
  await page.getByRole('slider', { name: 'DAPI, full light' }).focus();
  await page.keyboard.press('PageDown');
  await page.waitForURL((url) => url.searchParams.get('c') !== nuclei);
  const [address, said] = [page.url(), await words(page)];
  expect(said).not.toContain('Tubulin');
  const other = await anna.open(address);
  await expect.poll(() => words(other)).toBe(said);

  // the next image of the dataset looks alike for her, without a link
  const third = await anna.open(viewOf('A02'));
  await expect.poll(() => words(third)).toContain('DAPI');
  await third.evaluate(
    ([key, value]) => localStorage.setItem(key, value),
    await page.evaluate(() => Object.entries(localStorage).find(([key]) => key.startsWith('viewer:'))!),
  );
  await third.goto(viewOf('A02'));
  await expect.poll(() => words(third)).toContain('DAPI');
  expect(await words(third)).not.toContain('Tubulin');
});

test.runIf(LONG)('two fingers zoom at what is between them, one moves it', async () => {
  const page = await anna.open(viewOf('A01'));
  await expect.poll(() => words(page)).toContain('DAPI');
  const { x, y, width, height } = (await page.locator('#picture').boundingBox())!;
  const [across, down] = [x + width / 2, y + height / 2];
  const touch = await page.context().newCDPSession(page);
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: { x: number; y: number; id: number }[]) =>
    touch.send('Input.dispatchTouchEvent', { type, touchPoints });
  const pinch = (apart: number) => [
    { x: across - apart, y: down, id: 0 },
    { x: across + apart, y: down, id: 1 },
  ];
  /** Middle and zoom, as the address has them when it changes no more and they are as they should be. */
  async function camera(isRight: (at: number[]) => boolean = () => true): Promise<number[]> {
    const at = () => (new URL(page.url()).searchParams.get('at') ?? '').split(',').map(Number);
    let before = '';
    const isStill = async () => {
      // a busy page has not come to it yet
      await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve, { timeout: 2000 })));
      const [last, now] = [before, page.url()];
      before = now;
      return now === last && now.includes('at=') && (isRight(at()) || at());
    };
    await expect.poll(isStill, { interval: 1000, timeout: 30_000 }).toBe(true);
    return at();
  }

  await send('touchStart', [{ x: across, y: down, id: 0 }]);
  await send('touchMove', [{ x: across + 10, y: down, id: 0 }]);
  await send('touchEnd', []);
  const [, , whole] = await camera();
  await send('touchStart', pinch(40));
  // in steps, as fingers do
  for (let apart = 48; apart <= 120; apart += 8) await send('touchMove', pinch(apart));
  await send('touchEnd', []);
  // as far as the fingers went, or caught near by
  const [middleX, middleY, zoom] = await camera(([, , now]) => Math.abs(now! / whole! / 3 - 1) < 0.05);

  await send('touchStart', [{ x: across, y: down, id: 0 }]);
  await send('touchMove', [{ x: across - 30, y: down - 20, id: 0 }]);
  await send('touchEnd', []);
  // what was under the finger went with it: to the left and up
  await camera(([movedX, movedY, same]) => movedX! > middleX! && movedY! > middleY! && same === zoom);
});

test('everything works by keyboard: wells, planes, channels, contrast, labels', async () => {
  const page = await anna.open(viewOf('A01'));
  await expect.poll(() => words(page)).toContain('Picture of P1, A01. DAPI');
  await page.keyboard.press('.');
  await expect.poll(() => words(page)).toContain('Picture of P1, A02');
  await page.goBack();
  await expect.poll(() => words(page)).toContain('Picture of P1, A01');
  await page.locator('#picture').focus();
  await page.keyboard.press('Home');
  await expect.poll(() => words(page)).toContain('plane 1 of 2');
  await page.keyboard.press('ArrowUp');
  await expect.poll(() => words(page)).toContain('plane 2 of 2');
  await tap(page, '1');
  await expect.poll(() => words(page)).not.toContain('DAPI');
  await tap(page, '1');
  const zoom = page.locator('.zoom .v');
  const before = await zoom.textContent();
  await page.keyboard.press('+');
  await expect.poll(() => zoom.textContent()).not.toBe(before);
  await page.keyboard.press('0');
  await expect.poll(() => zoom.textContent()).toBe(before);
  const map = page.getByRole('listbox', { name: 'Wells of P1' });
  await map.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => words(page)).toContain('Picture of P1, B01');
});

test('before and after lie under a border that can be moved; the view is saved as a picture', async () => {
  const page = await anna.open(viewOf('B01'));
  await expect.poll(() => countLike(page, OUTLINE), { timeout: 20_000 }).toBeGreaterThan(200);
  const all = await countLike(page, OUTLINE);
  await page.getByRole('combobox', { name: 'Compare with' }).selectOption('labels');
  const border = page.getByRole('slider', { name: /^Border between/ });
  await border.focus();
  for (let at = 0; at < 3; at++) await page.keyboard.press('PageUp');
  await expect.poll(() => countLike(page, OUTLINE)).toBeLessThan(all * 0.8);
  await page.waitForURL((url) => url.searchParams.get('compare') === 'slider');
  await looksWell(page, 'viewer-compare');
  await page.getByRole('button', { name: 'Side by side' }).click();
  await page.waitForURL((url) => url.searchParams.get('compare') === 'side');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save picture' }).click(),
  ]);
  expect(download.suggestedFilename()).toMatch(/^P1_B01.*\.png$/);
  expect(
    readFileSync(await download.path())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
});

test('a well of the plate is drawn in the contrast of the plate, which can be set by hand', async () => {
  const two = await smallPlate('By hand');
  const page = await anna.open(`/v2/projects/${two.project_id}/datasets/${two.id}`);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.getByRole('option', { name: /^A01,/ }).click();
  const well = page.getByRole('img', { name: 'All channels of A01' });
  await expect.poll(() => brightest(well)).toBe(255);
  await page.getByRole('combobox', { name: 'Labels' }).selectOption('outline nuclei');
  await expect.poll(() => countIn(well, OUTLINE)).toBeGreaterThan(50);
  await looksWell(page, 'dataset-well');

  // full light far above what there is makes it darker, in the map and in the well alike, and is kept
  await page.getByRole('button', { name: /^Contrast of Image/ }).click();
  await page.getByRole('button', { name: 'Colour and numbers of Image' }).click();
  await page.getByRole('textbox', { name: 'Full light' }).fill('9000');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.getByRole('combobox', { name: 'Contrast', exact: true }).inputValue()).toBe('own');
  await expect.poll(() => brightest(well, OUTLINE)).toBeLessThan(60);
  await looksWell(page, 'dataset-contrast');
  await page.getByRole('button', { name: 'Presets' }).click();
  await page.getByRole('menuitem', { name: 'Save as preset…' }).click();
  await page.getByLabel('Save what is shown as').fill('Dark');
  await page.getByRole('button', { name: 'Save preset' }).click();
  await page.getByRole('combobox', { name: 'Contrast', exact: true }).selectOption('plate');
  await expect.poll(() => brightest(well, OUTLINE)).toBe(255);

  // the viewer knows both
  await page.getByRole('region', { name: 'Wells' }).getByRole('link', { name: 'Open in viewer' }).click();
  await expect.poll(() => words(page)).toContain('Picture of P2, A01. Image from 10 to 900');
  await page.getByRole('button', { name: 'Presets' }).click();
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  await expect.poll(() => words(page)).toMatch(/ to 9.000/);
  // one request for each channel, however many fields, and one for the labels
  expect(asked.some((url) => url.includes('plate-picture') && url.includes('well=A01'))).toBe(true);
});

test('a length is measured with the pointer and by keys alone; values are read at the cross', async () => {
  const page = await anna.open(viewOf('B01'));
  await expect.poll(() => words(page)).toContain('labels nuclei');
  await page.locator('#picture').focus();
  await page.keyboard.press('Home');
  const panel = page.getByRole('region', { name: 'Under the pointer' });
  await panel.getByRole('heading', { name: 'At the cross' }).waitFor();
  await expect.poll(() => panel.textContent()).toMatch(/Image\s*900/);
  await page.keyboard.press('r');
  for (let at = 0; at < 2; at++) await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('r');
  const length = page.locator('.length');
  await expect.poll(() => length.textContent()).toMatch(/µm/);
  await page.waitForURL((url) => url.searchParams.has('ruler'));
  await looksWell(page, 'viewer-ruler');
  await page.keyboard.press('Escape');
  await expect.poll(() => length.count()).toBe(0);
});

/** Where nothing runs, the page asks seldom: that is waited for in long runs. */
const BEGINS = LONG ? ['before', 'after'] : ['before'];
test.each(BEGINS)('what a task writes that began %s is announced, and shown on request', async (begins) => {
  const project = await anna.project(`Written again, ${begins}`);
  const own = await anna.dataset(project, 'Images', ['one.zarr']);
  const image = join(own.zarr_dir, 'one.zarr');
  await writeImage4(image, [square(900)]);
  const name = `Write ${begins}`;
  const task = await anna.task({ name, type: 'parallel' });
  const go = join(anna.folder, `write-${begins}`);
  const waits = { plan: { '*': { wait_for: go } } };
  const workflow = await anna.workflow(project, 'Writing', [{ task, args_parallel: waits }]);
  const submit = () => anna.submit(project, workflow, own);
  const early = begins === 'before' ? await submit() : undefined;
  const page = await anna.open(`/v2/projects/${project.id}/datasets/${own.id}/view?image=${encodeURIComponent(image)}`);
  await page.locator('#picture').focus();
  await page.keyboard.press('Home');
  const panel = page.getByRole('region', { name: 'Under the pointer' });
  await expect.poll(() => panel.textContent()).toMatch(/Image\s*900/);
  await writeImage4(image, [square(400)]);
  const job = early ?? (await submit());
  writeFileSync(go, '');
  expect((await anna.ended(job)).status).toBe('done');
  await page.getByText(`${name} wrote this image again`, { exact: false }).waitFor({ timeout: 40_000 });
  await looksWell(page, 'viewer-again');
  await page.getByRole('button', { name: 'Show the new one' }).click();
  await page.locator('#picture').focus();
  await page.keyboard.press('Home');
  await page.mouse.move(5, 5);
  await expect.poll(() => panel.textContent()).toMatch(/Image\s*400/);
});

test.runIf(LONG)('wells of a plate that a task writes meanwhile are announced, and shown on request', async () => {
  const plate = await smallPlate('Wells written again');
  const project = await good<Project>(anna.client.get(`/api/v2/project/${plate.project_id}/`));
  const go = join(anna.folder, 'write-wells');
  const task = await anna.task({ name: 'Write wells', type: 'parallel' });
  const waits = { plan: { '*': { wait_for: go } } };
  const workflow = await anna.workflow(project, 'Writing', [{ task, args_parallel: waits }]);
  const job = await anna.submit(project, workflow, plate);
  const info = `/api/v2/project/${project.id}/dataset/${plate.id}/plate-picture/info/`;
  const states = async () =>
    (await good<PlatePictureInfo>(anna.client.get(info, { query: { plate: 'P2' } }))).wells.map(({ state }) => state);
  await expect.poll(states).toEqual(['being_written', 'being_written']);
  const page = await anna.open(`/v2/projects/${project.id}/datasets/${plate.id}/view?plate=P2`);
  await expect.poll(() => words(page)).toContain('Picture of P2');
  const picture = page.locator('#picture');
  const isBusy = () => page.getByRole('region', { name: 'Picture' }).getAttribute('aria-busy');
  await expect.poll(isBusy).toBe('false');
  const before = await picture.screenshot();

  await writeImage4(join(plate.zarr_dir, 'P2.zarr/A/02/0'), [square(200)]);
  writeFileSync(go, '');
  expect((await anna.ended(job)).status).toBe('done');
  await page.getByText('2 wells were written again.').waitFor({ timeout: 40_000 });
  await looksWell(page, 'viewer-plate-again');
  await page.getByRole('button', { name: 'Show the new one' }).click();
  await expect.poll(() => page.getByText('written again').count()).toBe(0);
  await expect.poll(isBusy).toBe('false');
  expect((await picture.screenshot()).equals(before)).toBe(false);
});

test('without a data service, the service draws plates and wells, and no page asks for files', async () => {
  const two = await smallPlate('No files');
  const other = await startWeb(api, {});
  const page = await openPage(`${other.url}/v2/projects/${two.project_id}/datasets/${two.id}?a.well=A01`, anna.token);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await expect.poll(() => brightest(page.getByRole('img', { name: 'All channels of A01' }))).toBe(255);
  await page.getByRole('option', { name: /^A02,/ }).click();
  await expect.poll(() => brightest(page.getByRole('img', { name: 'All channels of A02' }))).toBeGreaterThan(60);
  expect(asked.filter((url) => url.includes('/data/files'))).toEqual([]);
});

test('a whole plate is viewed in tiles, and leads to its wells; what is missing is marked', async () => {
  const page = await anna.open(`${base}/view?plate=P1`);
  await expect.poll(() => words(page)).toContain('Picture of P1. DAPI');
  await page.getByText('There is no OME-Zarr image', { exact: false }).waitFor();
  await expect.poll(() => countLike(page, [0x44, 0x88, 0xff], 90), { timeout: 20_000 }).toBeGreaterThan(50);
  await looksWell(page, 'viewer-plate');
  await page.getByRole('listbox', { name: 'Wells of P1' }).focus();
  await page.keyboard.press('Enter');
  await expect.poll(() => words(page)).toContain('Picture of P1, A01');
});

test('a chunk that is half written or damaged is named, and the other channels are shown', async () => {
  const project = await anna.project('Half written');
  const own = await anna.dataset(project, 'Images', ['half.zarr']);
  const image = join(own.zarr_dir, 'half.zarr');
  await writeImage4(image, [square(900), square(300)]);
  truncateSync(join(image, '0/1/0/0'), 20);
  const page = await anna.open(`/v2/projects/${project.id}/datasets/${own.id}/view?image=${encodeURIComponent(image)}`);
  await page.getByText('Chunk 1/0/0 of level 0', { exact: false }).waitFor();
  await expect.poll(() => countLike(page, [0x6f, 0xa8, 0xff])).toBeGreaterThan(500);
  await looksWell(page, 'viewer-damaged');
});

test('a graphics card that gives up is replaced by a plain canvas, and the picture stays', async () => {
  const page = await anna.open(viewOf('B01'));
  await expect.poll(() => countLike(page, OUTLINE), { timeout: 20_000 }).toBeGreaterThan(200);
  const canvas = page.locator('#picture canvas');
  expect(await canvas.getAttribute('data-painter')).toBe('webgl');
  await canvas.evaluate((element: HTMLCanvasElement) =>
    element.getContext('webgl2')!.getExtension('WEBGL_lose_context')!.loseContext(),
  );
  await expect.poll(() => page.locator('#picture canvas').getAttribute('data-painter')).toBe('canvas');
  await expect.poll(() => countLike(page, OUTLINE), { timeout: 20_000 }).toBeGreaterThan(200);
});

test('the wells of a plate of 1 536 are seen through a lens, with the pointer and with keys', async () => {
  const made = await anna.dataset(
    await anna.project('Many wells'),
    'Plate',
    ['A01', 'A02', 'AF48'].map((well) => {
      const [, row, column] = /^([A-Z]+)(\d+)$/.exec(well)!;
      return { zarr_url: `P3.zarr/${row}/${column}/0`, attributes: { plate: 'P3', well } };
    }),
  );
  for (const path of ['A/01', 'A/02', 'AF/48'])
    await writeImage4(join(made.zarr_dir, `P3.zarr/${path}/0`), [square(900)]);
  const page = await anna.open(`/v2/projects/${made.project_id}/datasets/${made.id}`);
  const lens = page.locator('.lens');
  const map = page.getByRole('listbox', { name: 'Wells of P3' });
  await expect
    .poll(async () => {
      await page.mouse.move(5, 5);
      await page.getByRole('option', { name: /^A02,/ }).hover();
      return lens.count();
    })
    .toBe(1);
  await expect.poll(() => brightest(lens)).toBe(255);
  expect(await lens.textContent()).toContain('A02');
  await looksWell(page, 'dataset-lens');
  await map.focus();
  await page.keyboard.press('Home');
  await expect.poll(() => lens.textContent()).toContain('A01');
});

test.each(LONG ? [1024, 768] : [768])('it can be used at %i pixels', async (width) => {
  const page = await anna.open(viewOf('A01'));
  await page.setViewportSize({ width, height: 900 });
  await expect.poll(() => words(page)).toContain('DAPI from');
  await page.getByRole('button', { name: 'Where' }).click();
  await page.getByRole('listbox', { name: 'Wells of P1' }).waitFor();
  // beside the panel, the picture is still there
  await expect.poll(() => countLike(page, [0x44, 0x88, 0xff], 90)).toBeGreaterThan(500);
  await looksWell(page, `viewer-${width}`);
  await page.keyboard.press('Escape');
  await expect.poll(() => page.getByRole('listbox', { name: 'Wells of P1' }).isVisible()).toBe(false);
  if (width === 768) await page.getByRole('button', { name: 'How' }).click();
  await page.getByRole('slider', { name: 'DAPI, full light' }).focus();
  await page.keyboard.press('PageDown');
  await expect.poll(() => words(page)).not.toContain('DAPI from 0 to 3\u202f600');
});

test('files that cannot be seen are said to be elsewhere, with what can be done', async () => {
  const page = await anna.open(viewOf('B02'));
  await page.getByRole('alert').getByText('cluster', { exact: false }).first().waitFor();
  await page.getByRole('button', { name: 'Copy the path of the image' }).first().waitFor();
  await looksWell(page, 'viewer-missing');
});

test('a dataset without plates shows its images as a grid that leads to the viewer', async () => {
  const project = await anna.project('No plates');
  const plain = await anna.dataset(project, 'Images', ['one.zarr', 'two.zarr']);
  await writeImage4(join(plain.zarr_dir, 'one.zarr'), [square(900)]);
  const page = await anna.open(`/v2/projects/${project.id}/datasets/${plain.id}`);
  const grid = page.getByRole('region', { name: 'Pictures' });
  await grid.getByRole('img', { name: 'Picture of one.zarr' }).waitFor();
  await grid.getByText('No picture of two.zarr').waitFor({ state: 'attached' });
  await looksWell(page, 'dataset-grid');
  await grid.getByRole('link', { name: /one\.zarr/ }).click();
  await expect.poll(() => words(page)).toContain('Picture of one.zarr');
});
