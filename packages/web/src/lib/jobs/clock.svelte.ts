/** The time, for durations that go on; it stands still when nothing needs it. */
export function createClock(isNeeded: () => boolean, everyMs = 1000): { readonly now: number } {
  let now = $state(Date.now());
  $effect(() => {
    if (!isNeeded()) return;
    now = Date.now();
    const timer = setInterval(() => (now = Date.now()), everyMs);
    return () => clearInterval(timer);
  });
  return {
    get now() {
      return now;
    },
  };
}
