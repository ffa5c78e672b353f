/** What is written in the README and in docs/, for tests that do what it says. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from './processes.ts';

export const DOCS = join(ROOT, 'docs');

/** Every text with instructions, by its path in the repository. */
export const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync('docs/**/*.md', { cwd: ROOT })
    .filter((page) => !page.startsWith('docs/.'))
    .sort(),
];

export interface Block {
  page: string;
  language: string;
  /** Of a block that is a file. */
  file: string | undefined;
  text: string;
}

/** The blocks of code of a page, in their order; those inside of a list too. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^( *)```(\w*)(?: \[(.+?)\])?\n([^]*?)^\1```$/gm)].map(
    ([, indent, language, file, content]) => ({
      page,
      language: language!,
      file,
      text: content!.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** The one block of the page that has these words. */
export function blockOf(page: string, words: string): Block {
  const found = blocksOf(page).filter(({ text }) => text.includes(words));
  if (found.length !== 1) throw new Error(`${page} has ${found.length} blocks with "${words}".`);
  return found[0]!;
}

/** The examples of a page are one script, read from top to bottom. */
export const scriptOf = (page: string): string =>
  blocksOf(page)
    .filter(({ language, file }) => language === 'python' && file === undefined)
    .map(({ text }) => text)
    .join('\n');

/** Names of metrics in an expression of Prometheus. */
export function metricsIn(expression: string): string[] {
  const plain = expression.replace(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"/g, ' ').replace(/\b(by|on) ?\([^)]*\)/g, ' ');
  const words = [...plain.matchAll(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/g)].map(([word]) => word);
  return words.filter((word) => word.includes('_') && !FUNCTIONS.has(word));
}

const FUNCTIONS = new Set(['histogram_quantile']);
