/** Texts of the operator as HTML that is safe to insert: their Markdown is read by marked, their HTML reduced by sanitize-html. */
import { marked } from 'marked';
import sanitizeHtml, { type IOptions } from 'sanitize-html';

const ELEMENTS = [
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'span', 'br', 'hr', 'ul', 'ol', 'li', 'dl', 'dt', 'dd'],
  ...['strong', 'b', 'em', 'i', 'u', 's', 'del', 'sub', 'sup', 'small', 'mark', 'code', 'pre', 'kbd', 'blockquote'],
  ...['a', 'img', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'details', 'summary'],
];

/** Nothing may be loaded from elsewhere: a picture is one of this server or comes as data. */
function isOwnPicture(src: string): boolean {
  if (/^data:image\/(png|jpeg|gif|webp);/i.test(src)) return true;
  return URL.parse(src, 'http://own.invalid')?.host === 'own.invalid';
}

const OPTIONS: IOptions = {
  allowedTags: ELEMENTS,
  allowedAttributes: {
    a: ['href', 'title', 'rel'],
    img: ['src', 'alt', 'title', 'width', 'height'],
    ol: ['start'],
    td: ['colspan', 'rowspan'],
    th: ['colspan', 'rowspan', 'scope'],
  },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['data'] },
  // what is in them is not meant to be read
  nonTextTags: ['script', 'style', 'template', 'iframe', 'object', 'noscript', 'title', 'textarea', 'svg', 'math'],
  transformTags: {
    a: (tagName, attribs) => ({ tagName, attribs: { ...attribs, rel: 'noopener noreferrer' } }),
    img(tagName, { src, ...attribs }) {
      return { tagName, attribs: src !== undefined && isOwnPicture(src) ? { src, ...attribs } : attribs };
    },
  },
};

export const safeHtml = (html: string): string => sanitizeHtml(html, OPTIONS);

export const safeHtmlOfMarkdown = (markdown: string): string => safeHtml(marked.parse(markdown, { async: false }));
