/** The texts of docs/ as pages of the site: what GitHub and the client's help show in their own way. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '..');

/** A page about a screen begins with what the page about the idea begins with, as in the client's help. */
const SUMMARY = /^<!-- summary of (\S+) -->$/m;

function withSummary(text: string): string {
  return text.replace(SUMMARY, (_, path: string) => {
    const idea = readFileSync(join(DOCS, 'guide', `${path}.md`), 'utf8');
    const [, title, summary] = /^# (.+)\n\n([^]+?)\n\n/.exec(idea)!;
    return `${summary} More: [${title}](../${path}.md).`;
  });
}

/** Lists of steps to tick off. */
const withBoxes = (text: string) => text.replace(/^( *)- \[ \] /gm, '$1- ☐ ');

/** `CHANGELOG.md` and `CONTRIBUTING.md` name files as seen from the root of the repository. */
const ofTheRoot = (text: string) =>
  text.replaceAll('](docs/', '](./').replaceAll('](CHANGELOG.md)', '](./changelog.md)');

const INCLUDED = /^<!-- all of (\S+) -->$/m;

const withIncluded = (text: string) =>
  text.replace(INCLUDED, (_, file: string) => ofTheRoot(readFileSync(join(DOCS, '..', file), 'utf8')));

export const textOfPage = (text: string): string => withBoxes(withSummary(withIncluded(text)));
