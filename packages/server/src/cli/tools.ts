/** What the commands share. */
import { readFileSync } from 'node:fs';

import { ServiceError } from '@service/contract/errors';

import type { Logging } from '../logging/index.ts';
import { loadSettings, loggingFor, openWorkplace, type Workplace } from '../workplace.ts';

/** A command that could not do its work; the message is all the operator needs. */
export class CommandFailed extends ServiceError {
  readonly kind = 'command-failed';
}

/** Opens the database, runs a command, and leaves everything as it was found. */
export async function withWorkplace<T>(work: (workplace: Workplace, logging: Logging) => Promise<T>): Promise<T> {
  const settings = loadSettings();
  const logging = loggingFor(settings);
  const workplace = await openWorkplace(settings, logging);
  try {
    return await work(workplace, logging);
  } finally {
    await workplace.close();
  }
}

export function readJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandFailed(`${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new CommandFailed(`${path} is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
}
