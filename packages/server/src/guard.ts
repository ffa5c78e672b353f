/**
 * Keeps the service alive when a handler throws.
 *
 *     stdout.on('data', guarded(take, (error) => fail(error)));
 *     const timer = setInterval(guarded(look, (error) => log.error('Looking failed', error)), 1000);
 *
 * What handles an event of a stream, a process, a connection or a timer has no caller who could catch what it throws:
 * Node would end the process, and with it the jobs and requests of everybody. So each handler says what fails instead,
 * which is the one read, command or look that it belongs to. ESLint refuses a handler without a guard
 * (eslint.config.js); run.ts keeps the service going where a library throws by itself.
 */
export function guarded<Args extends unknown[]>(
  handler: (...args: Args) => unknown,
  fails: (error: Error) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      const result = handler(...args);
      if (result instanceof Promise) result.catch(fails);
    } catch (error) {
      fails(error as Error);
    }
  };
}

/** For events that nobody waits for: an error of a connection that was given up. */
export const ignored = (): void => undefined;
