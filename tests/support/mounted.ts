/** Services with pages on the port of the API, each with a data folder of its own; all end with the file that uses them. */
import { join } from 'node:path';
import { afterAll } from 'vitest';

import { remove, ROOT, type Running, startService, temporaryFolder } from './processes.ts';

export const PASSWORD = 'mount-password';
export const READY = /answers at (http:\/\/\S+)/;
export const OPTIONS = ['--port', '0', '--admin-pwd', PASSWORD];

const running: Running[] = [];
const folders: string[] = [];

afterAll(async () => {
  for (const one of running) one.process.kill('SIGTERM');
  await Promise.all(running.map((one) => one.ended));
  for (const folder of folders) remove(folder);
});

export function newFolder(name: string): string {
  const folder = temporaryFolder(name);
  folders.push(folder);
  return folder;
}

/** Ends with the others. */
export function kept(one: Running): Running {
  running.push(one);
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
