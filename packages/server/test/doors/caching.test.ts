/** Answers are for one person at one moment: nothing on the way, and no disk, keeps them. Files are kept and asked for. */
import { request } from 'node:http';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';

import { dataFolder, type Lab, openLab, until } from '../support/lab.ts';
import { type Client, startService, type TestService } from '../support/server.ts';

const KEPT = 'private, no-cache';

let service: TestService;
let lab: Lab;
let client: Client;

beforeAll(async () => {
  service = await startService({ settings: { SERVICE_DATA_DIR: dataFolder() } });
  lab = await openLab(service);
  ({ client } = lab.owner);
});

describe('an answer', () => {
  it.each([
    ['/api/alive/', 200],
    ['/api/v2/project/', 200],
    ['/auth/current-user/', 200],
    ['/admin/v2/job/', 403],
    ['/api/v2/project/999999/', 404],
    ['/api/v2/project/x/', 422],
    ['/nowhere/', 404],
    ['/openapi.json', 200],
    ['/metrics', 200],
    ['/docs', 200],
  ])('of %s with %i is not kept', async (path, status) => {
    const answer = await client.get(path);
    expect([answer.status, answer.headers.get('cache-control'), answer.headers.get('etag')]).toEqual([
      status,
      'no-store',
      null,
    ]);
  });

  it('that refuses is not kept either: without a token, for another method, for a body that is no JSON, a sign-in', async () => {
    const answers = [
      await service.anyone.get('/api/v2/project/'),
      await client.delete('/api/alive/'),
      await client.raw('/api/v2/project/', {
        method: 'POST',
        body: '{',
        headers: { 'content-type': 'application/json' },
      }),
      await service.anyone.raw('/auth/token/login/', {
        method: 'POST',
        body: new URLSearchParams({ username: 'x', password: 'y' }),
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 405, 422, 400]);
    for (const { headers } of answers) expect(headers.get('cache-control')).toBe('no-store');
  });

  it('to what is not HTTP is not kept', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.end('NONSENSE\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toMatch(/^HTTP\/1\.1 400 [^]*\r\ncache-control: no-store\r\n/i);
  });

  it('that never ends is not kept', async () => {
    const headers = {
      authorization: `Bearer ${await service.login(lab.owner.email, (lab.owner as { password?: string }).password ?? '')}`,
    };
    const stream = await new Promise<string | undefined>((resolve, reject) => {
      const asked = request(`${service.url}${lab.base}/events/`, { headers }, (answer) => {
        resolve(answer.headers['cache-control']);
        answer.destroy();
      });
      asked.on('error', reject);
      asked.end();
    });
    expect(stream).toBe('no-store, no-transform');
  });
});

describe('a file', () => {
  /** Asked for twice: the second time it is known, until something changes. */
  async function expectKept(path: string, change: () => Promise<unknown>, who = client): Promise<void> {
    const first = await who.get(path);
    const etag = first.headers.get('etag')!;
    expect([path, first.status, first.headers.get('cache-control'), etag]).toEqual([
      path,
      200,
      KEPT,
      expect.stringMatching(/^"[\w-]+"$/),
    ]);
    for (const known of [etag, `"other", W/${etag}`, '*']) {
      const again = await who.get(path, { headers: { 'if-none-match': known } });
      expect([again.status, again.text, again.headers.get('etag'), again.headers.get('cache-control')]).toEqual([
        304,
        '',
        etag,
        KEPT,
      ]);
    }
    await change();
    const changed = await who.get(path, { headers: { 'if-none-match': etag } });
    expect([changed.status, changed.headers.get('etag') === etag]).toEqual([200, false]);
    const stranger = await service.anyone.get(path, { headers: { 'if-none-match': etag } });
    expect([stranger.status, stranger.headers.get('cache-control')]).toEqual([401, 'no-store']);
  }

  it.each([
    ['another image', (path: string) => client.post(`${path}images/`, { zarr_url: lab.urlOf('new') })],
    ['an image less', (path: string) => client.delete(`${path}images/?zarr_url=${encodeURIComponent(lab.urlOf('a'))}`)],
    [
      'another value',
      (path: string) => client.patch(`${path}images/`, { zarr_url: lab.urlOf('a'), attributes: { x: 2 } }),
    ],
    ['another name', (path: string) => client.patch(path, { name: 'Other' })],
  ])('with the images of a dataset is the same until there is %s', async (_, change) => {
    const path = `${lab.base}/dataset/${await lab.dataset([{ zarr_url: 'a', attributes: { x: 1 } }, 'b'])}/`;
    await expectKept(`${path}export/`, async () => expect((await change(path)).status).toBeLessThan(300));
  });

  it('with images in a form of one’s choice has a tag too', async () => {
    const path = `${lab.base}/dataset/${await lab.dataset(['a'])}/images/export/?format=`;
    const tags = new Set<string | null>();
    for (const format of ['csv', 'json']) {
      const { headers, status } = await client.post(`${path}${format}`, {});
      expect([status, headers.get('cache-control')]).toEqual([200, KEPT]);
      tags.add(headers.get('etag'));
    }
    expect(tags.size).toBe(2);
  });

  it('with a workflow is the same until the workflow changes', async () => {
    const flow = await lab.workflow([{ type: 'parallel' }]);
    const path = `${lab.base}/workflow/${flow.id}/`;
    await expectKept(`${path}export/`, () => client.patch(`${path}wftask/${flow.steps[0]}/`, { alias: 'Other' }));
  });

  it('with all accounts is the same until there is another one', async () => {
    const change = () => service.person({ profile_id: lab.profile_id });
    await expectKept('/admin/v2/users-csv/', change, service.admin);
  });

  it('with what a job left is kept when it is complete, and not while it is being made', async () => {
    const flow = await lab.workflow([{ type: 'parallel', plan: { '*': { print: 'done' } } }]);
    const job = await lab.run(flow, await lab.dataset(['a']));
    await lab.members(job);
    const path = `${lab.base}/job/${job.id}/download/`;
    const first = await client.get(path);
    const etag = first.headers.get('etag')!;
    expect([first.status, first.headers.get('cache-control'), etag]).toEqual([200, KEPT, expect.any(String)]);
    expect((await client.get(path, { headers: { 'if-none-match': etag } })).status).toBe(304);

    const waiting = await lab.workflow([{ type: 'parallel', plan: { '*': { sleep: 60 } } }]);
    const { body } = await lab.submit(waiting, await lab.dataset(['a']));
    const unfinished = await until('a folder', async () => {
      const answer = await client.get(`${lab.base}/job/${body.id}/download/`);
      return answer.status === 200 ? answer : undefined;
    });
    expect([unfinished.headers.get('cache-control'), unfinished.headers.get('etag')]).toEqual(['no-store', null]);
    await client.get(`${lab.base}/job/${body.id}/stop/`);
    await lab.end(body.id);
  });
});
