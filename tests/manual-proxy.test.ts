/** A web server of its own and an nginx before it, set up as the manual says. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { userInfo } from 'node:os';

import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';

import { freePort } from '../packages/server/src/db/free-port.ts';
import { ensureBuilt } from '../packages/server/src/web/build.ts';
import { exchanged, startBlock } from './support/manual-commands.ts';
import { blockOf } from './support/manual-texts.ts';
import { kept, newFolder, READY } from './support/mounted.ts';
import { ROOT, startCommand, startService } from './support/processes.ts';

const HOST = 'lab.example.org';
const folder = newFolder('manual-proxy');
let api: string;

beforeAll(async () => {
  await ensureBuilt();
  const service = kept(startService(['--port', '0', '--data-dir', join(folder, 'data')]));
  api = (await service.said(READY))[1]!;
}, 600_000);

/** The web server of the manual; ends with the test. */
async function startWeb(): Promise<number> {
  const port = await freePort();
  const config = join(folder, 'log.yaml');
  const log = exchanged(blockOf('docs/settings.md', 'appenders'), { '/var/log': folder });
  writeFileSync(config, log);
  const node = join(ROOT, 'node_modules/.bin/node');
  const web = startBlock(blockOf('docs/operate/proxy.md', 'npm run build:web'), {
    folder,
    cwd: ROOT,
    replace: { 'http://api.internal:8000': api, 'PORT=5173': `PORT=${port}` },
    environment: { LOG_CONFIG_FILE: config, HOST: '127.0.0.1' },
    standIns: { node: `[ "$1" = packages/web/build ] && echo $$ >"$STAND_INS/running.pid"; exec ${node} "$@"` },
  });
  onTestFinished(async () => void (await web.stop()));
  const answers = async () => (await fetch(`http://127.0.0.1:${port}/auth/login`).catch(() => undefined))?.status;
  await expect.poll(answers, { timeout: 100_000 }).toBe(200);
  return port;
}

/** nginx with the server of the manual, on other ports. */
async function startNginx(to: number) {
  const [plain, tls] = await Promise.all([freePort(), freePort()]);
  const certificates = join(folder, 'live');
  mkdirSync(certificates);
  const files = ['-keyout', join(certificates, 'privkey.pem'), '-out', join(certificates, 'fullchain.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...kind, '-subj', `/CN=${HOST}`, ...files], { stdio: 'pipe' });
  const server = exchanged(blockOf('docs/operate/proxy.md', 'ssl_certificate_key'), {
    'listen 80;': `listen 127.0.0.1:${plain};`,
    'listen 443 ': `listen 127.0.0.1:${tls} `,
    [`/etc/letsencrypt/live/${HOST}`]: certificates,
    'http://127.0.0.1:8000': `http://127.0.0.1:${to}`,
  });
  const config = join(folder, 'nginx.conf');
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const around = [`pid ${folder}/nginx.pid;`, 'daemon off;', 'error_log stderr notice;', 'events {}'];
  if (userInfo().uid === 0) around.unshift('user root;');
  writeFileSync(config, `${around.join('\n')}\nhttp {\naccess_log off;\n${paths.join('\n')}\n${server}}\n`);
  const environment = { PATH: `${process.env['PATH']}:/usr/sbin` };
  const options = ['-e', 'stderr', '-c', config];
  const checked = spawnSync('nginx', ['-t', ...options], { encoding: 'utf8', env: environment });
  expect([checked.status, checked.stderr]).toEqual([0, expect.stringContaining('test is successful')]);
  const nginx = startCommand('nginx', options, { environment });
  onTestFinished(async () => {
    nginx.process.kill('SIGQUIT');
    await nginx.ended;
  });
  await nginx.said(/start worker process/);
  return { plain, tls };
}

/** As a browser that finds the host at nginx. */
function curl({ plain, tls }: { plain: number; tls: number }, ...args: string[]) {
  const connect = [`${HOST}:80:127.0.0.1:${plain}`, `${HOST}:443:127.0.0.1:${tls}`].flatMap((to) => [
    '--connect-to',
    to,
  ]);
  const told = '%{stderr}%{http_code} %{http_version} %{redirect_url}';
  const { stdout, stderr } = spawnSync('curl', ['--silent', '--insecure', ...connect, '--write-out', told, ...args], {
    encoding: 'utf8',
  });
  const [status, version, redirect] = stderr.split(' ');
  return { status: Number(status), version, redirect, text: stdout };
}

describe('a web server of its own, behind nginx', () => {
  it('answers over TLS, with HTTP/2, and keeps its numbers inside', async () => {
    const ports = await startNginx(await startWeb());
    const get = (...args: string[]) => curl(ports, ...args);
    expect(get(`http://${HOST}/v2/projects?x=1`)).toMatchObject({
      status: 301,
      redirect: `https://${HOST}/v2/projects?x=1`,
    });
    expect(get(`https://${HOST}/api/alive/`)).toMatchObject({ status: 200, version: '2' });
    expect(get(`https://${HOST}/metrics`)).toMatchObject({ status: 403 });
    const page = get('--include', `https://${HOST}/auth/login`);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('<!doctype html>') as string });
    // the web server knows that people come by https
    expect(page.text).toMatch(/^strict-transport-security: /im);
    // more than nginx takes by itself; refused by the service, since nobody signed in
    const body = join(folder, 'body.json');
    writeFileSync(body, JSON.stringify({ name: 'x'.repeat(2_000_000) }));
    const json = ['--header', 'content-type: application/json', '--data-binary', `@${body}`];
    expect(get(...json, `https://${HOST}/api/v2/project/`).status).toBe(401);
    expect(readFileSync(join(folder, 'web.log'), 'utf8')).not.toBe('');
  });
});
