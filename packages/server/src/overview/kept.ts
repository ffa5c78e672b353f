/** An answer for all who ask within a moment: it is made once, however many ask. */
export function keptFor<T>(ms: number, make: () => Promise<T>): () => Promise<T> {
  let kept: { until: number; answer: Promise<T> } | undefined;
  return () => {
    if (kept && Date.now() < kept.until) return kept.answer;
    const answer = make();
    const made = { until: Infinity, answer };
    kept = made;
    answer.then(
      () => (made.until = Date.now() + ms),
      () => (made.until = 0),
    );
    return answer;
  };
}
