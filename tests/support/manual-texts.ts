/** What is written in docs/, for tests that do what it says. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from './processes.ts';

export const DOCS = join(ROOT, 'docs');

export interface Block {
  language: string;
  /** Of a block that is a file. */
  file: string | undefined;
  text: string;
}

/** The blocks of code of a page, in their order. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(DOCS, page), 'utf8');
  return [...text.matchAll(/^```(\w*)(?: \[(.+?)\])?\n([^]*?)^```$/gm)].map(([, language, file, content]) => ({
    language: language!,
    file,
    text: content!,
  }));
}

export const pagesWith = (language: string): string[] =>
  globSync('**/*.md', { cwd: DOCS })
    .filter((page) => !page.startsWith('.vitepress') && blocksOf(page).some((block) => block.language === language))
    .sort();

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
