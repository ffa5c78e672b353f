/**
 * Asks again and again while something is unfinished: often while answers bring news, more and more rarely while they do
 * not, never in a hidden tab. An answer that fails is not the end of it.
 */
export interface Asking {
  /** Asks once; true when there was something new. */
  ask: () => Promise<boolean>;
  /** Milliseconds after news. */
  first: number;
  /** The longest pause. */
  most?: number;
  /** Stands in for the page in tests. */
  page?: Pick<Document, 'hidden' | 'addEventListener' | 'removeEventListener'>;
}

const GROWTH = 1.6;

/** Gives back what ends it. */
export function keepAsking({ ask, first, most = 15_000, page = document }: Asking): () => void {
  let pause = first;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking = false;
  let over = false;

  const plan = () => {
    clearTimeout(timer);
    if (!over && !page.hidden) timer = setTimeout(() => void once(), pause);
  };

  async function once() {
    if (asking || over) return;
    asking = true;
    const news = await ask().catch(() => false);
    asking = false;
    pause = news ? first : Math.min(most, pause * GROWTH);
    plan();
  }

  function onvisibility() {
    clearTimeout(timer);
    if (page.hidden) return;
    pause = first;
    void once();
  }

  page.addEventListener('visibilitychange', onvisibility);
  plan();
  return () => {
    over = true;
    clearTimeout(timer);
    page.removeEventListener('visibilitychange', onvisibility);
  };
}
