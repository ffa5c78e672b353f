/** Refuses what the page of another web site makes a browser do with the cookie of whoever opened it. */
import type { FastifyRequest } from 'fastify';

import { isBrowser, isOfForeignPage, type Operation, senderOf } from '@service/contract';

import { refuse, type Refusal } from './refusal.ts';

const OTHER_SITE = 'This request came from another web site. Repeat it in the client itself.';
const BY_NAVIGATION = 'This address does something and is not a page to open. Use the button in the client.';

export interface Site {
  /** Origins of other pages that may change things. */
  trustedOrigins: readonly string[];
  /** Pages are on the same origin, so that a script in one of them could call what only forms of the client may. */
  besidePages: boolean;
}

/** For operations that change something, where no header carries the token: that is what other sites cannot send. */
export function foreignPageProblem(operation: Operation, request: FastifyRequest, site: Site): Refusal | undefined {
  if (operation.method === 'GET' && !operation.unsafeGet) return undefined;
  const sender = senderOf((name) => request.headers[name]?.toString());
  const opensIt = sender.mode === 'navigate' || (site.besidePages && isBrowser(sender));
  if (operation.unsafeGet && opensIt) return refuse(403, BY_NAVIGATION);
  const own = { host: request.host, trusted: site.trustedOrigins };
  return isOfForeignPage(sender, own) ? refuse(403, OTHER_SITE) : undefined;
}
