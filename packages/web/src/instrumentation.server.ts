/**
 * Runs before the built server when it stands alone: gives it the environment it needs, each request the origin it was
 * sent to, and each answer its headers. Within the service the service does that.
 */
import { dev } from '$app/env';
import { ORIGIN } from '$app/env/private';
import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { dirname } from 'node:path';

import { headersFor } from '#lib/server/headers.ts';
import { markInUse } from '#lib/server/in-use.ts';
import { nameOrigin, schemeOf, serverEnvironment } from '#lib/server/request-origin.ts';

if (!dev) {
  markInUse(dirname(import.meta.dirname));
  for (const [name, value] of Object.entries(serverEnvironment(process.env))) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  subscribe('http.server.request.start', (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    nameOrigin(request, ORIGIN);
    const headers = headersFor(request.url ?? '/', schemeOf(request, process.env) === 'https');
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  });
}
