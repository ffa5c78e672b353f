/** How a page looks: as pictures for people, and without violations of WCAG 2.2 AA. */
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, inject, type ProvidedContext } from 'vitest';

import { LONG } from '../../../server/test/support/long.ts';

/** Pictures are kept for people to look at. */
export const PICTURES = join(import.meta.dirname, '../../../../test-results/pictures');
const DRAWN = LONG || process.env['PICTURES'] !== undefined;

interface Violation {
  id: string;
  impact: string;
  help: string;
  nodes: { html: string; failureSummary: string }[];
}

const RULES = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  /** What else is in a page does not change with its colours. */
  dark: ['color-contrast', 'link-in-text-block'],
};

async function violations(page: Page, colours: keyof typeof RULES): Promise<string[]> {
  // through the debugger: the security policy of the page lets no foreign script in
  if (!(await page.evaluate('window.axe !== undefined'))) await page.evaluate(`(() => { ${axe.source} })()`);
  // the others are not looked at, so they need not be described
  const options = JSON.stringify({ runOnly: RULES[colours], resultTypes: ['violations'] });
  const found = await page.evaluate<Violation[]>(`axe.run(document, ${options}).then((r) => r.violations)`);
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`));
}

/** Thumbnails come a moment later, within 10 s. Those that never come are part of some pictures. */
async function shown(page: Page): Promise<void> {
  const complete = `[...document.images]
    .filter((image) => image.getBoundingClientRect().top < innerHeight)
    .every((image) => image.complete)`;
  // asked from outside: the security policy of the page lets no function wait inside it
  for (let look = 0; look < 50 && !(await page.evaluate<boolean>(complete)); look++) await page.waitForTimeout(200);
}

/** Which page it is, and what is open in it. */
const whereabouts = (page: Page) =>
  page.evaluate<string>(`[
    location.pathname.replaceAll(/\\d+/g, '0'),
    ...[...document.querySelectorAll('dialog[open], [role=dialog], [role=alertdialog]')].map((dialog) =>
      dialog.querySelector('h1, h2, h3')?.textContent.trim()),
  ].join(' ')`);

/** As it is drawn now, in its own letters and the colours that were asked for last. */
const settled = (page: Page) =>
  page.evaluate(`document.fonts.ready.then(() => new Promise((drawn) =>
    requestAnimationFrame(() => requestAnimationFrame(() => drawn()))))`);

/** Whether nobody looked at this before, in any worker: a folder can be made once. Other sites are looked at each time. */
function isFirstLook(where: string): boolean {
  const site = inject('site') as ProvidedContext['site'] | undefined;
  if (site === undefined) return true;
  const looks = join(site.folder, 'looked-at');
  mkdirSync(looks, { recursive: true });
  try {
    mkdirSync(join(looks, createHash('sha256').update(where).digest('hex')));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  }
}

/**
 * No violation of WCAG 2.2 AA, in light and in dark. Of several looks at a page with the same open in it, the first of a run is
 * enough. Long runs take all of them, and keep pictures as PICTURES=1 does.
 */
export async function looksWell(page: Page, name: string): Promise<void> {
  if (!DRAWN && !isFirstLook(await whereabouts(page))) return;
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await settled(page);
    if (DRAWN) await shown(page);
    if (DRAWN) await page.screenshot({ path: join(PICTURES, `${name}-${colorScheme}.png`) });
    expect(await violations(page, colorScheme), `${name}, ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}
