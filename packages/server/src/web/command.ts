/** `npm run build:web`, `npm run build:manual`: builds one of them now, so that no start has to. */
import { basename, relative } from 'node:path';

import { ensureBuilt } from './build.ts';
import { hashOf } from './builds.ts';
import { CLIENT, MANUAL } from './kinds.ts';

const kind = process.argv[2] === 'manual' ? MANUAL : CLIENT;

try {
  let isNew = false;
  const build = await ensureBuilt({ kind, onBuild: () => (isNew = true) });
  if (!isNew && basename(build) !== hashOf(kind)) throw new Error('what builds it is not installed. Run: npm ci');
  const name = relative(process.env['INIT_CWD'] ?? '', build);
  console.log(`${name} ${isNew ? 'is built' : 'was there already'}. A service uses it from its next start on.`);
} catch (error) {
  console.error(`The ${kind.name} could not be built: ${(error as Error).message}`);
  process.exit(1);
}
