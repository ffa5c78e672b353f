/** Services with pages on the port of the API, each with a data folder of its own; all end with the file that uses them. */
import { join } from 'node:path';

import { atFileEnd, temporaryFolder } from '../../packages/server/test/support/file-end.ts';
import { ROOT, type Running, startService } from './processes.ts';

export const PASSWORD = 'mount-password';
export const READY = /answers at (http:\/\/\S+)/;
export const OPTIONS = ['--port', '0', '--admin-pwd', PASSWORD];

export const newFolder = temporaryFolder;

/** Ends with the file. */
export function kept(one: Running): Running {
  atFileEnd(async () => {
    one.process.kill('SIGTERM');
    await one.ended;
  });
  return one;
}

export function start(environment: Record<string, string> = {}, options: string[] = [], folder = ROOT): Running {
  const args = [...OPTIONS, '--data-dir', join(newFolder('mount'), 'data'), ...options];
  return kept(startService(args, { environment: { SERVICE_WEB_CLIENT: 'true', ...environment }, folder }));
}

export interface Sent extends Omit<RequestInit, 'headers'> {
  headers?: Record<string, string>;
}

export const send = (to: string, path: string, init: Sent = {}) => fetch(to + path, { redirect: 'manual', ...init });

/** Only pages and files of the client have these. */
export const isOfClient = (response: Response) => response.headers.get('x-frame-options') === 'deny';
