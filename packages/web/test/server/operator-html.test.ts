/** Texts of the operator: Markdown as people write it, and nothing in them that could do harm. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { markdown } from '#lib/server/markdown.ts';
import { sanitise } from '#lib/server/sanitise.ts';

describe('Markdown', () => {
  it.each([
    ['# News', '<h1>News</h1>'],
    ['## News ##', '<h2>News</h2>'],
    ['one\ntwo\n\nthree', '<p>one\ntwo</p>\n<p>three</p>'],
    ['one  \ntwo', '<p>one<br>\ntwo</p>'],
    ['- a\n- b\n  more', '<ul><li>a</li><li>b\nmore</li></ul>'],
    ['1. a\n2. b', '<ol><li>a</li><li>b</li></ol>'],
    ['> said\n> so', '<blockquote><p>said\nso</p></blockquote>'],
    [
      'a **bold** and *soft* and _soft_ word',
      '<p>a <strong>bold</strong> and <em>soft</em> and <em>soft</em> word</p>',
    ],
    ['snake_case_name and 2 * 3 * 4', '<p>snake_case_name and 2 * 3 * 4</p>'],
    ['`a < *b*`', '<p><code>a &lt; *b*</code></p>'],
    ['```py\n<a>\n\n# b\n```', '<pre><code>&lt;a&gt;\n\n# b</code></pre>'],
    ['---', '<hr>'],
    ['[guide](/help)', '<p><a href="/help">guide</a></p>'],
    ['<https://a.example>', '<p><a href="https://a.example">https://a.example</a></p>'],
    ['![logo](/logo.png)', '<p><img src="/logo.png" alt="logo"></p>'],
    ['', ''],
  ])('%j becomes %j', (text, html) => expect(markdown(text)).toBe(html));
});

describe('the sanitiser', () => {
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
    ['<a href="<">x</a>', bare],
    ['="javascript:', '="javascript:'],
    ['<img src="/a.png" alt="A" onerror="x()">', '<img src="/a.png" alt="A">'],
    ['<img src="https://elsewhere.example/a.png">', '<img>'],
    ['<img src="data:image/svg+xml;base64,x">', '<img>'],
    ['<b><i>a</b>c', '<b><i>a</i></b>c'],
    ['a</div>b', 'ab'],
    ['1 < 2 <b', '1 &lt; 2 &lt;b'],
    ['<a title="&quot; onclick=x">x</a>', '<a title="&quot; onclick=x" rel="noopener noreferrer">x</a>'],
  ])('%j becomes %j', (html, expected) => expect(sanitise(html)).toBe(expected));

  it('changes nothing in its own results, and lets nothing else through', () => {
    const pieces = fc.constantFrom(
      ...['<', '>', '"', "'", '=', ' ', '/', '&', 'a', 'script', 'svg', 'href', 'onload', 'javascript:', '<!--', '-->'],
      ...['<p>', '</p>', '<a href=', 'img', 'src', '\n', '&#106;', '<style>', '</style>', '`', '\\'],
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const html = sanitise(parts.join(''));
        expect(sanitise(html)).toBe(html);
        expect(html).not.toMatch(/<(script|svg|style)|<[^>]*\s(onload|style)\s*=|<[^>]*="\s*javascript:/i);
      }),
    );
  });
});
