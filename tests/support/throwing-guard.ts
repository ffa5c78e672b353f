/**
 * Stands in for guard.ts in a service that is started with throwing-handlers.mjs: as long as the file that THROWING names is
 * there, the handlers of each source throw at every second call, and
 * say so in that file.
 */
import { appendFileSync, existsSync } from 'node:fs';

import { guarded as reallyGuarded } from '../../packages/server/src/guard.ts';

export { ignored } from '../../packages/server/src/guard.ts';

const FILE = process.env['THROWING']!;
const SOURCES = /packages\/server\/src\/(\S+?\.ts)/;
const calls = new Map<string, number>();

export function guarded<Args extends unknown[]>(
  handler: (...args: Args) => unknown,
  fails: (error: Error) => void,
): (...args: Args) => void {
  const [, place = 'somewhere'] = SOURCES.exec(new Error().stack!) ?? [];
  const throwing = (...args: Args) => {
    const count = (calls.get(place) ?? 0) + 1;
    calls.set(place, count);
    if (count % 2 === 1 || !existsSync(FILE)) return handler(...args);
    appendFileSync(FILE, `${place}\n`);
    throw new Error(`thrown on purpose in ${place}`);
  };
  return reallyGuarded(throwing, fails);
}
