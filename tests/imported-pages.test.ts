/** The pages of an imported deployment: people find what they had, and no time is shown that nobody recorded. */
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';

import { type Existing, openSample } from '../packages/server/test/support/existing-database.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { clientOf } from '../packages/server/test/support/server.ts';
import { looksWell, PICTURES } from '../packages/web/test/site/looks.ts';
import { launchBrowser } from './support/browser.ts';
import { remove, type Running, servicectl, startService, temporaryFolder } from './support/processes.ts';

const connection = inject('connection');
const folder = temporaryFolder('imported-pages');
const target = `target_${randomBytes(6).toString('hex')}`;

/** Who owns the project with the failed jobs, and who owns the one with the long history; with their old passwords. */
const OWNER = { username: 'client_tester_name-0-1794708766@example.org', password: 'pytest' };
const ADMIN = { username: 'admin@example.org', password: '1234' };

let from: Existing;
let service: Running;
let browser: Browser;
let url: string;

async function administer(statement: string): Promise<void> {
  const client = new pg.Client(connection);
  await client.connect();
  await client.query(statement);
  await client.end();
}

beforeAll(async () => {
  from = await openSample(connection);
  // an old server that was killed recorded no ends
  await from.query('update jobv2 set end_timestamp = null where id = 3');
  await from.query('update taskgroupactivityv2 set timestamp_ended = null');
  await from.leave();
  await administer(`create database ${target}`);
  const { host, port, user, password } = connection;
  const environment = {
    POSTGRES_DB: target,
    POSTGRES_HOST: host,
    POSTGRES_PORT: String(port),
    POSTGRES_USER: user!,
    POSTGRES_PASSWORD: password!,
    PGPASSWORD: password!,
    JWT_SECRET_KEY: 'key of the old settings',
    SERVICE_DEFAULT_GROUP_NAME: 'All',
    SERVICE_WEB_CLIENT: 'true',
    SERVICE_DATA_DIR: join(folder, 'data'),
  };
  const source = `postgresql://${user}@${host}:${port}/${from.name}`;
  expect(servicectl(['import-db', '--from', source], { folder, environment })).toMatchObject({ code: 0, err: '' });
  service = startService(['--port', '0'], { environment });
  url = (await service.said(/answers at (http:\/\/\S+)/))[1]!;
  mkdirSync(PICTURES, { recursive: true });
  browser = await launchBrowser();
}, 300_000);

afterAll(async () => {
  await browser?.close();
  service?.process.kill('SIGTERM');
  await service?.ended;
  await from?.drop();
  await administer(`drop database if exists ${target} with (force)`);
  remove(folder);
});

interface Walk {
  page: Page;
  to(path: string): Promise<void>;
}

/** A browser of somebody who signed in with the old password; what breaks in a page breaks the test. */
async function signIn(credentials: typeof OWNER): Promise<Walk> {
  const { body } = await clientOf(url).raw('/auth/token/login/', {
    method: 'POST',
    body: new URLSearchParams(credentials),
  });
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1440, height: 1000 } });
  const value = (body as { access_token: string }).access_token;
  await context.addCookies([{ name: 'fastapiusersauth', value, url }]);
  const page = await context.newPage();
  const broken: string[] = [];
  page.on('pageerror', ({ message }) => broken.push(message));
  onTestFinished(async () => {
    await context.close();
    expect(broken).toEqual([]);
  });
  return {
    page,
    async to(path) {
      await page.goto(path);
      await page.locator('html[data-ready]').waitFor();
    },
  };
}

const main = (page: Page) => page.getByRole('main').innerText();

describe('the owner of an imported project', () => {
  it('finds project, dataset, workflow and packages as they were', async () => {
    const { page, to } = await signIn(OWNER);
    await to('/v2/projects');
    await page.locator('a[href="/v2/projects/31"]').first().waitFor();
    await looksWell(page, 'imported-projects');
    await to('/v2/projects/31');
    await page.locator('a[href^="/v2/projects/31/workflows/24"]').first().waitFor();
    await looksWell(page, 'imported-project');
    await to('/v2/projects/31/datasets/14');
    await looksWell(page, 'imported-dataset');
    await to('/v2/projects/31/workflows/24?dataset=14');
    expect(await main(page)).not.toContain('0 images made');
    await looksWell(page, 'imported-workflow');
    await to('/v2/tasks');
    await looksWell(page, 'imported-tasks');
    await to('/v2/tasks/management');
    await looksWell(page, 'imported-packages');
    await to('/v2/templates');
    await looksWell(page, 'imported-templates');
  });

  it('sees no time that nobody recorded: neither in the list of jobs nor on the page of one', async () => {
    const { page, to } = await signIn(OWNER);
    await to('/v2/projects/31/jobs');
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'Job 3' }) });
    await row.getByTitle('end not recorded').waitFor();
    expect(await row.getByTitle('end not recorded').innerText()).toBe('–');
    await looksWell(page, 'imported-jobs');
    await to('/v2/projects/31/jobs/3');
    await page.getByText('end not recorded').waitFor();
    const before = await main(page);
    await page.waitForTimeout(2500);
    expect(await main(page)).toBe(before);
    await looksWell(page, 'imported-job-without-end');
  });
});

describe('an administrator', () => {
  it.runIf(LONG)('finds runs, units and images of a long history', async () => {
    const { page, to } = await signIn(ADMIN);
    await to('/v2/projects/52/jobs/4');
    await page.getByText('times of units not recorded').waitFor();
    const text = await main(page);
    expect(text).toContain('time in the queue not recorded');
    expect(text).not.toMatch(/nothing started|\b0 new\b|Peak concurrency/);
    // its folder is gone, and what it wrote is in the database
    await page.getByText('grown', { exact: true }).waitFor();
    await looksWell(page, 'imported-job');
    await to('/v2/projects/52/jobs/4?tab=warned');
    await page.getByRole('list', { name: 'Units with warnings' }).waitFor();
    await looksWell(page, 'imported-job-warnings');
    await to('/v2/projects/52/datasets/16');
    await page.getByText('300 images').first().waitFor();
    // the map of the plate comes a little later
    await page.getByText('Click a well').waitFor();
    await looksWell(page, 'imported-dataset-images');
    await to('/v2/projects/52/workflows/48?dataset=16');
    await looksWell(page, 'imported-history');
    const [task] = await taskIds(page);
    for (const tab of ['runs', 'images']) {
      await to(`/v2/projects/52/workflows/48?dataset=16&task=${task}&tab=${tab}`);
      await page.getByRole('table').first().waitFor();
      await looksWell(page, `imported-${tab}`);
    }
    await to(`/v2/projects/52/workflows/48?dataset=16&task=${task}&tab=runs`);
    await page.getByRole('button', { name: 'Show run 1' }).click();
    await page.getByRole('table', { name: 'Units of this run' }).getByText('not recorded').first().waitFor();
    await page
      .getByRole('button', { name: /^Log of/ })
      .first()
      .click();
    await looksWell(page, 'imported-units');
  });

  it('reads what the import did', async () => {
    const { page, to } = await signIn(ADMIN);
    await to('/v2/admin');
    await page.getByRole('navigation', { name: 'Admin area' }).getByRole('link', { name: 'Import' }).click();
    await page.getByRole('heading', { name: 'Import', level: 1 }).waitFor();
    await page.getByText('history_units').first().waitFor();
    await page.getByText('runs.unfinished').click();
    await page.getByText('status submitted → failed in job 2').waitFor();
    await looksWell(page, 'admin-import');
  });

  it.runIf(LONG)(
    'has all of it on a telephone, too, and nothing reads as a time or a number that is none',
    async () => {
      const { page, to } = await signIn(ADMIN);
      await page.setViewportSize({ width: 390, height: 844 });
      const paths = {
        project: '/v2/projects/52',
        dataset: '/v2/projects/52/datasets/16',
        workflow: '/v2/projects/52/workflows/48?dataset=16',
        jobs: '/v2/jobs',
        job: '/v2/projects/52/jobs/4',
        packages: '/v2/tasks/management',
        activities: '/v2/tasks/activities',
        import: '/v2/admin/import',
        'admin-jobs': '/v2/admin/jobs',
      };
      for (const [name, path] of Object.entries(paths)) {
        await to(path);
        // what comes a little later
        await page.waitForTimeout(1000);
        expect(await main(page), path).not.toMatch(/Invalid|NaN|undefined|\bnull\b|\[object|1970|not found/i);
        await looksWell(page, `imported-narrow-${name}`);
      }
    },
  );
});

async function taskIds(page: Page): Promise<number[]> {
  const answer = await page.request.get('/api/v2/project/52/workflow/48/');
  return ((await answer.json()) as { task_list: { id: number }[] }).task_list.map(({ id }) => id);
}
