/** Texts of the operator: Markdown as people write it, and nothing in them that could do harm. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { safeHtml, safeHtmlOfMarkdown } from '#lib/server/operator-html.ts';

describe('Markdown of the operator', () => {
  it.each([
    ['# News', '<h1>News</h1>'],
    ['## News ##', '<h2>News</h2>'],
    ['one\ntwo\n\nthree', '<p>one\ntwo</p>\n<p>three</p>'],
    ['one  \ntwo', '<p>one<br />two</p>'],
    ['- a\n- b\n  more', '<ul>\n<li>a</li>\n<li>b\nmore</li>\n</ul>'],
    ['1. a\n2. b', '<ol>\n<li>a</li>\n<li>b</li>\n</ol>'],
    ['> said\n> so', '<blockquote>\n<p>said\nso</p>\n</blockquote>'],
    [
      'a **bold** and *soft* and _soft_ word',
      '<p>a <strong>bold</strong> and <em>soft</em> and <em>soft</em> word</p>',
    ],
    ['snake_case_name and 2 * 3 * 4', '<p>snake_case_name and 2 * 3 * 4</p>'],
    ['`a < *b*`', '<p><code>a &lt; *b*</code></p>'],
    ['```py\n<a>\n\n# b\n```', '<pre><code>&lt;a&gt;\n\n# b\n</code></pre>'],
    ['---', '<hr />'],
    ['[guide](/help)', '<p><a href="/help" rel="noopener noreferrer">guide</a></p>'],
    ['<https://a.example>', '<p><a href="https://a.example" rel="noopener noreferrer">https://a.example</a></p>'],
    ['![logo](/logo.png)', '<p><img src="/logo.png" alt="logo" /></p>'],
    ['**bold\nacross lines**', '<p><strong>bold\nacross lines</strong></p>'],
    [
      '| a |\n| - |\n| 1 |',
      '<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>1</td>\n</tr>\n</tbody></table>',
    ],
    ['a <script>x()</script> b [x](javascript:x)', '<p>a  b <a rel="noopener noreferrer">x</a></p>'],
    ['', ''],
  ])('%j becomes %j', (text, html) => expect(safeHtmlOfMarkdown(text).trim()).toBe(html));
});

describe('HTML of the operator', () => {
  const link = (href: string) => `<a href="${href}" rel="noopener noreferrer">x</a>`;
  const bare = '<a rel="noopener noreferrer">x</a>';

  it.each([
    ['text and &amp; entities & signs', 'text and &amp; entities &amp; signs'],
    ['<p class="x" style="color:red" onclick="x()">a</p>', '<p>a</p>'],
    ['<script>alert(1)</script>after', 'after'],
    ['<SCRIPT src=x></SCRIPT >after', 'after'],
    ['<style>p{}</style><b>a</b>', '<b>a</b>'],
    ['<svg><a href="/">x</a></svg>y', 'y'],
    ['<iframe src="/"></iframe>a', 'a'],
    ['<form action="/x"><input>a</form>', 'a'],
    ['<!-- <script> -->a', 'a'],
    ['<a href="https://a.example?x=1&amp;y=2">x</a>', link('https://a.example?x=1&amp;y=2')],
    ["<a href='/help'>x</a>", link('/help')],
    ['<a href=mailto:a@b.example>x</a>', link('mailto:a@b.example')],
    ['<a href="javascript:alert(1)">x</a>', bare],
    ['<a href=" java\nscript:alert(1)">x</a>', bare],
    ['<a href="&#106;avascript:alert(1)">x</a>', bare],
    ['<a href="data:text/html,x">x</a>', bare],
    ['<a href="<">x</a>', link('&lt;')],
    ['="javascript:', '="javascript:'],
    ['<img src="/a.png" alt="A" onerror="x()">', '<img src="/a.png" alt="A" />'],
    ['<img src="https://elsewhere.example/a.png">', '<img />'],
    ['<img src="data:image/svg+xml;base64,x">', '<img />'],
    ['<b><i>a</b>c', '<b><i>a</i></b>c'],
    ['a</div>b', 'ab'],
    ['1 < 2 <b', '1 &lt; 2 '],
    ['<a title="&quot; onclick=x">x</a>', '<a title="&quot; onclick=x" rel="noopener noreferrer">x</a>'],
  ])('%j becomes %j', (html, expected) => expect(safeHtml(html)).toBe(expected));

  it('changes nothing in its own results, and lets nothing else through', () => {
    const pieces = fc.constantFrom(
      ...['<', '>', '"', "'", '=', ' ', '/', '&', 'a', 'script', 'svg', 'href', 'onload', 'javascript:', '<!--', '-->'],
      ...['<p>', '</p>', '<a href=', 'img', 'src', '\n', '&#106;', '<style>', '</style>', '`', '\\'],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const html = safeHtml(parts.join(''));
        expect(safeHtml(html)).toBe(html);
        expect(html).not.toMatch(/<(script|svg|style)|<[^>]*\s(onload|style)\s*=|<[^>]*="\s*javascript:/i);
      }),
    );
  });
});
