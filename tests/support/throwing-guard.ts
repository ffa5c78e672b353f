/**
 * Stands in for guard.ts in a service that is started with throwing-handlers.mjs: as long as the file that THROWING names is
 * there, each handler of the rooms in THROWING_IN throws at its first call and then at every so many (THROWING_EVERY), and says
 * so in that file: `hosts/local.ts:95`. After a few times it throws no more, so that what comes behind it has its turn.
 */
import { appendFileSync, existsSync } from 'node:fs';

import { guarded as reallyGuarded } from '../../packages/server/src/guard.ts';

export { ignored } from '../../packages/server/src/guard.ts';

const FILE = process.env['THROWING']!;
const PLACE = /packages\/server\/src\/(\S+?\.ts:\d+)/;
const ROOMS = new RegExp(process.env['THROWING_IN'] ?? '');
const EVERY = Number(process.env['THROWING_EVERY'] ?? 3);
const MOST = 5;
const calls = new Map<string, number>();

export function guarded<Args extends unknown[]>(
  handler: (...args: Args) => unknown,
  fails: (error: Error) => void,
): (...args: Args) => void {
  const [, place = 'somewhere'] = PLACE.exec(new Error().stack!) ?? [];
  if (!ROOMS.test(place)) return reallyGuarded(handler, fails);
  const throwing = (...args: Args) => {
    if (!existsSync(FILE)) return handler(...args);
    const count = calls.get(place) ?? 0;
    calls.set(place, count + 1);
    if (count % EVERY !== 0 || count >= MOST * EVERY) return handler(...args);
    appendFileSync(FILE, `${place}\n`);
    throw new Error(`thrown on purpose in ${place}`);
  };
  return reallyGuarded(throwing, fails);
}
