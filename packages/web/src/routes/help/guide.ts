/** The user guide: `docs/guide` of this repository, made into pages when the client is built. Only the web server reads it. */
import { manualPage, route } from '#lib/route.ts';
import { service } from '#lib/server/mounted.ts';
import { safeHtmlOfMarkdown } from '#lib/server/operator-html.ts';

const FILES = import.meta.glob<string>('../../../../../docs/guide/**/*.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});

interface GuidePage {
  title: string;
  /** Without the title. */
  html: string;
}

const CONTENTS: { name: string; paths: string[] }[] = [
  {
    name: 'Begin',
    paths: ['', 'getting-started', 'finding-failures', 'images-and-measurements', 'sharing', 'api-token'],
  },
  { name: 'Ideas', paths: ['concepts/projects', 'concepts/datasets', 'concepts/workflows', 'concepts/tasks'] },
  {
    name: 'Screens',
    paths: [
      'reference/project-overview',
      'reference/project',
      'reference/dataset',
      'reference/workflow',
      'reference/jobs',
      'reference/task-collection',
      'reference/templates',
    ],
  },
];

/** `…/docs/guide/reference/jobs.md` is `reference/jobs`, `…/docs/guide/index.md` is the beginning. */
const pathOf = (file: string) => file.replace(/^.*\/docs\/guide\//, '').replace(/(^|\/)index\.md$|\.md$/, '');

const LINK = /<a href="(?![a-z]+:|\/|#)([^"#]*\.md)(#[^"]*)?"([^>]*)>([^]*?)<\/a>/g;

/**
 * Links between files of the guide, as links between its pages. What is outside of it is in the manual, which is there when the
 * client is a part of the service.
 */
export function pageLinks(html: string, path: string, hasManual = service !== undefined): string {
  return html.replace(LINK, (_, target: string, part: string | undefined, more: string, words: string) => {
    const { pathname } = new URL(target, `http://docs/guide/${path === '' ? 'index' : path}`);
    const [, inGuide] = /^\/guide(\/.*)$/.exec(pathname) ?? [];
    if (inGuide === undefined && !hasManual) return words;
    const page = pathOf(`/docs/guide${inGuide ?? pathname}`);
    return `<a href="${inGuide === undefined ? manualPage(page) : route.helpPage(page)}${part ?? ''}"${more}>${words}</a>`;
  });
}

/** Who reads it has the screen before them. */
const withoutPictures = (html: string) => html.replace(/<p>\s*<img[^>]*>\s*<\/p>|<img[^>]*>/g, '');

/** A page about a screen begins with what the page about the idea begins with. */
const SUMMARY = /^<!-- summary of (\S+) -->$/m;

export function withSummary(text: string, find: (path: string) => string | undefined): string {
  return text.replace(SUMMARY, (_, path: string) => {
    const [, title, summary] = /^# (.+)\n\n([\s\S]+?)\n\n/.exec(find(path) ?? '') ?? [];
    return summary === undefined ? '' : `${summary} More: [${title}](${route.helpPage(path)}).`;
  });
}

function pageOf(path: string, text: string): GuidePage {
  const [, title = 'User guide', rest = text] = /^# (.+)\n([\s\S]*)$/.exec(text.trimStart()) ?? [];
  return { title, html: pageLinks(withoutPictures(safeHtmlOfMarkdown(rest)), path) };
}

const TEXTS = new Map(Object.entries(FILES).map(([file, text]) => [pathOf(file), text]));
const PAGES = new Map(
  [...TEXTS].map(([path, text]) => [
    path,
    pageOf(
      path,
      withSummary(text, (other) => TEXTS.get(other)),
    ),
  ]),
);

/** Where everything else is explained, if the service has it. */
export const manualAddress = (): string | undefined => (service === undefined ? undefined : manualPage());

export const guidePage = (path: string): GuidePage | undefined => PAGES.get(path.replace(/\/$/, ''));

export const guideContents = (): { name: string; pages: { title: string; href: string }[] }[] =>
  CONTENTS.map(({ name, paths }) => ({
    name,
    pages: paths.flatMap((path) => {
      const page = PAGES.get(path);
      return page === undefined ? [] : [{ title: page.title, href: route.helpPage(path) }];
    }),
  }));
