/**
 * A page as somebody without a mouse meets it: Tab reaches everything that can be pressed or filled in, each with a mark that is
 * seen, and comes out at the end again.
 */
import type { Page } from 'playwright-core';

export interface Walk {
  /** What Tab stopped at, in order. */
  stops: string[];
  /** What can be pressed and was not reached, neither by Tab nor by the arrow keys of what was. */
  missed: string[];
  /** What looks the same with and without focus. */
  unmarked: string[];
}

/** Beyond what can be pressed: parts of dates, and what comes meanwhile. */
const MOST_STOPS = 400;

/** Runs in the page. Everything is kept in it, since elements cannot leave it. */
function prepare() {
  const PRESSED = 'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable="true"]';
  /** One of them has the focus, arrow keys move it to the others. */
  const GROUPS =
    '[role=tablist], [role=radiogroup], [role=listbox], [role=grid], [role=toolbar], [role=menu], ul, ol, tbody';
  const box = (element: Element) => element.getBoundingClientRect();
  const isShown = (element: Element) =>
    element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true }) && box(element).width > 0;
  const isOff = (element: Element) => element.matches(':disabled, [inert] *, [aria-hidden=true], [aria-hidden=true] *');
  const nameOf = (element: Element) => {
    const labels = [...((element as HTMLInputElement).labels ?? [])].map((label) => label.textContent).join(' ');
    const text = element.getAttribute('aria-label') ?? (labels || element.textContent || element.getAttribute('title'));
    return `${element.tagName.toLowerCase()} ${(text ?? '').trim().replace(/\s+/g, ' ').slice(0, 60)}`.trim();
  };
  /** What is drawn around an element, its surroundings and its neighbours: some show focus for a hidden input. */
  const looks = (element: Element) => {
    const near = [element, element.nextElementSibling, element.previousElementSibling, ...element.children];
    for (let at = element.parentElement, up = 0; at && up < 3; at = at.parentElement, up++) near.push(at);
    return near
      .map((one) => {
        if (!one) return '';
        const {
          outlineStyle,
          outlineColor,
          outlineWidth,
          boxShadow,
          borderColor,
          backgroundColor,
          opacity,
          textDecorationLine,
        } = getComputedStyle(one);
        const outline = outlineStyle === 'none' ? '' : `${outlineStyle} ${outlineColor} ${outlineWidth}`;
        return [outline, boxShadow, borderColor, backgroundColor, opacity, textDecorationLine].join('|');
      })
      .join('\n');
  };
  const found = [...document.querySelectorAll(PRESSED)].filter((one) => isShown(one) && !isOff(one));
  const before = new Map(found.map((one) => [one, looks(one)]));
  const reached = new Set<Element>();
  let [last, parts] = [undefined as Element | undefined, 0];
  const stops: string[] = [];
  const unmarked: string[] = [];
  /** False when the walk is over: the focus left the page, or is where it began. */
  const step = (): boolean => {
    const element = document.activeElement;
    if (!element || element === document.body || element === document.documentElement) return stops.length === 0;
    // a date has several parts
    if (element === last && element instanceof HTMLInputElement && ++parts < 6) return true;
    if (reached.has(element)) return false;
    [last, parts] = [element, 0];
    reached.add(element);
    stops.push(nameOf(element));
    const now = looks(element);
    if (before.get(element) === now) unmarked.push(nameOf(element));
    return true;
  };
  const sameRadios = (element: Element) =>
    element instanceof HTMLInputElement &&
    element.type === 'radio' &&
    [...reached].some((one) => one instanceof HTMLInputElement && one.type === 'radio' && one.name === element.name);
  const inReachedGroup = (element: Element) => {
    if (element.getAttribute('tabindex') !== '-1') return false;
    const group = element.closest(GROUPS);
    return group !== null && [...reached].some((one) => group.contains(one) || one === group);
  };
  /** Focus is moved there by the page, for readers of screens; nothing happens when it is pressed. */
  const isPlace = (element: Element) =>
    element.getAttribute('tabindex') === '-1' && !element.matches('a[href], button, input, select, textarea');
  const end = () => ({
    stops,
    unmarked,
    missed: found
      .filter((one) => one.isConnected && isShown(one) && !isOff(one) && !reached.has(one))
      .filter((one) => !isPlace(one) && !sameRadios(one) && !inReachedGroup(one))
      .map(nameOf),
  });
  (window as unknown as { walk: unknown }).walk = { step, end };
  return found.length;
}

export async function walkByTab(page: Page): Promise<Walk> {
  // some pages begin at their search: the walk begins above everything
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  // without dragging other things into the page: its policy lets no foreign script in
  const count = await page.evaluate<number>(`(${prepare.toString()})()`);
  for (let at = 0; at < 2 * count + MOST_STOPS; at++) {
    await page.keyboard.press('Tab');
    if (!(await page.evaluate<boolean>('walk.step()'))) return page.evaluate<Walk>('walk.end()');
  }
  const { stops } = await page.evaluate<Walk>('walk.end()');
  throw new Error(`Tab does not come out of this page: …, ${stops.slice(-5).join(', ')}`);
}

/** Tab until something with this name has the focus. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  for (let at = 0; at < MOST_STOPS; at++) {
    await page.keyboard.press('Tab');
    const now = await page.evaluate(() => {
      const one = document.activeElement;
      return (one?.getAttribute('aria-label') ?? one?.textContent ?? '').trim().replace(/\s+/g, ' ');
    });
    if (typeof name === 'string' ? now === name : name.test(now)) return;
  }
  throw new Error(`Tab never reaches ${String(name)}`);
}
