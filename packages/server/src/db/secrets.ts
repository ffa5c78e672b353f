/** Secrets that the service makes for itself, once, and keeps in its data folder. */
import { randomBytes } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const fileOf = (dataDir: string, name: string) => join(dataDir, 'secrets', name);

export const isSecretKept = (dataDir: string, name: string): boolean => existsSync(fileOf(dataDir, name));

const madeUp = () => randomBytes(32).toString('base64url');

/**
 * The secret with this name; made, or taken as given, when it is not there yet. Two processes that start together agree on
 * one.
 */
export function keptSecret(dataDir: string, name: string, make: () => string = madeUp): string {
  const folder = join(dataDir, 'secrets');
  const file = fileOf(dataDir, name);
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${name}-${randomBytes(6).toString('hex')}`);
  writeFileSync(draft, `${make()}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8').trim();
}
