/**
 * HTML of the operator, reduced to what can do no harm. The text is read piece by piece and written anew: only elements
 * and attributes of the list are ever written, everything else becomes text or is left out, and what was opened is closed.
 */

const ATTRIBUTES: Record<string, string[]> = {
  a: ['href', 'title'],
  img: ['src', 'alt', 'title', 'width', 'height'],
  ol: ['start'],
  td: ['colspan', 'rowspan'],
  th: ['colspan', 'rowspan', 'scope'],
};
const ELEMENTS = new Set([
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'span', 'br', 'hr', 'ul', 'ol', 'li', 'dl', 'dt', 'dd'],
  ...['strong', 'b', 'em', 'i', 'u', 's', 'del', 'sub', 'sup', 'small', 'mark', 'code', 'pre', 'kbd', 'blockquote'],
  ...['a', 'img', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'details', 'summary'],
]);
const EMPTY_ELEMENTS = new Set(['br', 'hr', 'img']);
/** What is in them is not meant to be read. */
const SILENT = new Set([
  'script',
  'style',
  'template',
  'iframe',
  'object',
  'noscript',
  'title',
  'textarea',
  'svg',
  'math',
]);

const PIECE = /<!--[\s\S]*?(?:-->|$)|<(\/?)([a-z][a-z0-9]*)((?:[^<>"']|"[^"]*"|'[^']*')*)>|[^<]+|</gi;
const ATTRIBUTE = /([a-z][a-z-]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/gi;

const ENTITY = /&(?!(?:#\d+|#x[0-9a-f]+|[a-z][a-z0-9]*);)/gi;
/** Entities that the author wrote stay. */
const escapeText = (text: string) => text.replace(ENTITY, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const escapeValue = (value: string) => escapeText(value).replace(/"/g, '&quot;');

/** An own path, a web or mail address; pictures also as data, since nothing else may be loaded from elsewhere. */
function isSafeAddress(address: string, isPicture: boolean): boolean {
  // an entity could hide a scheme from this look at it, and these signs would be written as entities
  if (/&(?!amp;)|[<>"]/.test(address.replace(ENTITY, '&amp;'))) return false;
  const url = URL.parse(address.replaceAll('&amp;', '&'), 'http://own.invalid');
  if (url === null) return false;
  if (isPicture) return url.host === 'own.invalid' || /^data:image\/(png|jpeg|gif|webp);/i.test(address);
  return ['http:', 'https:', 'mailto:'].includes(url.protocol);
}

function attributesOf(element: string, source: string): string {
  const allowed = ATTRIBUTES[element] ?? [];
  const written = [...source.matchAll(ATTRIBUTE)].flatMap(([, given, double, single, bare]) => {
    const name = given!.toLowerCase();
    const value = (double ?? single ?? bare ?? '').trim();
    if (!allowed.includes(name)) return [];
    if ((name === 'href' || name === 'src') && !isSafeAddress(value, element === 'img')) return [];
    return [` ${name}="${escapeValue(value)}"`];
  });
  const leaves = element === 'a' ? ' rel="noopener noreferrer"' : '';
  return written.join('') + leaves;
}

/** What is written for the end of an element: everything that was opened inside it ends too. */
function close(open: string[], element: string): string {
  const at = open.lastIndexOf(element);
  return at < 0 ? '' : ends(open.splice(at));
}

const ends = (elements: string[]) =>
  elements
    .toReversed()
    .map((element) => `</${element}>`)
    .join('');

export function sanitise(html: string): string {
  const open: string[] = [];
  let silent: string | undefined;
  let written = '';
  for (const [piece, slash, name, rest] of html.matchAll(PIECE)) {
    const element = name?.toLowerCase();
    const isEnd = slash === '/';
    if (silent !== undefined) {
      if (isEnd && element === silent) silent = undefined;
    } else if (element === undefined) {
      written += piece.startsWith('<!--') ? '' : escapeText(piece);
    } else if (SILENT.has(element)) {
      silent = isEnd ? undefined : element;
    } else if (isEnd) {
      written += close(open, element);
    } else if (ELEMENTS.has(element)) {
      written += `<${element}${attributesOf(element, rest ?? '')}>`;
      if (!EMPTY_ELEMENTS.has(element)) open.push(element);
    }
  }
  return written + ends(open);
}
