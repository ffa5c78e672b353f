/** What the first load of a large workflow page costs: calls of the API, and files and bytes of script and style. */
import { expect, test } from 'vitest';

import type { Dataset } from '@service/contract';

import { LONG } from '../../../server/test/support/long.ts';
import { good, openPage, person } from './site.ts';

const IMAGES = LONG ? 100_000 : 20_000;
const TASKS = 20;
const MOST_CALLS = 6;
const MOST_FILES = 20;
const MOST_BYTES = 250_000;
const ERROR_PAGE = /\/nodes\/1\.[^/]+$/;
const QUIET_MS = 12_000;

const schema = (name: string) => ({
  type: 'object',
  properties: {
    zarr_url: { type: 'string' },
    ...Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [
        `argument_${at}`,
        { type: 'number', title: `${name}, argument ${at}`, default: at, description: 'How strongly it is applied.' },
      ]),
    ),
  },
});

test(`a workflow of ${TASKS} tasks on ${IMAGES} images`, { timeout: 240_000 }, async () => {
  const anna = await person({ name: 'anna' });
  const project = await anna.project();
  const images = Array.from({ length: IMAGES }, (_, at) => ({
    zarr_url: `${anna.folder}/big/plate.zarr/${at}`,
    attributes: { plate: 'plate', well: `A${String(at % 96).padStart(2, '0')}` },
    types: { is_3D: true },
  }));
  const dataset = await good<Dataset>(
    anna.client.post(`/api/v2/project/${project.id}/dataset/import/`, {
      name: 'Big',
      zarr_dir: `${anna.folder}/big`,
      images,
    }),
  );
  const tasks = await Promise.all(
    Array.from({ length: TASKS }, (_, at) => anna.task({ name: `Step ${at}`, schema: schema(`Step ${at}`) })),
  );
  const workflow = await anna.workflow(
    project,
    'Long',
    tasks.map((task) => ({ task })),
  );

  const page = await openPage('/auth/login');
  const [context] = [page.context()];
  await context.clearCookies();
  const { origin } = new URL(page.url());
  await context.addCookies([{ name: 'fastapiusersauth', value: anna.token, url: origin }]);
  // as somebody who was never here: nothing is kept from the page before
  const network = await context.newCDPSession(page);
  await network.send('Network.enable');
  await network.send('Network.setCacheDisabled', { cacheDisabled: true });

  const calls: string[] = [];
  const files = new Map<string, string>();
  let bytes = 0;
  network.on('Network.responseReceived', ({ requestId, response }) => {
    const { pathname } = new URL(response.url);
    if (pathname.startsWith('/api/')) calls.push(pathname);
    if (/\.(js|css)$/.test(pathname)) files.set(requestId, pathname);
  });
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (files.has(requestId)) bytes += encodedDataLength;
  });

  await page.goto(`/v2/projects/${project.id}/workflows/${workflow.id}`);
  await page.getByRole('region', { name: 'Tasks of this workflow' }).getByText('Step 19').waitFor();
  await expect.poll(() => calls.filter((one) => one.endsWith('/events')).length).toBe(1);
  await page
    .getByText(new RegExp(`${IMAGES / 1000}.000 images`))
    .first()
    .waitFor();
  // one more, on the web server: whose session it is
  expect(calls.length + 1, calls.join('\n')).toBeLessThanOrEqual(MOST_CALLS);
  const loaded = [...files.values()].sort();
  expect(loaded.length, loaded.join('\n')).toBeLessThanOrEqual(MOST_FILES);
  expect(bytes, loaded.join('\n')).toBeLessThanOrEqual(MOST_BYTES);
  // the page names all of them at once, and nothing that it does not need; Kit gets the page of errors when it has started
  const html = await page.request.get(page.url()).then((answer) => answer.text());
  const links = [...html.matchAll(/<link href="([^"]+)" rel="(?:modulepreload|stylesheet)"/g)];
  const named = links.map(([, href]) => new URL(href!, page.url()).pathname).sort();
  expect(named).toEqual(loaded.filter((file) => !ERROR_PAGE.test(file)));
  console.log(`${calls.length + 1} calls, ${files.size} files of ${bytes} bytes; dataset ${dataset.id}`);

  // and when nothing changes: at most one request in five seconds
  const before = calls.length;
  await page.waitForTimeout(QUIET_MS);
  expect(calls.length - before).toBeLessThanOrEqual(Math.floor(QUIET_MS / 5000));
});
