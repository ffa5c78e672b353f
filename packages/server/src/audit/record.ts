/**
 * Writes to the audit log, in the transaction of the change itself, so that neither exists without the other.
 *
 *     await record(trx, by, { action: 'project.delete', object: ['project', project.id, project.name] });
 *
 * Passwords, tokens and configuration that may hold some are never given to it.
 */
import { hostname, userInfo } from 'node:os';

import type { AuditAction, AuditObject } from '@service/contract';

import type { Origin } from '../http/index.ts';
import { brief, briefText, type Details } from './details.ts';
import { type Executor, insertRecords } from './store.ts';

export interface Entry {
  action: AuditAction;
  object: [type: AuditObject, id: number, name: string];
  details?: Details;
}

/** The record of a change of fields; nothing where they are as they were. */
export const ifChanged = (action: AuditAction, object: Entry['object'], details: Details): Entry[] =>
  Object.keys(details).length === 0 ? [] : [{ action, object, details }];

const shortDetails = (details: Details) =>
  Object.fromEntries(Object.entries(details).map(([field, value]) => [field, brief(value)]));

const recorded = new WeakSet<Origin>();

/** Whether something was written down for a request. */
export const isRecorded = (by: Origin): boolean => recorded.has(by);

export async function record(trx: Executor, by: Origin, entries: Entry | Entry[]): Promise<void> {
  const rows = [entries].flat().map(({ action, object: [object_type, object_id, name], details = {} }) => ({
    ...{ action, object_type, object_id, object_name: briefText(name), details: shortDetails(details) },
  }));
  if (rows.length === 0) return;
  await insertRecords(trx, { ...by, address: briefText(by.address) }, rows);
  recorded.add(by);
}

/** The account that runs this process may have no name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}

/** Whoever operates the service has no account here: their account of the machine is written down. */
export const operator = (via: 'servicectl' | 'start'): Origin => ({
  user: null,
  via,
  address: `${accountName()}@${hostname()}`,
});
