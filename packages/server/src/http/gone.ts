/** Who asked and does not wait for the answer any more. */
import type { FastifyReply } from 'fastify';

import { guarded, ignored } from '../guard.ts';
import { refuse } from './refusal.ts';

/** Aborted when the client goes away before it is answered. */
export function untilGone({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!raw.writableFinished) controller.abort(refuse(499, 'The client is gone.'));
  };
  if (raw.closed) onClose();
  else raw.once('close', guarded(onClose, ignored));
  return controller.signal;
}
