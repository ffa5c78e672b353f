/** What somebody does with the mouse, counted over all pages that follow. */
import type { Page } from 'playwright-core';

export async function countClicks(page: Page): Promise<() => number> {
  let count = 0;
  await page.exposeFunction('clicked', () => (count += 1));
  // at the document: Playwright holds back, at the window, a press whose target has moved away, and tries again
  const listen = () =>
    document.addEventListener('pointerdown', () => (window as unknown as { clicked: () => void }).clicked(), true);
  await page.addInitScript(listen);
  await page.evaluate(listen);
  return () => count;
}
