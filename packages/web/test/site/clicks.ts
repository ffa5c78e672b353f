/** What somebody does with the mouse, counted over all pages that follow. */
import type { Page } from 'playwright-core';

export async function countClicks(page: Page): Promise<() => number> {
  let count = 0;
  await page.exposeFunction('clicked', () => (count += 1));
  const listen = () =>
    addEventListener('pointerdown', () => (window as unknown as { clicked: () => void }).clicked(), true);
  await page.addInitScript(listen);
  await page.evaluate(listen);
  return () => count;
}
