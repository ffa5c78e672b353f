/** What the demo consists of beside its package. */
import { json } from '@sveltejs/kit';

import { demoOffer, requireDemo } from '#lib/server/demo.ts';

import type { RequestHandler } from './$types';

export const GET: RequestHandler = ({ locals }) =>
  json(demoOffer(requireDemo(locals.user).name), { headers: { 'cache-control': 'private, no-cache' } });
