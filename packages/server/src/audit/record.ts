/**
 * Writes to the audit log, in the transaction of the change itself, so that neither exists without the other.
 *
 *     await record(trx, by, { action: 'project.delete', object: ['project', project.id, project.name] });
 *
 * Passwords, tokens and configuration that may hold some are never given to it.
 */
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

export async function record(trx: Executor, by: Origin, entries: Entry | Entry[]): Promise<void> {
  const rows = [entries].flat().map(({ action, object: [object_type, object_id, name], details = {} }) => ({
    ...{ action, object_type, object_id, object_name: briefText(name), details: shortDetails(details) },
  }));
  if (rows.length > 0) await insertRecords(trx, { ...by, address: briefText(by.address) }, rows);
}
