/**
 * Loaded before a service (`node --import`): its handlers throw now and then (throwing-guard.ts), and on SIGUSR2 it throws
 * where nobody catches anything, as a library might.
 */
import { registerHooks } from 'node:module';

const STAND_IN = new URL('./throwing-guard.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    const isGuard = found.url.endsWith('/packages/server/src/guard.ts');
    return isGuard && context.parentURL !== STAND_IN ? { ...found, url: STAND_IN } : found;
  },
});

process.on('SIGUSR2', () => {
  void Promise.reject(new Error('a promise that nobody waits for'));
  setTimeout(() => {
    throw new Error('an exception that nobody catches');
  });
});
