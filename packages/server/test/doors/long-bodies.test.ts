/** Bodies that are read by another thread are answered as short ones are, and what fails there fails alone. */
import { beforeAll, describe, expect, it } from 'vitest';

import { addPerson, addProfile, addProject, type Person } from '../support/plates.ts';
import { startService, type TestService } from '../support/server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
/** More than is read in place. */
const PAD = ' '.repeat(70_000);

let service: TestService;
let person: Person;
let project: number;
beforeAll(async () => {
  service = await startService({ settings: { SERVICE_MAX_BODY_VALUES: '20000' } });
  person = await addPerson(service, await addProfile(service));
  project = await addProject(service, person, 'long bodies');
});

const importing = () => `/api/v2/project/${project}/dataset/import/`;
const post = (path: string, body: string | Uint8Array) =>
  person.client.raw(path, { method: 'POST', body, headers: JSON_TYPE });

const IMAGE =
  '{"zarr_url": "/projects/p/d/1", "attributes": {"size": 1.0, "n": 12345678901234567890}, "types": {"a": true}}';
const dataset = (images: string, more = '') =>
  `{"name": "d", "zarr_dir": "/projects/p/d", "images": [${images}]${more}}`;

describe('a long body', () => {
  it.each([
    ['broken JSON', '{"name": "a" "b"}'],
    ['a wrong escape', '{"name": "\\x", "size": 1.0}'],
    ['a list', '[1.0]'],
    ['null', 'null'],
    [
      'what is missing and what is wrong',
      '{"name": 1, "images": [{"zarr_url": "x"}, 3, {"zarr_url": "/a", "types": {"a": "maybe"}}]}',
    ],
    ['an image that lies elsewhere', dataset('{"zarr_url": "/elsewhere/1"}')],
    ['an image twice', dataset(`${IMAGE},${IMAGE}`)],
    ['text that cannot be stored', dataset('{"zarr_url": "/projects/p/d/1", "attributes": {"a": "\\u0000"}}')],
    ['half of a surrogate pair in a key', dataset(IMAGE, ', "x\\ud800": 1')],
    ['too many levels', `${'['.repeat(501)}${']'.repeat(501)}`],
    ['another folder', '{"name": "d", "zarr_dir": "/not/yours", "images": []}'],
  ])('with %s is answered as a short one', async (_, body) => {
    const [short, long] = [await post(importing(), body), await post(importing(), body + PAD)];
    expect(short.status).toBeGreaterThanOrEqual(400);
    expect([long.status, long.body]).toEqual([short.status, short.body]);
  });

  it('that is not UTF-8 is refused', async () => {
    const bytes = Buffer.concat([Buffer.from('{"name": "'), Buffer.from([0xff]), Buffer.from(`"}${PAD}`)]);
    expect((await post(importing(), bytes)).status).toBe(400);
  });

  it('gives the same images, numbers as they were written', async () => {
    const exported = async (body: string) => {
      const { body: made } = await post(importing(), body);
      return (await person.client.get(`/api/v2/project/${project}/dataset/${made.id}/export/`)).text;
    };
    const body = dataset(`${IMAGE}, {"zarr_url": "/projects/p/d//2/", "attributes": {" b ": false}, "origin": "/x/"}`);
    const [short, long] = [await exported(body), await exported(body + PAD)];
    expect(long).toBe(short);
    expect(short).toContain('"size":1.0');
    expect(short).toContain('12345678901234567890');
    expect(short).toContain('"zarr_url":"/projects/p/d/2"');
  });

  it('changes the images that it names', async () => {
    const { body: made } = await post(importing(), dataset(`${IMAGE}, {"zarr_url": "/projects/p/d/2"}`));
    const images = `/api/v2/project/${project}/dataset/${made.id}/images/`;
    const change = (names: string[], pad = '') =>
      post(`${images}bulk/`, JSON.stringify({ zarr_urls: names, set_types: { seen: true } }) + pad);
    expect((await change(['/projects/p/d/1', '/projects/p/d/3'], PAD)).body).toEqual({ changed: 1 });
    expect((await change(['/projects/p/d/1', '/projects/p/d/2'])).body).toEqual({ changed: 2 });
  });

  it('is read with the schema of every operation', async () => {
    const body = `{"name": "long", "description": "${'x'.repeat(70_000)}"}`;
    const { status, body: made } = await person.client.raw(`/api/v2/project/${project}/workflow/`, {
      method: 'POST',
      body,
      headers: JSON_TYPE,
    });
    expect([status, made.description.length]).toEqual([201, 70_000]);
  });

  it('with more values than the settings allow is refused, short or long', async () => {
    const body = (count: number) => dataset('', `, "x": [${Array.from({ length: count }, () => 1).join(',')}]`);
    expect((await post(importing(), body(19_900))).status).toBe(201);
    const answer = await post(importing(), body(20_100));
    expect([answer.status, answer.body.detail]).toEqual([413, expect.stringContaining('20000')]);
  });
});

describe('who may not do it', () => {
  it('hears of wrong JSON first when the body is short, and of the token when it is long', async () => {
    const send = (body: string) => service.anyone.raw(importing(), { method: 'POST', body, headers: JSON_TYPE });
    expect((await send('{')).status).toBe(422);
    expect((await send('{}')).status).toBe(401);
    expect((await send(`{${PAD}`)).status).toBe(401);
  });

  it('is told when a body is larger than anyone may send', async () => {
    const form = new URLSearchParams({ username: 'x', password: 'y'.repeat(70_000) });
    const answer = await service.anyone.raw('/auth/token/login/', { method: 'POST', body: form });
    expect([answer.status, answer.headers.get('connection')]).toEqual([413, 'close']);
  });
});
