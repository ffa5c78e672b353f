/** Which pages of a long list are offered. */
export const PAGE_SIZES = [10, 20, 50, 100, 500];

const AROUND = 3;

/** The current page with three on each side, the first and the last; null stands for those left out. */
export function pageNumbers(page: number, last: number): (number | null)[] {
  const near = Array.from({ length: 2 * AROUND + 1 }, (_, index) => page - AROUND + index);
  const shown = [...new Set([1, ...near, last])].filter((number) => number >= 1 && number <= last);
  return shown.flatMap((number, index) => {
    const before = shown[index - 1];
    const gap = before === undefined ? 1 : number - before;
    // a gap of one page is that page
    return gap === 2 ? [number - 1, number] : gap > 2 ? [null, number] : [number];
  });
}
