/**
 * The Markdown that news are written in: headings, paragraphs, lists, quotes, code, rules, links, pictures, emphasis.
 * HTML in it passes and is for the sanitiser, as is the result.
 */

const escapeCode = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const quoted = (text: string) => text.replace(/"/g, '&quot;');

/** Code is set aside first, so that nothing in it is read as anything else. */
function inline(text: string): string {
  const codes: string[] = [];
  const aside = text.replace(/\0/g, '').replace(/(`+)(.+?)\1/g, (_, _ticks, code: string) => {
    codes.push(`<code>${escapeCode(code.trim())}</code>`);
    return `\0${codes.length - 1}\0`;
  });
  return aside
    .replace(
      /!\[([^\]]*)\]\(([^()\s]+)\)/g,
      (_, alt: string, src: string) => `<img src="${quoted(src)}" alt="${quoted(alt)}">`,
    )
    .replace(
      /\[([^\]]+)\]\(([^()\s]+)\)/g,
      (_, words: string, href: string) => `<a href="${quoted(href)}">${words}</a>`,
    )
    .replace(/<(https?:\/\/[^\s<>]+)>/g, (_, href: string) => `<a href="${quoted(href)}">${href}</a>`)
    .replace(/\*\*(\S(?:.*?\S)?)\*\*/g, '<strong>$1</strong>')
    .replace(/(?<![\w*])\*(\S(?:[^*]*?\S)?)\*(?!\w)/g, '<em>$1</em>')
    .replace(/(?<!\w)_(\S(?:[^_]*?\S)?)_(?!\w)/g, '<em>$1</em>')
    .replace(/(?: {2,}|\\)\n/g, '<br>\n')
    .replace(/\0(\d+)\0/g, (_, at: string) => codes[Number(at)] ?? '');
}

const FENCE = /^ {0,3}(```|~~~)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const BULLET = /^ {0,3}[-*+]\s+(.*)$/;
const NUMBER = /^ {0,3}\d+[.)]\s+(.*)$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const HTML = /^ {0,3}<(?!https?:)\/?[a-z!]/i;
const isBlank = (line: string | undefined) => line === undefined || line.trim() === '';
const beginsBlock = (line: string) => [FENCE, HEADING, RULE, BULLET, NUMBER, QUOTE].some((one) => one.test(line));

/** Takes the lines of one list: an item goes on until a blank line or the next item. */
function takeList(lines: string[], item: RegExp): string[] {
  const items: string[] = [];
  while (lines.length > 0) {
    const line = lines[0]!;
    const text = item.exec(line)?.[1];
    if (text !== undefined) items.push(text);
    else if (items.length > 0 && !isBlank(line) && !beginsBlock(line)) items[items.length - 1] += `\n${line.trim()}`;
    // a blank line between two items does not end the list
    else if (!isBlank(line) || !item.test(lines[1] ?? '')) break;
    lines.shift();
  }
  return items;
}

function takeWhile(lines: string[], goesOn: (line: string) => boolean): string[] {
  const end = lines.findIndex((line) => !goesOn(line));
  return lines.splice(0, end < 0 ? lines.length : end);
}

function takeBlock(lines: string[]): string {
  const first = lines[0]!;
  const fence = FENCE.exec(first)?.[1];
  if (fence !== undefined) {
    lines.shift();
    const code = takeWhile(lines, (line) => !line.trim().startsWith(fence));
    lines.shift();
    return `<pre><code>${escapeCode(code.join('\n'))}</code></pre>`;
  }
  const heading = HEADING.exec(first);
  if (heading) {
    lines.shift();
    const level = heading[1]!.length;
    return `<h${level}>${inline(heading[2]!)}</h${level}>`;
  }
  if (RULE.test(first)) {
    lines.shift();
    return '<hr>';
  }
  for (const [element, item] of [
    ['ul', BULLET],
    ['ol', NUMBER],
  ] as const) {
    if (!item.test(first)) continue;
    const items = takeList(lines, item).map((text) => `<li>${inline(text)}</li>`);
    return `<${element}>${items.join('')}</${element}>`;
  }
  if (QUOTE.test(first)) {
    const inner = takeWhile(lines, (line) => QUOTE.test(line)).map((line) => QUOTE.exec(line)![1]!);
    return `<blockquote>${markdown(inner.join('\n'))}</blockquote>`;
  }
  if (HTML.test(first)) return takeWhile(lines, (line) => !isBlank(line)).join('\n');
  const paragraph = [lines.shift()!, ...takeWhile(lines, (line) => !isBlank(line) && !beginsBlock(line))];
  return `<p>${inline(
    paragraph
      .map((line) => line.trimStart())
      .join('\n')
      .trimEnd(),
  )}</p>`;
}

export function markdown(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const blocks: string[] = [];
  while (lines.length > 0) {
    if (isBlank(lines[0])) lines.shift();
    else blocks.push(takeBlock(lines));
  }
  return blocks.join('\n');
}
