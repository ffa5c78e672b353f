/**
 * The rows of a log in blocks, of which only those near what is seen are drawn. The others are empty and keep their
 * height, so that nothing jumps.
 *
 *     const blocks = createBlocks(() => rows.length);
 *     <div {@attach blocks.watch}> … <ol data-block={block} {@attach blocks.hold(block)}>
 */
import { untrack } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';

export const BLOCK = 100;
export const LINE_HEIGHT = 19;
/** How far beyond what is seen lines are drawn. */
const AROUND = '600px';

export interface Blocks {
  readonly count: number;
  isDrawn(block: number): boolean;
  drawRow(row: number): void;
  drawEnd(): void;
  /** After a change that makes blocks higher or lower. */
  forgetHeights(): void;
  /** For other rows: nothing is drawn. */
  clear(): void;
  /** For the place that scrolls: blocks are drawn as they come near. */
  watch(root: HTMLElement): () => void;
  /** For the element of a block, which has its number as `data-block`. */
  hold(block: number): (element: HTMLElement) => () => void;
}

export function createBlocks(rows: () => number): Blocks {
  const count = $derived(Math.ceil(rows() / BLOCK));
  const end = () => [Math.max(0, count - 2), Math.max(0, count - 1)];
  // the end is drawn at once, so that a short log does not jump
  const near = new SvelteSet<number>(untrack(end));
  let heights: Record<number, number> = {};
  let observer: IntersectionObserver | undefined;

  function cameOrWent(entries: readonly IntersectionObserverEntry[]) {
    for (const { target, isIntersecting } of entries) {
      const block = Number((target as HTMLElement).dataset['block']);
      if (isIntersecting) near.add(block);
      else if (near.has(block)) {
        heights[block] = (target as HTMLElement).offsetHeight;
        near.delete(block);
      }
    }
  }

  return {
    get count() {
      return count;
    },
    isDrawn: (block) => near.has(block),
    drawRow: (row) => void near.add(Math.floor(row / BLOCK)),
    drawEnd() {
      for (const block of end()) near.add(block);
    },
    forgetHeights() {
      heights = {};
    },
    clear() {
      heights = {};
      near.clear();
    },
    watch(root) {
      observer = new IntersectionObserver(cameOrWent, { root, rootMargin: AROUND });
      return () => {
        observer?.disconnect();
        observer = undefined;
      };
    },
    hold: (block) => (element) => {
      // blocks are in place before what scrolls is
      queueMicrotask(() => observer?.observe(element));
      $effect(() => {
        const inBlock = Math.min(BLOCK, rows() - block * BLOCK);
        element.style.minHeight = near.has(block) ? '' : `${heights[block] ?? inBlock * LINE_HEIGHT}px`;
      });
      return () => observer?.unobserve(element);
    },
  };
}
