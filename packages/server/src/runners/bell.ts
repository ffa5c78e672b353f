/** Wakes who waits when something may have happened. One that rings while nobody waits is not lost. */
export interface Bell {
  wake(): void;
  /** Until somebody rings, at most so long. */
  wait(ms: number): Promise<void>;
}

export function createBell(): Bell {
  let ring = () => {};
  let rung = false;
  return {
    wake() {
      rung = true;
      ring();
    },
    async wait(ms) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          ring = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      rung = false;
    },
  };
}
