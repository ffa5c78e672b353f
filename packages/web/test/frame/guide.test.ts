/** The user guide holds together: every link leads somewhere, every screen has its page. */
import { describe, expect, it } from 'vitest';

import { guideContents, guidePage, pageLinks, withSummary } from '../../src/routes/help/guide.ts';

const listed = guideContents().flatMap(({ pages }) => pages.map(({ href }) => href));
const pathOf = (href: string) => href.replace(/^\/help\/?/, '');

describe('the guide', () => {
  it('has the pages that screens ask for', () => {
    const names = ['project-overview', 'project', 'dataset', 'workflow', 'jobs', 'task-collection', 'templates'];
    for (const name of names) expect(guidePage(`reference/${name}/`)?.html.length, name).toBeGreaterThan(800);
  });

  it.each(listed)('%s has a title, words, and links that lead somewhere', (href) => {
    const page = guidePage(pathOf(href))!;
    expect(page.title).not.toBe('');
    expect(page.html).not.toContain('<!--');
    expect(page.html).not.toContain('.md"');
    for (const [, target] of page.html.matchAll(/href="(\/help[^"]*)"/g))
      expect(guidePage(pathOf(target!)), target).toBeDefined();
  });

  it('lists every page once', () => {
    expect(listed).toHaveLength(17);
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('knows no other page', () => expect(guidePage('reference/nothing')).toBeUndefined());
});

it.each([
  ['reference/jobs', '../sharing.md', '/help/sharing/'],
  ['reference/jobs', 'workflow.md', '/help/reference/workflow/'],
  ['reference/jobs', '../index.md', '/help/'],
  ['', 'concepts/tasks.md', '/help/concepts/tasks/'],
])('on %j the link %s leads to %s', (path, link, address) =>
  expect(pageLinks(`<a href="${link}">x</a>`, path)).toBe(`<a href="${address}">x</a>`),
);

it.each([
  ['api-token', '../python.md', '/manual/python'],
  ['reference/jobs', '../../operate/index.md#jobs', '/manual/operate#jobs'],
])('on %j the link %s leads to %s of the manual, and nowhere without one', (path, link, address) => {
  const html = `<a href="${link}">x</a>`;
  expect(pageLinks(html, path, true)).toBe(`<a href="${address}">x</a>`);
  expect(pageLinks(html, path, false)).toBe('x');
});

it('a screen begins with the summary of its idea', () => {
  const idea = '# Projects\n\nA project is a place.\nIt holds data.\n\n## More\n';
  expect(withSummary('# Screen\n\n<!-- summary of concepts/projects -->\n', () => idea)).toContain(
    'A project is a place.\nIt holds data. More: [Projects](/help/concepts/projects/).',
  );
});
