/** The icon of the browser's tab: what became of the job that the page shows, seen from another tab. */
import type { State } from './status.ts';

type Look = State['look'];

/** The fills of tokens.css: a picture in the tab knows no style sheet. They are seen on light and dark bars alike. */
const SHAPES: Record<'running' | 'waiting' | 'done' | 'failed' | 'stopped', string> = {
  running:
    '<circle cx="8" cy="8" r="6" fill="none" stroke="#2f6be0" stroke-opacity=".35" stroke-width="3"/>' +
    '<path d="M8 2a6 6 0 0 1 6 6" fill="none" stroke="#2f6be0" stroke-width="3"/>',
  waiting:
    '<circle cx="8" cy="8" r="6" fill="none" stroke="#2f6be0" stroke-width="2"/>' +
    '<path d="M8 4.5V8l2.5 2" fill="none" stroke="#2f6be0" stroke-width="2"/>',
  done:
    '<circle cx="8" cy="8" r="8" fill="#2f8f60"/>' +
    '<path d="m4.5 8.2 2.4 2.4 4.6-5" fill="none" stroke="#fff" stroke-width="2"/>',
  failed:
    '<path d="M5 0h6l5 5v6l-5 5H5l-5-5V5z" fill="#d13b30"/>' +
    '<path d="m5 5 6 6m0-6-6 6" stroke="#fff" stroke-width="2"/>',
  stopped: '<path d="M1 1h14v14H1z" fill="#75698a"/><path d="M4.5 8h7" stroke="#fff" stroke-width="2.5"/>',
};

const NONE = 'data:,';

function iconOf(look: Look): string {
  const shape = look === 'warning' ? SHAPES.done : look === 'unset' ? undefined : SHAPES[look];
  if (shape === undefined) return NONE;
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${shape}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(picture)}`;
}

/** Gives back what takes it away again. */
export function showInTab(look: Look): () => void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link === null) return () => undefined;
  link.href = iconOf(look);
  return () => {
    link.href = NONE;
  };
}
