/** `npm run build:web`: builds the web client now, so that no start has to. */
import { basename, relative } from 'node:path';

import { ensureBuilt, WEB } from './build.ts';
import { hashOf } from './builds.ts';

try {
  let isNew = false;
  const build = await ensureBuilt({ onBuild: () => (isNew = true) });
  if (!isNew && basename(build) !== hashOf(WEB)) throw new Error('what builds it is not installed. Run: npm ci');
  const name = relative(process.env['INIT_CWD'] ?? '', build);
  console.log(`${name} ${isNew ? 'is built' : 'was there already'}. A service uses it from its next start on.`);
} catch (error) {
  console.error(`The web client could not be built: ${(error as Error).message}`);
  process.exit(1);
}
