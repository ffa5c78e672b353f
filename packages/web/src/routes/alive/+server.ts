/** For watchdogs: this server and, beside it, the API. The names are those that existing ones read. */
import { json } from '@sveltejs/kit';

import { apiVersion } from '#lib/server/api.ts';

import { version } from '../../../package.json';
import type { RequestHandler } from './$types';

export const trailingSlash = 'ignore';

export const GET: RequestHandler = async () => {
  const api = await apiVersion();
  return json({
    alive: true,
    version,
    fractal_server_alive: api !== undefined,
    fractal_server_version: api ?? null,
  });
};
