/** The builds of the web client: when one is made, by whom, which one is served, and how long it is kept. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { freePort } from '../packages/server/src/db/free-port.ts';
import { ensureBuilt } from '../packages/server/src/web/build.ts';
import { currentBuild } from '../packages/server/src/web/builds.ts';
import { alone } from '../packages/server/src/web/claim.ts';
import { CLIENT } from '../packages/server/src/web/kinds.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { isOfClient, kept, newFolder, READY, send, start } from './support/mounted.ts';
import { ROOT, startCommand } from './support/processes.ts';

/** What a stand-in for Vite does: says that it builds, and writes what is given into the folder that it is told. */
const viteThatWrites = (files: Record<string, string>, more = '') => `
  const fs = require('node:fs');
  const { join } = require('node:path');
  const out = process.env.WEB_BUILD_FOLDER;
  fs.appendFileSync('builds', 'x');
  fs.mkdirSync(out, { recursive: true });
  const files = ${JSON.stringify(files)};
  setTimeout(() => {
    for (const [name, text] of Object.entries(files)) fs.writeFileSync(join(out, name), text);
    ${more}
  }, 50);`;
const BUILDS = viteThatWrites({ 'handler.js': '' });
const FAILS = `console.error('slow plugins\\nerror during build:\\nsrc/page.ts is broken'); process.exit(1);`;
const NEVER_ENDS = 'setInterval(() => undefined, 1000);';

function putVite(place: string, text: string): void {
  mkdirSync(join(place, 'vite/bin'), { recursive: true });
  writeFileSync(join(place, 'vite/package.json'), '{"name": "vite"}');
  writeFileSync(join(place, 'vite/bin/vite.js'), text);
}

/** The package of a client that a stand-in for Vite builds. */
function newPackage(vite?: string): string {
  const root = newFolder('mount-build');
  const folder = join(root, 'packages/web');
  for (const place of ['packages/web/src', 'packages/contract/src', 'packages/demo-tasks', 'docs/guide'])
    mkdirSync(join(root, place), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  writeFileSync(join(folder, 'src/page.ts'), '');
  if (vite !== undefined) putVite(join(root, 'node_modules'), vite);
  return folder;
}

const countOf = (folder: string) => readFileSync(join(folder, 'builds'), 'utf8').length;
const namesIn = (folder: string) => readdirSync(join(folder, 'build')).filter((name) => name !== 'package.json');
const change = (folder: string) => writeFileSync(join(folder, 'src/page.ts'), String(Math.random()));

describe('a build', () => {
  it('is made once, and again when something changed, came or went', async () => {
    const folder = newPackage(BUILDS);
    const first = await ensureBuilt({ folder });
    expect(await ensureBuilt({ folder })).toBe(first);
    // as after a checkout: touched is not changed
    utimesSync(join(folder, 'src/page.ts'), new Date(), new Date());
    expect(await ensureBuilt({ folder })).toBe(first);
    expect(countOf(folder)).toBe(1);
    const seen = new Set([first]);
    const sources = ['src/page.ts', 'src/new.ts', 'package.json', 'vite.config.ts', '../contract/src/user.ts'];
    const others = ['../demo-tasks/task.py', '../../docs/guide/start.md', '../../package-lock.json'];
    for (const source of [...sources, ...others]) {
      writeFileSync(join(folder, source), '{"changed": 1}');
      seen.add(await ensureBuilt({ folder }));
    }
    rmSync(join(folder, 'src/page.ts'));
    seen.add(await ensureBuilt({ folder }));
    expect([seen.size, countOf(folder)]).toEqual([10, 10]);
  });

  it('is found again when its sources are back', async () => {
    const folder = newPackage(BUILDS);
    const first = await ensureBuilt({ folder });
    change(folder);
    const second = await ensureBuilt({ folder });
    expect(currentBuild({ ...CLIENT, folder })).toBe(second);
    writeFileSync(join(folder, 'src/page.ts'), '');
    expect(await ensureBuilt({ folder })).toBe(first);
    expect([currentBuild({ ...CLIENT, folder }), countOf(folder)]).toEqual([first, 2]);
  });

  it('is made by one of several that start together', async () => {
    const folder = newPackage(BUILDS);
    const builds = await Promise.all([1, 2, 3].map(() => ensureBuilt({ folder })));
    expect([new Set(builds).size, countOf(folder)]).toEqual([1, 1]);
  });

  it('is taken as it is where nothing can build', async () => {
    const [folder, poor] = [newPackage(BUILDS), newPackage()];
    await expect(ensureBuilt({ folder: poor })).rejects.toThrow('not installed');
    const made = await ensureBuilt({ folder });
    cpSync(join(folder, 'build'), join(poor, 'build'), { recursive: true });
    change(poor);
    expect(await ensureBuilt({ folder: poor })).toBe(join(poor, 'build', basename(made)));
  });

  it('that fails says why, and the next one may try', async () => {
    const folder = newPackage(FAILS);
    for (const _ of [1, 2]) await expect(ensureBuilt({ folder })).rejects.toThrow(/^src\/page.ts is broken$/);
  });

  it('that is half made is no build, and does not stay', async () => {
    const [folder, poor] = [newPackage(viteThatWrites({ 'handler.js': 'half' }, 'process.exit(1);')), newPackage()];
    await expect(ensureBuilt({ folder })).rejects.toThrow('vite ended with 1');
    expect(currentBuild({ ...CLIENT, folder })).toBeUndefined();
    cpSync(join(folder, 'build'), join(poor, 'build'), { recursive: true });
    await expect(ensureBuilt({ folder: poor })).rejects.toThrow('not built');
    putVite(join(folder, '../../node_modules'), BUILDS);
    const made = await ensureBuilt({ folder });
    expect(readFileSync(join(made, 'handler.js'), 'utf8')).toBe('');
    expect(namesIn(folder)).toEqual([basename(made)]);
  });

  it('of sources that changed meanwhile is used, but not again', async () => {
    const folder = newPackage(viteThatWrites({ 'handler.js': '' }, `fs.writeFileSync('src/page.ts', 'changed');`));
    const mixed = await ensureBuilt({ folder });
    expect(existsSync(join(mixed, 'handler.js'))).toBe(true);
    writeFileSync(join(folder, 'src/page.ts'), '');
    const [again, steady] = [await ensureBuilt({ folder }), await ensureBuilt({ folder })];
    expect(again).not.toBe(mixed);
    expect([steady, await ensureBuilt({ folder })]).not.toContain(again);
    expect(await ensureBuilt({ folder })).toBe(steady);
  });

  it('ends with the service', async () => {
    const folder = newPackage(NEVER_ENDS);
    await expect(ensureBuilt({ folder, signal: AbortSignal.timeout(500) })).rejects.toThrow();
  });

  it('is kept while it is the current one, the one before, or in use', async () => {
    const folder = newPackage(BUILDS);
    const ended = startCommand('true', []);
    await ended.ended;
    const DAYS = 24 * 3600_000;
    const marks: [string, number][] = [
      [`${hostname()} ${process.pid}`, 0],
      [`${hostname()} ${ended.process.pid}`, 0],
      ['elsewhere 1', 0],
      ['elsewhere 1', 2 * DAYS],
    ];
    const builds: string[] = [];
    for (const [mark, age] of marks) {
      change(folder);
      const build = await ensureBuilt({ folder });
      mkdirSync(join(build, 'used-by'));
      writeFileSync(join(build, 'used-by/somebody'), mark);
      const time = new Date(Date.now() - age);
      utimesSync(join(build, 'used-by/somebody'), time, time);
      builds.push(basename(build));
    }
    for (const _ of ['one before', 'current']) {
      change(folder);
      builds.push(basename(await ensureBuilt({ folder })));
    }
    const [here, , elsewhere, , before, current] = builds;
    expect(new Set(builds).size).toBe(6);
    expect(new Set(namesIn(folder))).toEqual(new Set([here, elsewhere, before, current]));
  });
});

describe('a lock', () => {
  const newLock = () => ({ file: join(newFolder('mount-lock'), 'lock'), longestMs: 60_000 });

  it('that somebody left keeps nobody waiting', async () => {
    const lock = newLock();
    const child = startCommand('true', []);
    await child.ended;
    writeFileSync(lock.file, `${hostname()} ${child.process.pid}`);
    expect(await alone(lock, () => Promise.resolve('done'))).toBe('done');
  });

  it('that somebody holds is waited for', async () => {
    const lock = newLock();
    const order: string[] = [];
    const first = alone(lock, async () => {
      await sleep(300);
      order.push('first');
    });
    await alone(lock, () => Promise.resolve(order.push('second')));
    await first;
    expect(order).toEqual(['first', 'second']);
  });
});

/** A checkout of the service, with a client that a stand-in for Vite builds. */
function newCheckout(vite?: string): { checkout: string; folder: string } {
  const checkout = newFolder('mount-checkout');
  const folder = join(checkout, 'packages/web');
  mkdirSync(join(checkout, 'packages'));
  for (const part of ['contract', 'server'])
    cpSync(join(ROOT, 'packages', part), join(checkout, 'packages', part), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
  symlinkSync(join(ROOT, 'node_modules'), join(checkout, 'node_modules'));
  if (vite !== undefined) {
    mkdirSync(join(folder, 'src'), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    putVite(join(folder, 'node_modules'), vite);
  }
  return { checkout, folder };
}

/** A client whose one page is read from its build when it is asked for. */
const clientThatSays = (page: string) => ({
  page,
  'handler.js': `
    import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
    const { build } = globalThis[Symbol.for('service.web')];
    mkdirSync(build + '/used-by', { recursive: true });
    writeFileSync(build + '/used-by/' + process.pid, '${hostname()} ' + process.pid);
    globalThis[Symbol.for('service.web')].client = { headers: () => ({}), sessionCookie: 'fastapiusersauth' };
    const page = () => readFileSync(new URL('page', import.meta.url), 'utf8') + ' ' + process.env.SERVICE_SERVER_HOST;
    export const handler = (request, response) => void response.end(page());`,
});
const pageOf = async (address: string) => (await send(address, '/')).text();

describe('a service', () => {
  it('builds at its start while the API answers, and pages say so', async () => {
    const wait = `if (!fs.existsSync('go')) return void setTimeout(end, 50);`;
    const vite = viteThatWrites(clientThatSays('first'), 'process.exit(0);');
    const { checkout, folder } = newCheckout(vite.replace('setTimeout(() => {', `setTimeout(function end() { ${wait}`));
    const port = await freePort();
    const service = start({}, ['--port', String(port)], checkout);
    const address = `http://127.0.0.1:${port}`;
    await service.said(/^Building the web client, once, about half a minute/m);
    expect((await send(address, '/api/alive/')).status).toBe(200);
    const early = await send(address, '/v2/projects');
    expect([early.status, early.headers.get('refresh'), await early.text()]).toEqual([
      503,
      '3',
      expect.stringContaining('is being built'),
    ]);
    writeFileSync(join(folder, 'go'), '');
    await service.said(/^ {2}Open/m);
    // what the client had to know is not in the environment of tasks afterwards
    expect(await pageOf(address)).toBe('first undefined');
  });

  it.runIf(LONG)('keeps the pages it started with, whatever is built later', async () => {
    const { checkout, folder } = newCheckout(viteThatWrites(clientThatSays('first')));
    const services = [start({}, [], checkout), start({}, [], checkout)];
    const addresses = await Promise.all(services.map(async (one) => (await one.said(READY))[1]!));
    expect([await Promise.all(addresses.map(pageOf)), countOf(folder)]).toEqual([
      ['first undefined', 'first undefined'],
      1,
    ]);
    for (const page of ['second', 'third', 'fourth']) {
      putVite(join(folder, 'node_modules'), viteThatWrites(clientThatSays(page)));
      change(folder);
      await ensureBuilt({ folder });
    }
    expect(await Promise.all(addresses.map(pageOf))).toEqual(['first undefined', 'first undefined']);
    services[0]!.process.kill('SIGTERM');
    await services[0]!.ended;
    const [, address] = await start({}, [], checkout).said(READY);
    expect([await pageOf(address!), await pageOf(addresses[1]!)]).toEqual(['fourth undefined', 'first undefined']);
  });

  it.runIf(LONG)('uses the earlier build when there can be no new one', async () => {
    const { checkout, folder } = newCheckout(viteThatWrites(clientThatSays('earlier')));
    await ensureBuilt({ folder });
    putVite(join(folder, 'node_modules'), FAILS);
    change(folder);
    const service = start({}, [], checkout);
    const [, address] = await service.said(READY);
    expect(service.output()).toMatch(
      /^The web client could not be built: src\/page\.ts is broken\. Its earlier build/m,
    );
    expect(await pageOf(address!)).toBe('earlier undefined');
  });

  it.runIf(LONG)('stops though a build takes long', async () => {
    const { checkout } = newCheckout(NEVER_ENDS);
    const service = start({}, [], checkout);
    await service.said(/^Building the web client/m);
    service.process.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(service.output()).not.toContain('could not be started');
  });

  it.runIf(LONG)('starts without pages when there is no client', async () => {
    const { checkout } = newCheckout();
    const service = start({}, [], checkout);
    const [, address] = await service.said(READY);
    expect(service.output()).toMatch(/^The web client could not be started: .+ start with --no-web\.$/m);
    expect((await send(address!, '/api/alive/')).status).toBe(200);
    expect((await send(address!, '/')).status).toBe(404);
  });
});

describe('the real build', () => {
  const NODE = join(ROOT, 'node_modules/.bin/node');

  it.runIf(LONG)('is marked while a service uses it', async () => {
    const service = start();
    await service.said(READY);
    const mark = join(await ensureBuilt(), 'used-by', `${hostname()}-${service.process.pid}`);
    expect(existsSync(mark)).toBe(true);
    service.process.kill('SIGTERM');
    await service.ended;
    expect(existsSync(mark)).toBe(false);
  });

  it('stands alone wherever it is copied to: npm run build:web, node packages/web/build', async () => {
    const command = startCommand('npm', ['run', 'build:web']);
    expect(await command.ended, command.output()).toBe(0);
    const [, name] = await command.said(/^packages\/web\/build\/([0-9a-f]{16}) (is built|was there already)\./m);
    const copy = join(newFolder('web-alone'), 'build');
    mkdirSync(copy);
    for (const part of ['package.json', name!])
      cpSync(join(ROOT, 'packages/web/build', part), join(copy, part), { recursive: true });
    const environment = {
      SERVICE_SERVER_HOST: 'http://127.0.0.1:9',
      SERVICE_RUNNER_BACKEND: 'local',
      HOST: '127.0.0.1',
      PORT: '0',
    };
    const web = kept(startCommand(NODE, [copy], { environment }));
    const [, address] = await web.said(/Listening on (http:\/\/\S+)/);
    const home = await send(address!, '/', { headers: { accept: 'text/html' } });
    expect([home.status, isOfClient(home)]).toEqual([200, true]);
    const mark = join(copy, name!, 'used-by', `${hostname()}-${web.process.pid}`);
    expect(readFileSync(mark, 'utf8')).toBe(`${hostname()} ${web.process.pid}`);
  });
});
