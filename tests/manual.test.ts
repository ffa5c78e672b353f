/**
 * What the manual says is true: its site builds without a warning and is served, all links lead somewhere, its Python examples and
 * commands run, its pictures are of the demo, and what it has watched by Prometheus is there.
 */
import { execFile } from 'node:child_process';
import { globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';

import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ensureBuilt } from '../packages/server/src/web/build.ts';
import { MANUAL } from '../packages/server/src/web/kinds.ts';
import { policyFor } from '../packages/server/src/web/manual.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { type Client, clientOf } from '../packages/server/test/support/server.ts';
import { looksWell } from '../packages/web/test/site/looks.ts';
import { launchBrowser } from './support/browser.ts';
import { type DemoPlace, PICTURES, takePicture } from './support/manual-pictures.ts';
import { exchanged } from './support/manual-commands.ts';
import { blockOf, blocksOf, DOCS, metricsIn, scriptOf } from './support/manual-texts.ts';
import { newFolder, PASSWORD, READY, send, start } from './support/mounted.ts';
import { ROOT, type Running } from './support/processes.ts';

const run = promisify(execFile);
const BUILD_MS = 600_000;
const DEMO_READY = /^The demo is in the project "Demo"/m;
/** `npm run pictures` keeps them. */
const KEPT = process.env['KEEP_PICTURES'] ? join(DOCS, 'pictures') : join(ROOT, 'test-results/pictures/manual');

let service: Running;
let url: string;
let client: Client;
let token: string;
let demo: DemoPlace;
let site: string;

async function findDemo(dataFolder: string): Promise<DemoPlace> {
  const [project] = (await client.get('/api/v2/project/')).body;
  const jobs = (await client.get('/api/v2/job/')).body as {
    id: number;
    workflow_id: number;
    dataset_id: number;
    status: string;
  }[];
  const place = (status: string) => {
    const { id, workflow_id, dataset_id } = jobs.find((job) => job.status === status)!;
    return { workflow: workflow_id, dataset: dataset_id, job: id };
  };
  return { web: url, dataFolder, project: project.id, measured: place('done'), failed: place('failed') };
}

beforeAll(async () => {
  [site] = await Promise.all([ensureBuilt({ kind: MANUAL }), ensureBuilt()]);
  const data = join(newFolder('manual'), 'data');
  service = start({ SERVICE_PACKAGE_INDEX: 'none' }, ['--demo', '--data-dir', data]);
  url = (await service.said(READY))[1]!;
  await service.said(DEMO_READY);
  const form = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
  const { body } = await clientOf(url).raw('/auth/token/login/', { method: 'POST', body: form });
  client = clientOf(url, body.access_token as string);
  const end = new Date(Date.now() + 86_400_000).toISOString();
  const made = await client.post('/auth/current-user/token/', {
    name: 'manual',
    scope: 'everything',
    timestamp_expires: end,
  });
  expect([made.status, made.text]).toEqual([201, made.text]);
  token = made.body.token as string;
  demo = await findDemo(data);
}, BUILD_MS);

describe('the site', () => {
  it(
    'builds without a warning',
    async () => {
      const out = join(newFolder('manual-site'), 'site');
      const program = join(ROOT, 'node_modules/vitepress/bin/vitepress.js');
      // on the way it would meet the build of others in its cache
      const { stdout, stderr } = await run(process.execPath, [program, 'build', DOCS, '--outDir', out], {
        env: { ...process.env, NODE_ENV: 'production' },
      });
      const said = stripVTControlCharacters(stdout + stderr);
      expect(said).toContain('build complete');
      expect(said.split('\n').filter((line) => /warn|deprecat|dead|fail|\(!\)|larger than/i.test(line))).toEqual([]);
    },
    BUILD_MS,
  );

  /** Pages as they are built, by their address below /manual/. */
  const pages = () =>
    new Map(
      globSync('**/*.html', { cwd: site }).map((file) => [
        file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, ''),
        readFileSync(join(site, file), 'utf8'),
      ]),
    );

  it('has links that all lead somewhere, to the place on the page too', () => {
    const all = pages();
    const files = new Set(globSync('**/*.*', { cwd: site }));
    const problems: string[] = [];
    for (const [address, html] of all) {
      const base = new URL(address, 'http://manual/manual/');
      for (const [, written] of html.matchAll(/(?:href|src)="([^"]+)"/g)) {
        const target = URL.parse(written!.replaceAll('&amp;', '&'), base.href)!;
        if (target.host !== 'manual' || !target.pathname.startsWith('/manual/')) continue;
        const path = decodeURIComponent(target.pathname).slice('/manual/'.length);
        const id = decodeURIComponent(target.hash.slice(1));
        const page = all.get(path);
        if (page === undefined && !files.has(path)) problems.push(`${address}: ${written}`);
        else if (id !== '' && page !== undefined && !page.includes(`id="${id}"`))
          problems.push(`${address}: ${written}`);
      }
    }
    expect(all.size).toBeGreaterThan(60);
    expect(problems).toEqual([]);
  });

  it('lists every page in its contents', () => {
    const [html] = [...pages()].filter(([address]) => address === 'quick-start').map(([, text]) => text);
    const linked = new Set([...html!.matchAll(/href="\/manual\/([^"#]*)"/g)].map(([, path]) => path!));
    const unlisted = [...pages().keys()].filter(
      (address) => !linked.has(address) && !/^(404$|$|operations\/)/.test(address),
    );
    expect(unlisted).toEqual([]);
  });

  it('the README and the texts of the repository link to files that are there', () => {
    const texts = [
      'README.md',
      'CONTRIBUTING.md',
      'CHANGELOG.md',
      ...globSync('docs/**/*.md', { cwd: ROOT }).filter((path) => !path.startsWith('docs/.')),
    ];
    const gone = texts.flatMap((file) =>
      [
        ...readFileSync(join(ROOT, file), 'utf8')
          .replace(/^```[^]*?^```/gm, '')
          .matchAll(/\]\((?!https?:|#|\/)([^)#\s]+)/g),
      ]
        .map(([, target]) => target!)
        .filter((target) => !readable(join(ROOT, dirname(file), target)))
        .map((target) => `${file}: ${target}`),
    );
    expect(gone).toEqual([]);
  });
});

function readable(path: string): boolean {
  try {
    return readFileSync(path).length > 0;
  } catch {
    return false;
  }
}

describe('the service', () => {
  const get = (path: string, headers: Record<string, string> = {}) => send(url, path, { headers });

  it('serves the manual without a token, with a policy for its own scripts alone', async () => {
    await expect.poll(async () => (await get('/manual/')).status, { timeout: 60_000 }).toBe(200);
    const page = await get('/manual/quick-start');
    const html = await page.text();
    const policy = page.headers.get('content-security-policy')!;
    expect(policy).toBe(policyFor(html));
    expect(policy).toMatch(/script-src 'self'( 'sha256-[A-Za-z0-9+/]{43}=')+;/);
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    expect(html).toContain('Quick start');
    expect(policyFor('<script src="a.js"></script><script id="x">one</script><script>one</script>')).toMatch(
      /script-src 'self' 'sha256-[^ ]+';/,
    );
  });

  it.each([
    ['/manual', 308],
    ['/manual/', 200],
    ['/manual/guide', 308],
    ['/manual/quick-start/', 308],
    ['/manual/guide/', 200],
    ['/manual/guide/index.html', 200],
    ['/manual/operate/slurm?x=1', 200],
    ['/manual/monitoring/alerts.yaml', 200],
    ['/manual/nothing', 404],
    ['/manual/..%2f..%2fpackage.json', 404],
    ['/manual/constructor', 404],
  ])('%s is answered with %i', async (path, status) => expect((await get(path)).status).toBe(status));

  it('lets browsers keep files, and sends nothing twice', async () => {
    const page = await get('/manual/quick-start');
    const [asset] = /\/manual\/assets\/style[^"]+\.css/.exec(await page.text())!;
    const style = await get(asset);
    expect(style.headers.get('cache-control')).toContain('immutable');
    expect(style.headers.get('content-encoding')).toBe('gzip');
    const plain = await get(asset, { 'accept-encoding': 'identity' });
    expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([null, await style.text()]);
    const etag = page.headers.get('etag')!;
    expect((await get('/manual/quick-start', { 'if-none-match': etag })).status).toBe(304);
    const head = await send(url, '/manual/quick-start', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('has every number that the dashboard and the alerts watch', async () => {
    const told = await (await get('/metrics')).text();
    const known = new Set([...told.matchAll(/^([a-z_][a-z0-9_]*)(?:\{| )/gm)].map(([, name]) => name!));
    const rules = readFileSync(join(DOCS, 'public/monitoring/alerts.yaml'), 'utf8');
    const alerts = [...rules.matchAll(/- alert: (\w+)\n\s+expr: ([^]*?)\n\s+(?:for|labels): /g)].map(
      ([, alert, expr]) => ({ alert: alert!, expr: expr! }),
    );
    expect(alerts).toHaveLength(rules.split('- alert:').length - 1);
    const dashboard = JSON.parse(readFileSync(join(DOCS, 'public/monitoring/grafana-dashboard.json'), 'utf8')) as {
      panels: { targets: { expr: string }[] }[];
    };
    const watched = [
      ...alerts.map(({ expr }) => expr),
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ].flatMap(metricsIn);
    expect(watched.length).toBeGreaterThan(20);
    expect([...new Set(watched)].filter((name) => !known.has(name))).toEqual([]);
    const page = readFileSync(join(DOCS, 'operate/monitoring.md'), 'utf8');
    expect(alerts.filter(({ alert }) => !page.includes(`\`${alert}\``))).toEqual([]);
    const named = [...page.matchAll(/`([a-z]+(?:_[a-z0-9]+)+)`/g)].map(([, name]) => name!);
    const isKnown = (name: string) => known.has(name) || known.has(`${name}_count`) || name === 'rule_files';
    expect(named.filter((name) => !isKnown(name))).toEqual([]);
  });
});

/** Before the examples, which repair what failed. */
describe('in a browser', () => {
  let browser: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    browser = await launchBrowser();
    context = await browser.newContext({ reducedMotion: 'reduce' });
    await context.addCookies([{ name: 'fastapiusersauth', value: token, url }]);
  });
  afterAll(() => browser?.close());

  it('the manual is read and searched without anything that its policy refuses', async () => {
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
    page.on('pageerror', (error) => void problems.push(error.message));
    await page.goto(`${url}/manual/`);
    await page.getByRole('heading', { name: 'Image analysis, plate after plate' }).waitFor();
    await page.getByRole('link', { name: 'Quick start' }).first().click();
    await page.waitForURL('**/manual/quick-start');
    await page.locator('main img').first().waitFor();
    await page
      .getByRole('button', { name: /search/i })
      .first()
      .click();
    await page.getByRole('searchbox').fill('sudoers');
    await page
      .getByRole('option', { name: /A Slurm cluster/ })
      .first()
      .click();
    await page.waitForURL('**/manual/operate/slurm**');
    await page.getByRole('switch').first().click();
    await page.locator('html.dark').waitFor();
    expect(problems).toEqual([]);
    await page.close();
  });

  if (LONG || process.env['KEEP_PICTURES'] !== undefined) {
    it('pages of the demo give every picture of the manual, small enough to be kept', async () => {
      const page = await context.newPage();
      for (const name of Object.keys(PICTURES))
        expect(await takePicture(page, demo, name, KEPT), name).toBeLessThan(120_000);
      await page.close();
    }, 300_000);
  }

  it.runIf(LONG)(
    'every page looks well in light and dark, wide and narrow',
    async () => {
      const page = await context.newPage();
      const addresses = globSync('**/*.html', { cwd: site }).map((file) =>
        file.replace(/(^|\/)index\.html$/, '$1').replace(/\.html$/, ''),
      );
      expect(addresses.length).toBeGreaterThan(60);
      const problems: string[] = [];
      for (const address of addresses.filter((address) => address !== '404')) {
        await page.goto(`${url}/manual/${address}`);
        await page.locator('.VPContent').first().waitFor();
        for (const [width, height] of [
          [1440, 900],
          [1024, 768],
        ] as const) {
          await page.setViewportSize({ width, height });
          const name = `manual-${address.replaceAll('/', '-') || 'home'}-${width}`;
          await looksWell(page, name).catch((error: Error) => problems.push(error.message));
        }
      }
      expect(problems).toEqual([]);
      await page.close();
    },
    900_000,
  );

  it('every picture that is shown is one of these, and every one is shown', () => {
    const files = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
    const shown = new Set(
      files.flatMap((file) =>
        [...readFileSync(join(ROOT, file), 'utf8').matchAll(/pictures\/([\w-]+)\.webp/g)].map(([, name]) => name!),
      ),
    );
    expect([...shown].sort()).toEqual(Object.keys(PICTURES).sort());
    expect(readdirSync(join(DOCS, 'pictures')).sort()).toEqual([...shown].map((name) => `${name}.webp`).sort());
  });
});

describe('the examples', () => {
  let python: string;

  /** One with requests; where the system has none, in an environment of its own. */
  beforeAll(async () => {
    python = 'python3';
    const has = await run(python, ['-c', 'import requests']).then(
      () => true,
      () => false,
    );
    if (has) return;
    const folder = join(newFolder('manual-python'), 'env');
    await run('python3', ['-m', 'venv', folder]);
    python = join(folder, 'bin/python');
    await run(python, ['-m', 'pip', 'install', '--quiet', 'requests']);
  }, 300_000);

  const exported = () => `export SERVICE_URL=${url} TOKEN=${token}`;

  /** In a terminal where these lines were entered before. */
  async function runScript(page: string, folder: string, entered = exported()): Promise<string> {
    writeFileSync(join(folder, 'examples.py'), scriptOf(page));
    return (await run('bash', ['-euc', `${entered}\n"$0" examples.py`, python], { cwd: folder })).stdout;
  }

  it('of the page about tokens list the projects, with a cookie and with a header', async () => {
    const [variable, cookie, header] = blocksOf('docs/guide/api-token.md');
    const entered = exchanged(variable!, { '...': token });
    for (const command of [
      exchanged(cookie!, { 'https://<this site>': url }),
      exchanged(header!, { 'https://<the API>': url }),
    ]) {
      const { stdout } = await run('bash', ['-euc', entered + command]);
      expect(JSON.parse(stdout)).toMatchObject([{ id: demo.project, name: 'Demo' }]);
    }
  });

  it('of the API find, run, repair, add, read and draw', async () => {
    const exports = blockOf('docs/python.md', 'export TOKEN');
    const variables = exchanged(exports, { 'http://127.0.0.1:8000': url, 'svc_...': token });
    const said = await runScript('docs/python.md', newFolder('manual-examples'), variables);
    const lines = said.trim().split('\n');
    expect(lines[0]).toBe('Signed in as admin@example.org');
    expect(lines.filter((line) => line.startsWith('Job ')).map((line) => line.split(' ')[2])).toEqual([
      'failed',
      'done',
    ]);
    expect(said).toContain('ValueError');
    expect(said).toMatch(/^Dataset \d+ has 6 images$/m);
    expect(said).toMatch(/^control: \d+ nuclei, mean volume \d+ µm³$/m);
    expect(said).toMatch(/^A picture of \d+ bytes, image\/png$/m);
  });

  it.runIf(LONG)('of the guide for task authors make a package that is tested, built, collected and run', async () => {
    const folder = newFolder('manual-package');
    const blocks = blocksOf('docs/authors/index.md');
    for (const { file, text } of blocks.filter(({ file }) => file !== undefined)) {
      mkdirSync(join(folder, dirname(file!)), { recursive: true });
      writeFileSync(join(folder, file!), text);
    }
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    expect(commands).toHaveLength(2);
    for (const command of commands) await run('bash', ['-euc', command], { cwd: folder });
    expect(await runScript('docs/authors/index.md', folder)).toMatch(/^OK /);

    const tasks = (await client.get('/api/v2/task/')).body as { id: number; name: string }[];
    const task = tasks.find(({ name }) => name === 'Count Channels')!;
    const project = `/api/v2/project/${demo.project}`;
    const workflow = (await client.post(`${project}/workflow/`, { name: 'Channels' })).body;
    await client.post(`${project}/workflow/${workflow.id}/wftask/`, [{ task_id: task.id }]);
    const { dataset } = demo.measured;
    const submit = `${project}/job/submit/?workflow_id=${workflow.id}&dataset_id=${dataset}`;
    const { body: job } = await client.post(submit, {});
    const status = async () => (await client.get(`${project}/job/${job.id}/`)).body.status as string;
    await expect.poll(status, { timeout: 60_000 }).toBe('done');
    const { images } = (await client.get(`${project}/dataset/${dataset}/export/`)).body;
    expect(new Set(images.map((image: { attributes: object }) => 'num_channels' in image.attributes))).toContain(true);
  });

  it('of the quick start are the commands that a start has', async () => {
    const commands = blocksOf('docs/quick-start.md').find(({ language }) => language === 'sh')!.text;
    expect(commands.trim().split('\n')).toEqual(['npm ci', 'npm start -- --demo']);
    // what it says that a start prints, line by line, is what this one printed
    const shown = blocksOf('docs/quick-start.md').find(({ language }) => language === 'text')!.text;
    const labels = [...shown.matchAll(/^ {2}(\S+(?: \S+)?) {2,}/gm)].map(([, label]) => label!);
    const always = labels.filter((label) => label !== 'Administrator' && label !== 'Password');
    expect(always).toEqual(['Open', 'Manual', 'API reference', 'Data folder']);
    for (const label of always) expect(service.output()).toMatch(new RegExp(`^  ${label} {2,}\\S`, 'm'));
  });

  it('servicectl has every command that the manual names', async () => {
    const texts = globSync('**/*.md', { cwd: DOCS, exclude: ['.vitepress/**'] }).map((page) =>
      readFileSync(join(DOCS, page), 'utf8'),
    );
    const named = new Set(
      texts.flatMap((text) => [...text.matchAll(/servicectl ([a-z]+(?:-[a-z]+)*)/g)].map(([, name]) => name!)),
    );
    const { stdout } = await run(process.execPath, [join(ROOT, 'packages/server/bin/servicectl.cjs'), '--help']);
    const commands = new Set([...stdout.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name!));
    expect(named.size).toBeGreaterThan(5);
    expect([...named].filter((name) => !commands.has(name))).toEqual([]);
  });

  it('npm has every script that the manual and the README name', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
    const files = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
    const texts = files.map((file) => readFileSync(join(ROOT, file), 'utf8'));
    const named = new Set(
      texts.flatMap((text) => [...text.matchAll(/npm run ([a-z]+(?::[a-z]+)*)/g)].map(([, name]) => name!)),
    );
    expect([...named].filter((name) => !(name in scripts))).toEqual([]);
    const benches = readFileSync(join(ROOT, 'bench/run.ts'), 'utf8');
    const measured = new Set(
      texts.flatMap((text) => [...text.matchAll(/npm run bench -- ([a-z-]+)/g)].map(([, name]) => name!)),
    );
    expect(
      [...measured].filter(
        (name) => !benches.includes(`import('./`) || !new RegExp(`^ {2}'?${name}'?: `, 'm').test(benches),
      ),
    ).toEqual([]);
  });
});
