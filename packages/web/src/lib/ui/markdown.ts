/**
 * The Markdown of descriptions: paragraphs, lists, code, emphasis, links. It becomes pieces that a component writes as
 * elements, never HTML, so nothing in a description can become part of the page.
 */

export interface Piece {
  kind: 'text' | 'code' | 'strong' | 'em' | 'link';
  text: string;
  href?: string;
}

export type Block = { kind: 'paragraph'; pieces: Piece[] } | { kind: 'list'; items: Piece[][] };

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/g;
const ITEM = /^\s*(?:[-*+]|\d+\.)\s+/;

function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  const plainUntil = (index: number) => {
    if (index > end) found.push({ kind: 'text', text: text.slice(end, index) });
  };
  for (const match of text.matchAll(INLINE)) {
    plainUntil(match.index);
    end = match.index + match[0].length;
    const [, code, strong, em, label, href] = match;
    if (code !== undefined) found.push({ kind: 'code', text: code });
    else if (strong !== undefined) found.push({ kind: 'strong', text: strong });
    else if (em !== undefined) found.push({ kind: 'em', text: em });
    else found.push({ kind: 'link', text: label!, href: href! });
  }
  plainUntil(text.length);
  return found;
}

export function readMarkdown(markdown: string): Block[] {
  const blocks: Block[] = [];
  for (const part of markdown.trim().split(/\n\s*\n/)) {
    let paragraph: string[] = [];
    const closeParagraph = () => {
      if (paragraph.length > 0) blocks.push({ kind: 'paragraph', pieces: pieces(paragraph.join(' ')) });
      paragraph = [];
    };
    for (const line of part.split('\n')) {
      const last = blocks.at(-1);
      if (!ITEM.test(line)) paragraph.push(line.replace(/^#+\s+/, '').trim());
      else {
        closeParagraph();
        const item = pieces(line.replace(ITEM, ''));
        if (last?.kind === 'list') last.items.push(item);
        else blocks.push({ kind: 'list', items: [item] });
      }
    }
    closeParagraph();
  }
  return blocks;
}
