/** The service is killed at random moments of collection, deactivation and reactivation; nothing stays half-done. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, describe, expect, it } from 'vitest';

import { LONG } from '../packages/server/test/support/long.ts';
import { clientOf } from '../packages/server/test/support/server.ts';
import { remove, type Running, startService, temporaryFolder } from './support/processes.ts';
import { buildWheel, goodFiles, uploadForm } from './support/wheels.ts';

const KILLS = LONG ? 20 : 2;
const LATEST_KILL_MS = 2500;

const folder = temporaryFolder('faults');
const data = join(folder, 'data');
let running: Running;
afterAll(async () => {
  running.process.kill('SIGTERM');
  await running.ended;
  remove(folder);
});

async function start() {
  running = startService(['--port', '0', '--data-dir', data, '--admin-pwd', 'faults-password']);
  const [, url] = await running.said(/answers at (http:\/\/\S+)/);
  const login = await fetch(`${url}/auth/token/login/`, {
    method: 'POST',
    body: new URLSearchParams({ username: 'admin@example.org', password: 'faults-password' }),
  });
  const { access_token } = (await login.json()) as { access_token: string };
  return clientOf(url!, access_token);
}

interface Group {
  id: number;
  path: string;
  venv_path: string;
  active: boolean;
  task_list: { command_parallel: string }[];
}

const groupsOf = async (client: Awaited<ReturnType<typeof start>>): Promise<Group[]> =>
  ((await client.get('/api/v2/task-group/?all_groups=true')).body as [string, Group[]][]).flatMap(
    ([, groups]) => groups,
  );

/** Folders of task groups on disk: `<owner>/<package>/<version>`. */
function foldersOnDisk(): string[] {
  const base = join(data, 'tasks');
  const below = (path: string) => (existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : []);
  return below(base).flatMap(below).flatMap(below).sort();
}

describe('killed at a random moment', () => {
  it(
    `${KILLS} times, every activity ends, folders and flags tell the truth, and no group is blocked`,
    async () => {
      let client = await start();
      const activities: number[] = [];
      for (let kill = 0; kill < KILLS; kill++) {
        const [group] = (await groupsOf(client)).slice(-1);
        const action = group === undefined || kill % 3 === 0 ? 'collect' : group.active ? 'deactivate' : 'reactivate';
        const version = `1.0.${kill}`;
        const asked =
          action === 'collect'
            ? await client.raw('/api/v2/task/collect/pip/', {
                method: 'POST',
                body: uploadForm(buildWheel(folder, { name: 'faulty', version, files: goodFiles('faulty') })),
              })
            : await client.post(`/api/v2/task-group/${group!.id}/${action}/`);
        expect([action, asked.status]).toEqual([action, 202]);
        activities.push(asked.body.id as number);
        await sleep(Math.random() * (action === 'deactivate' ? 300 : LATEST_KILL_MS));
        running.process.kill('SIGKILL');
        await running.ended;
        client = await start();
        const status = async () =>
          (await client.get(`/api/v2/task-group/activity/${asked.body.id}/`)).body.status as string;
        await expect.poll(status, { timeout: 60_000, interval: 200 }).toMatch(/^(OK|failed)$/);
        for (const one of await groupsOf(client)) {
          expect([one.id, one.active]).toEqual([one.id, existsSync(join(one.venv_path, 'bin/python'))]);
        }
      }
      const all = (await client.get('/api/v2/task-group/activity/?log=false')).body as {
        id: number;
        status: string;
        timestamp_ended: string | null;
      }[];
      expect(all.filter(({ status }) => status !== 'OK')).toEqual([]);
      expect(all.every(({ timestamp_ended }) => timestamp_ended !== null)).toBe(true);
      const groups = await groupsOf(client);
      expect(foldersOnDisk()).toEqual(groups.map(({ path }) => path).sort());
      expect(groups.every(({ task_list }) => task_list.length === 1)).toBe(true);
      await expect.poll(() => readdirSync(join(data, 'uploads'))).toEqual([]);

      for (const group of groups) {
        const asked = await client.post(`/api/v2/task-group/${group.id}/delete/`);
        expect(asked.status).toBe(202);
        const status = async () =>
          (await client.get(`/api/v2/task-group/activity/${asked.body.id}/`)).body.status as string;
        await expect.poll(status, { timeout: 30_000, interval: 100 }).toBe('OK');
      }
      expect(foldersOnDisk()).toEqual([]);
    },
    KILLS * 70_000,
  );
});
