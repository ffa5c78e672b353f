/** Wakes who waits when something may have happened. A call while nobody waits is not lost. */
export interface WakeUp {
  wake(): void;
  /** Until somebody calls, at most so long. */
  wait(ms: number): Promise<void>;
}

export function createWakeUp(): WakeUp {
  let callSleeper = () => {};
  let called = false;
  return {
    wake() {
      called = true;
      callSleeper();
    },
    async wait(ms) {
      if (!called) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          callSleeper = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      called = false;
    },
  };
}
