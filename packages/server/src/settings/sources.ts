/**
 * Where settings come from: the environment first, then an env file in the working directory.
 *
 * `SERVICE_X` may also be given as `FRACTAL_X`, and `.service_server.env` as `.fractal_server.env`, because existing
 * deployments have them. The first of these that has a value wins.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

import { SettingsError } from './readers.ts';

export type Lookup = (name: string) => string | undefined;
type Variables = Record<string, string | undefined>;

const ENV_FILES = ['.service_server.env', '.fractal_server.env'];

/** The variables of a file; of none where there is no such file. */
function readEnvFile(path: string): Variables {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new SettingsError(`The settings file ${path} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** Names to try for a variable, in order. */
const spellings = (name: string) =>
  name.startsWith('SERVICE_') ? [name, name.replace(/^SERVICE_/, 'FRACTAL_')] : [name];

export function settingSources(environment: Variables, folder: string): Lookup {
  const sources = [environment, ...ENV_FILES.map((file) => readEnvFile(join(folder, file)))];
  return (name) => {
    for (const source of sources) {
      for (const spelling of spellings(name)) {
        if (source[spelling] !== undefined) return source[spelling];
      }
    }
    return undefined;
  };
}
