/** Whoever came over TLS is told to stay there, and nobody else. */
import { beforeAll, describe, expect, it } from 'vitest';

import { startService, type TestService } from '../support/server.ts';

const YEAR = 'max-age=31536000';
const FORWARDED = { 'x-forwarded-proto': 'https' };

let plain: TestService;
let proxied: TestService;
let fixed: TestService;
beforeAll(async () => {
  plain = await startService();
  proxied = await startService({ settings: { SERVICE_TRUSTED_PROXIES: '127.0.0.1' } });
  fixed = await startService({ settings: { ORIGIN: 'https://lab.example.org/' } });
});

describe.each(['/api/alive/', '/auth/current-user/', '/nothing', '/docs', '/metrics'])('%s', (path) => {
  it.each<[string, () => TestService, Record<string, string>, string | null]>([
    ['on plain http says nothing', () => plain, {}, null],
    ['does not believe everybody who says https', () => plain, FORWARDED, null],
    ['believes a trusted proxy', () => proxied, FORWARDED, YEAR],
    ['behind a trusted proxy on plain http says nothing', () => proxied, { 'x-forwarded-proto': 'http' }, null],
    ['knows the address that people use', () => fixed, {}, YEAR],
  ])('%s', async (_, service, headers, expected) =>
    expect((await service().anyone.get(path, { headers })).headers.get('strict-transport-security')).toBe(expected),
  );
});
