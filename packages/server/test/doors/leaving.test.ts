/** Who asks and leaves before the answer: nothing stays open for them, in whatever order requests and ends come. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { oneIn } from '../support/long.ts';
import { addPerson, addProfile, addProject, type Person } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';
import { addJob } from '../support/tasks.ts';

const root = mkdtempSync(join(tmpdir(), 'service-leaving-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let service: TestService;
let person: Person;
let token: string;
let project: number;
let job: number;
beforeAll(async () => {
  const folder = join(root, 'folder');
  mkdirSync(folder);
  writeFileSync(join(folder, 'large'), randomBytes(8 * 2 ** 20));
  service = await startService({
    background: false,
    settings: { SERVICE_DATA_BASE_PATH: '/data/', SERVICE_DATA_DIR: join(root, 'data') },
  });
  person = await addPerson(service, await addProfile(service), { email: 'a@example.org', project_dirs: [folder] });
  project = await addProject(service, person, 'one');
  const fields = {
    project_id: project,
    workflow_id: null,
    dataset_id: null,
    status: 'done',
    working_dir: folder,
  } as const;
  job = await addJob(service, fields);
  token = await service.login(person.email, 'some-password');
});

/** On a machine with other work, a thousand answers take long; what is never given back is missed for longer. */
const LONG_ENOUGH_MS = 90_000;

const requestFor = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;

/** Sends a text, such as requests one behind the other, and leaves. */
async function sendAndLeave(text: string, afterMs: number): Promise<void> {
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.on('data', () => socket.pause());
  await new Promise<void>((resolve) => socket.write(text, () => resolve()));
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  socket.destroy();
}

it.each(
  oneIn<[string, () => string, number]>(
    2,
    [
      ['files', () => `/data/files${join(root, 'folder/large')}`, 1000],
      ['downloads', () => `/api/v2/project/${project}/job/${job}/download/`, 32],
      ['event streams', () => `/api/v2/project/${project}/events/`, 256],
    ],
    1,
  ),
)(
  '%s do not count for somebody who has left',
  async (_, path, most) => {
    for (const afterMs of [0, 1, 5, 50, 300]) {
      await Promise.all(Array.from({ length: most / 8 }, () => sendAndLeave(requestFor(path()).repeat(4), afterMs)));
    }
    const isFree = async () => {
      const left = new AbortController();
      const all = await Promise.all(
        Array.from({ length: most }, () =>
          // a machine that is busy may refuse connections
          fetch(service.url + path(), { headers: { authorization: `Bearer ${token}` }, signal: left.signal }).catch(
            () => ({ status: undefined }),
          ),
        ),
      );
      left.abort();
      return [...new Set(all.map(({ status }) => status))];
    };
    await expect.poll(isFree, { timeout: LONG_ENOUGH_MS, interval: 1000 }).toEqual([200]);
  },
  2 * LONG_ENOUGH_MS,
);

const BODIES: [string, string, string][] = [
  ['JSON', 'application/json', '{"name": "'],
  ['a form', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data; name="package"\r\n\r\np'],
  [
    'a form with a file',
    'multipart/form-data; boundary=b',
    '--b\r\nContent-Disposition: form-data; name="file"; filename="a-1-py3-none-any.whl"\r\n\r\nPK',
  ],
];

it.each(BODIES)(
  'large uploads do not count for somebody who has left: %s',
  async (_, type, body) => {
    const path =
      type === 'application/json' ? `/api/v2/project/${project}/dataset/import/` : '/api/v2/task/collect/pip/';
    const text =
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${type}\r\n` +
      `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`;
    for (const afterMs of [0, 1, 3, 5, 10, 50, 300]) {
      await Promise.all(Array.from({ length: 16 }, () => sendAndLeave(text, afterMs)));
    }
    const isFree = async () => {
      const chunk = () => new Blob(['{}']).stream();
      const all = await Promise.all(
        Array.from({ length: 32 }, () =>
          fetch(`${service.url}/api/v2/project/${project}/dataset/import/`, {
            ...{ method: 'POST', body: chunk(), duplex: 'half' },
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          }),
        ),
      );
      return [...new Set(all.map(({ status }) => status))];
    };
    await expect.poll(isFree, { timeout: LONG_ENOUGH_MS, interval: 1000 }).toEqual([422]);
  },
  2 * LONG_ENOUGH_MS,
);
