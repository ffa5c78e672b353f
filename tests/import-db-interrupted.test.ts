/** An import that is killed, or loses a server, at any moment: nothing half-written, and the same command works again. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { isProcessAlive } from '../packages/server/src/db/index.ts';
import { processesIn } from '../packages/server/src/db/processes.ts';
import { openExisting } from '../packages/server/test/support/existing-database.ts';
import { LONG } from '../packages/server/test/support/long.ts';
import { type PostgresServer, startPostgres } from '../packages/server/test/support/postgres-server.ts';
import {
  addUnits,
  administer,
  copying,
  dumpOf,
  importScene,
  rowsIn,
  settingsFor,
  startImport,
  urlOf,
} from './support/importing.ts';
import { servicectl } from './support/processes.ts';

const scene = importScene();
const { connection, folder } = scene;

const start = () => startImport(scene.url(), folder, scene.environment);

it('an interruption of the command or of a connection leaves the target empty, and the next import does it', async () => {
  const loseConnectionTo = async (database: string) =>
    void (await scene.administer(`select pg_terminate_backend(${await copying(connection, database)})`));
  const interruptions: [interrupt: (pid: number) => unknown, says: string][] = [
    [(pid) => process.kill(pid, 'SIGKILL'), ''],
    [() => loseConnectionTo(scene.from.name), 'The connection to the source database was lost. Nothing was imported.'],
    [
      () => loseConnectionTo(scene.target),
      "The connection to the service's own database was lost. Nothing was imported.",
    ],
  ];
  await addUnits(scene.from, 100_000);
  await scene.from.leave();
  for (const [interrupt, says] of interruptions) {
    const command = start();
    await copying(connection, scene.target);
    await interrupt(command.process.pid!);
    expect(await command.ended).toBe(says === '' ? 'SIGKILL' : 1);
    expect(command.output()).toContain(says);
    expect(command.output().trim().split('\n')).toHaveLength(1);
    await expect.poll(scene.rowsInTarget, { timeout: 20_000 }).toBe(0);
    await expect
      .poll(() => scene.administer(`select from pg_stat_activity where datname = '${scene.from.name}'`), {
        timeout: 20_000,
      })
      .toEqual([]);
  }
  expect(await scene.run([])).toMatchObject({ code: 0, err: '' });
}, 300_000);

/** In the middle in all runs, and in import-db-commit.test.ts while it is stored. */
describe.runIf(LONG)('a kill of the command at any moment', () => {
  it('leaves the target empty or whole, and the source as it was', async () => {
    await addUnits(scene.from, 30_000);
    await scene.from.leave();
    const before = dumpOf(connection, scene.from.name);
    const moments = [];
    for (let after = 400; ; after *= 1.7) {
      const command = start();
      const killed = setTimeout(() => command.process.kill('SIGKILL'), after);
      const how = await command.ended;
      clearTimeout(killed);
      const both = `('${scene.from.name}', '${scene.target}')`;
      await expect
        .poll(() => scene.administer(`select from pg_stat_activity where datname in ${both}`), { timeout: 20_000 })
        .toEqual([]);
      moments.push(await scene.rowsInTarget());
      // killed after the commit, or not at all
      if (how === 0 || moments.at(-1)! > 0) break;
    }
    expect(moments.length).toBeGreaterThan(2);
    expect(moments.slice(0, -1).every((rows) => rows === 0)).toBe(true);
    expect(await scene.run(['--verify'])).toMatchObject({ code: 0, err: '' });
    expect(dumpOf(connection, scene.from.name)).toBe(before);
  }, 300_000);
});

/** Each side has a server of its own here, which is killed and started again. */
describe('kill -9 of a whole database server', () => {
  const TARGET = 'target';
  let servers: Record<'source' | 'target', PostgresServer>;
  /** Nothing changes it. */
  let source: string;
  beforeAll(async () => {
    servers = { source: await startPostgres(), target: await startPostgres() };
    const from = await openExisting(servers.source.connection);
    await addUnits(from, 100_000);
    await from.leave();
    source = from.name;
  }, 120_000);
  afterAll(async () => {
    await servers.source.stop();
    await servers.target.stop();
  });

  async function arrange() {
    const { target } = servers;
    await administer(target.connection, `drop database if exists ${TARGET}`);
    await administer(target.connection, `create database ${TARGET}`);
    const url = urlOf(servers.source.connection, source);
    const environment = settingsFor(target.connection, TARGET);
    const again = (...args: string[]) => servicectl(['import-db', '--from', url, ...args], { folder, environment });
    return { url, environment, again };
  }

  /** What sequences give out next is skipped by a server that was killed: it is no content. */
  const contentOf = (database: string) =>
    dumpOf(servers.source.connection, database).replace(/^SELECT pg_catalog\.setval.*$/gm, '');

  it.runIf(LONG).each([
    ['source', 'The connection to the source database was lost.'],
    ['target', "The connection to the service's own database was lost."],
  ] as const)('of the %s, in the middle, leaves an empty target', async (which, says) => {
    const { url, environment, again } = await arrange();
    const before = contentOf(source);
    const command = startImport(url, folder, environment);
    await copying(servers.target.connection, TARGET);
    await servers[which].crash();
    expect(await command.ended).toBe(1);
    expect(command.output().trim()).toBe(
      `${says} Nothing was imported. Make sure that its server runs, and run the same command again.`,
    );
    const away = again();
    expect([away.code, away.out]).toEqual([1, '']);
    expect(away.err.trim().split('\n')).toHaveLength(1);
    await servers[which].start();
    expect(await rowsIn(servers.target.connection, TARGET)).toBe(0);
    expect(again()).toMatchObject({ code: 0, err: '' });
    expect(again('--verify')).toMatchObject({ code: 0, err: '' });
    expect(contentOf(source) === before).toBe(true);
  });

  it.runIf(LONG)(
    'of the target, at any moment, leaves it empty or whole, and says which where it is known',
    async () => {
      const { url, environment, again } = await arrange();
      const moments: { how: unknown; rows: number; said: string }[] = [];
      for (let after = 700; ; after *= 1.4) {
        const command = startImport(url, folder, environment);
        const crash = new Promise((resolve) => setTimeout(resolve, after)).then(() => servers.target.crash());
        const how = await command.ended;
        await crash;
        await servers.target.start();
        const rows = await rowsIn(servers.target.connection, TARGET);
        moments.push({ how, rows, said: command.output().trim() });
        if (how === 0 || rows > 0) break;
      }
      expect(moments.length).toBeGreaterThan(2);
      for (const { how, rows, said } of moments.slice(0, -1)) {
        expect([how, rows]).toEqual([1, 0]);
        expect(said.split('\n')).toHaveLength(1);
      }
      expect(again()).toMatchObject({ code: 0, err: '', out: expect.stringContaining('imported already') as unknown });
      expect(again('--verify')).toMatchObject({ code: 0, err: '' });
    },
    300_000,
  );

  it.runIf(LONG)('of the embedded database, in the middle: the same command starts it again, and imports', async () => {
    const { url, environment, again: _ } = await arrange();
    const data = join(folder, 'embedded');
    const own = { SERVICE_DATA_DIR: data, PGPASSWORD: environment['PGPASSWORD']! };
    const command = startImport(url, folder, own);
    await copying(servers.source.connection, url.split('/').at(-1)!);
    const place = join(data, 'postgres');
    const postmaster = Number(readFileSync(join(place, 'postmaster.pid'), 'utf8').split('\n')[0]);
    for (const pid of processesIn(place)) process.kill(pid, 'SIGKILL');
    expect(await command.ended).toBe(1);
    expect(command.output()).toContain('Nothing was imported');
    expect(isProcessAlive(postmaster)).toBe(false);
    const again = servicectl(['import-db', '--from', url], { folder, environment: own });
    expect(again).toMatchObject({
      code: 0,
      err: '',
      out: expect.stringContaining('Imported and verified.') as unknown,
    });
  });
});
