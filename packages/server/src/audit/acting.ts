/**
 * What an administrator does as somebody else: their changes look like the person's own everywhere but here, so that each
 * leaves a record, also one of which nothing is written down where people do it themselves.
 */
import type { Operation } from '@service/contract';

import type { Acting } from '../http/index.ts';
import { isRecorded, record } from './record.ts';
import type { Executor } from './store.ts';

export async function noteActing(db: Executor, by: Acting, operation: Operation, params: object): Promise<void> {
  if (isRecorded(by)) return;
  const object: ['user', number, string] = ['user', by.user.id, by.user.email];
  await record(db, by, { action: 'user.act_as', object, details: { operation: operation.id, ...params } });
}
