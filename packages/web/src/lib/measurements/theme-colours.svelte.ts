/** Colours of the page for what is drawn on a canvas, which does not follow the theme by itself. */
import type { Rgb } from './density.ts';

/** Changes whenever the page becomes light or dark. Call it while a component is made. */
export function watchTheme(): { readonly version: number } {
  let version = $state(0);
  $effect(() => {
    const change = () => void version++;
    const system = matchMedia('(prefers-color-scheme: dark)');
    const own = new MutationObserver(change);
    system.addEventListener('change', change);
    own.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      system.removeEventListener('change', change);
      own.disconnect();
    };
  });
  return {
    get version() {
      return version;
    },
  };
}

/** A colour as it is now, by the words of a style sheet: `var(--text)`. */
export function colourNow(element: HTMLElement, colour: string): Rgb {
  element.style.color = colour;
  // `rgb(22, 28, 33)`, or `color(srgb 0.09 0.11 0.13)` for one that was mixed
  const computed = getComputedStyle(element).color;
  element.style.removeProperty('color');
  const parts = [...computed.matchAll(/[\d.]+/g)].slice(0, 3).map(([part]) => Number(part));
  const factor = computed.startsWith('color(') ? 255 : 1;
  return parts.map((part) => Math.round(part * factor)) as unknown as Rgb;
}
