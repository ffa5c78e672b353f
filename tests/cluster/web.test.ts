/** The pages that show what a cluster does, in a real browser on a real Slurm: the queue, its jobs, and memory that ran out. */
import { mkdirSync } from 'node:fs';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { startWeb } from '../../packages/web/test/server/built-web.ts';
import { looksWell, PICTURES } from '../../packages/web/test/site/looks.ts';
import { launchBrowser } from '../support/browser.ts';
import { submitParallel } from '../support/faults.ts';
import type { Deployment } from '../support/deployment.ts';
import { openClusterDeployment } from './support/cluster-deployment.ts';
import { squeue } from './support/cluster.ts';
import { must } from './support/commands.ts';

let deployment: Deployment;
let browser: Browser;
let web: string;

beforeAll(async () => {
  deployment = await openClusterDeployment({ type: 'slurm_sudo' });
  ({ url: web } = await startWeb(deployment.url, { SERVICE_RUNNER_BACKEND: 'slurm_sudo' }));
  mkdirSync(PICTURES, { recursive: true });
  browser = await launchBrowser();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await deployment?.close();
});

async function open(path: string, token?: string): Promise<Page> {
  const context = await browser.newContext({ baseURL: web, viewport: { width: 1440, height: 900 } });
  const value = token ?? (await deployment.tokenOf(deployment.url, deployment.lab.owner.email));
  await context.addCookies([{ name: 'fastapiusersauth', value, url: web }]);
  const page = await context.newPage();
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') await page.screenshot({ path: `${PICTURES}/failed-cluster-${Date.now()}.png` });
    await context.close();
  });
  await page.goto(path);
  await page.locator('html[data-ready]').waitFor();
  return page;
}

const project = () => `/v2/projects/${deployment.lab.project}`;

describe('in the browser', () => {
  it('a job that waits says why; the queue shows it; ended it says where it ran and what Slurm called it', async () => {
    const { lab } = deployment;
    const { id } = await submitParallel(deployment, ['held'], { meta_parallel: { extra_lines: ['#SBATCH --hold'] } });
    const page = await open(`${project()}/jobs/${id}`);
    await page.getByText(/It is on hold\./).waitFor();
    await looksWell(page, 'cluster-job-waiting');

    const jobs = await open('/v2/jobs');
    await jobs.getByRole('button', { name: 'Queue of the cluster' }).click();
    const queue = jobs.getByRole('region', { name: 'Queue' });
    await expect.poll(() => queue.innerText()).toMatch(/JOBID(.|\n)*alice(.|\n)*JobHeldUser/);
    await looksWell(jobs, 'cluster-queue');

    const [line] = (await squeue()).filter((one) => one.reason === 'JobHeldUser' && one.state === 'PENDING');
    await must(['scontrol', 'release', String(line!.job)]);
    await lab.end(id, 60);
    await page.locator('dd', { hasText: /Slurm\s*1 job$/ }).waitFor();
    await looksWell(page, 'cluster-job-done');

    const accounting = await open('/v2/admin/accounting', await deployment.adminToken());
    await accounting.getByRole('tab', { name: 'Slurm' }).click();
    await accounting.getByRole('textbox', { name: 'Job id' }).fill(String(id));
    await accounting.getByRole('button', { name: 'Find job ids' }).click();
    const ids = accounting.getByRole('region', { name: 'Slurm job ids' }).last();
    await expect.poll(() => ids.innerText()).toBe(String(line!.job));
    await looksWell(accounting, 'cluster-accounting');
  });

  it('images that were killed for memory are run again with twice as much, by one button', async () => {
    const { lab } = deployment;
    const { id, flow, dataset } = await submitParallel(deployment, ['greedy', 'modest'], {
      plan: { [lab.urlOf('greedy')]: { allocate: 130, sleep: 2 }, '*': { sleep: 1 } },
      meta_parallel: { mem: 100, tasks_per_job: 1, parallel_tasks_per_job: 1 },
    });
    expect(await lab.end(id, 60)).toMatchObject({ status: 'failed' });
    const page = await open(`${project()}/workflows/${flow.id}?dataset=${dataset}`);
    const give = page.getByRole('button', { name: 'Set 200 MB and rerun 1' });
    await give.waitFor();
    await looksWell(page, 'cluster-memory');
    await give.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Rerun 1 image' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Done', { exact: true }).first().waitFor({ timeout: 60_000 });

    const { body } = await lab.owner.client.get(`${lab.base}/workflow/${flow.id}/wftask/${flow.steps[0]}/`);
    expect(body.meta_parallel).toEqual({ mem: 200, tasks_per_job: 1, parallel_tasks_per_job: 1 });
    const starts = lab.starts().map(({ url }) => url);
    expect(starts.filter((url) => url === lab.urlOf('greedy'))).toHaveLength(2);
    expect(starts.filter((url) => url === lab.urlOf('modest'))).toHaveLength(1);
    await expect.poll(() => page.getByRole('button', { name: /Set .* and rerun/ }).count()).toBe(0);
  });
});
