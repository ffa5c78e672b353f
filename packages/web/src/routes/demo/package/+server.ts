/** The wheel of the demo's tasks, as it is to be uploaded for collection. */
import { requireDemo } from '#lib/server/demo.ts';

import type { RequestHandler } from './$types';

export const GET: RequestHandler = ({ locals }) => {
  const { name, base64 } = requireDemo(locals.user);
  return new Response(Buffer.from(base64, 'base64'), {
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'private, no-cache',
    },
  });
};
