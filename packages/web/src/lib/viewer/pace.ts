/**
 * Shows what comes in pieces at a pace that the browser keeps up with: where one picture takes long, fewer are painted on the
 * way, so that the whole is there sooner.
 *
 *     const pace = createPace(() => version++);
 *     pace.more(); // a piece has come
 *     pace.done(); // the last one: shown at once
 */

/** Between two pictures, this much of the time that one takes is left for reading. */
const REST = 2;

export function createPace(show: () => void) {
  let [shownAt, costMs] = [-Infinity, 0];
  /** Pictures that are not on the screen yet: nobody knows what they cost. */
  let underWay = 0;
  let hasMore = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function showNow() {
    clearTimeout(timer);
    [timer, hasMore] = [undefined, false];
    shownAt = performance.now();
    const began = shownAt;
    underWay += 1;
    show();
    // painted in the first frame; the second one begins when that is on the screen
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        underWay -= 1;
        costMs = performance.now() - began;
        plan();
      }),
    );
  }

  function plan() {
    if (!hasMore || underWay > 0 || timer !== undefined) return;
    const left = shownAt + (1 + REST) * costMs - performance.now();
    if (left <= 0) showNow();
    else timer = setTimeout(showNow, left);
  }

  return {
    more() {
      hasMore = true;
      plan();
    },
    done: showNow,
  };
}
