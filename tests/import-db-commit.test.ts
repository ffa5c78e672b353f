/** A server that is lost while it stores an import: the command does not know, says so, and the next run finds out. */
import { existsSync, readFileSync } from 'node:fs';
import net, { type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';

import { openExisting } from '../packages/server/test/support/existing-database.ts';
import { oneIn } from '../packages/server/test/support/long.ts';
import { startPostgres } from '../packages/server/test/support/postgres-server.ts';
import {
  addUnits,
  administer,
  copying,
  importScene,
  rowsIn,
  settingsFor,
  startImport,
  urlOf,
} from './support/importing.ts';
import { servicectl } from './support/processes.ts';

const scene = importScene();
const { connection, folder } = scene;

const UNKNOWN =
  "The service's own database went away while the import was being stored, so it may be complete or not there at all. " +
  'Make sure that its server runs, and run the same command again: it does the import, or says that it was done.';

const COMMIT = Buffer.from('Q\0\0\0\x0bcommit\0');

/** Lets everything through to the database but the commit of an import, and cuts the line there. */
async function cuttingLine(commitArrives: boolean): Promise<number> {
  const lines = new Set<Socket>();
  const server = net.createServer((near) => {
    const far = net.connect(connection.port, connection.host);
    for (const socket of [near, far]) {
      lines.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => [near, far].forEach((end) => end.destroy()));
    }
    let imports = false;
    let cut = false;
    far.on('data', (chunk) => cut || near.write(chunk));
    near.on('data', (chunk) => {
      imports ||= chunk.includes('insert into imports');
      if (!imports || !chunk.includes(COMMIT)) return far.write(chunk);
      cut = true;
      if (!commitArrives) return near.destroy();
      far.write(chunk);
      far.once('data', () => near.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of lines) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

describe('the line to the target breaks while the import is being stored', () => {
  // the server alone knows of it in the test below, too
  it.each(
    oneIn(2, [
      { name: 'before the server heard of it: the next run imports', arrives: false, says: 'Imported and verified.' },
      { name: 'after the server did: the next run says so', arrives: true, says: 'was imported already, on ' },
    ]),
  )('$name', async ({ arrives, says }) => {
    await scene.from.leave();
    const report = join(folder, `${scene.target}.json`);
    const port = await cuttingLine(arrives);
    const environment = { ...scene.environment, POSTGRES_PORT: String(port) };
    const command = startImport(scene.url(), folder, environment, ['--report', report]);
    expect(await command.ended).toBe(1);
    expect(command.output().trim()).toBe(UNKNOWN);
    expect([existsSync(report), existsSync(`${report}.part`)]).toEqual([false, false]);
    await expect
      .poll(() => scene.administer(`select from pg_stat_activity where datname = '${scene.target}'`), {
        timeout: 20_000,
      })
      .toEqual([]);
    expect((await scene.rowsInTarget()) > 0).toBe(arrives);
    const again = await scene.run(['--report', report]);
    expect(again).toMatchObject({ code: 0, err: '', out: expect.stringContaining(says) as unknown });
    // whoever asked for the report has it in the end
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({
      dry_run: false,
      tables: expect.arrayContaining([expect.objectContaining({ table: 'users', checksum: 'ok' })]) as unknown,
      rules: [],
    });
    expect(await scene.run(['--verify'])).toMatchObject({ code: 0, err: '' });
  });
});

describe('kill -9 of the target server while it commits', () => {
  it('is told as unknown; the server has the whole import after its recovery, and the next run says so', async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const from = await openExisting(connection);
    onTestFinished(() => from.drop());
    await addUnits(from, 50_000);
    await from.leave();
    await administer(server.connection, 'create database target');
    const url = urlOf(connection, from.name);
    const environment = { ...settingsFor(server.connection, 'target'), PGPASSWORD: connection.password! };
    const command = startImport(url, folder, environment);
    await copying(server.connection, 'target');
    // a commit waits, from now on, for a second server that does not exist
    await administer(server.connection, `alter system set synchronous_standby_names = 'nobody'`);
    await administer(server.connection, 'select pg_reload_conf()');
    await expect
      .poll(() => administer(server.connection, `select query from pg_stat_activity where wait_event = 'SyncRep'`), {
        timeout: 60_000,
      })
      .toEqual([{ query: 'commit' }]);
    await server.crash();
    expect(await command.ended).toBe(1);
    expect(command.output().trim()).toBe(UNKNOWN);
    await server.start();
    await administer(server.connection, 'alter system reset synchronous_standby_names');
    await administer(server.connection, 'select pg_reload_conf()');
    expect(await rowsIn(server.connection, 'target')).toBeGreaterThan(50_000);
    const again = (...args: string[]) => servicectl(['import-db', '--from', url, ...args], { folder, environment });
    expect(again()).toMatchObject({ code: 0, err: '', out: expect.stringContaining('imported already') as unknown });
    expect(again('--verify')).toMatchObject({ code: 0, err: '' });
  }, 180_000);
});
