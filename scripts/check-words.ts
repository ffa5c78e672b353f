/**
 * npm run check:words: what people read, without the phrases of words.ts.
 *
 * Looks at the texts of the server, of the command line tool and of the web client (texts in quotes and the markup of pages,
 * not comments), and at the documentation. Prints where a phrase stands, and what to write instead.
 *
 * Reads the folder that it is given, else the one it is run in.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

import { PHRASES } from './words.ts';

const SOURCES = ['packages/*/src/**/*.{ts,svelte,py}', 'packages/web/src/app.html'];
const DOCUMENTS = ['docs/**/*.md', 'packages/*/README.md', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'];

/** A piece of text, and where it begins in its file. */
interface Text {
  text: string;
  at: number;
}

/** The texts in quotes of a program; what is between `${` and `}` is a program again. */
function textsOfProgram(source: string, from = 0): Text[] {
  const found: Text[] = [];
  const file = ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest, false);
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node)) {
      // a value stands between the words: it keeps them apart
      const text = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('{}');
      found.push({ text, at: from + node.getStart(file) });
    } else if (ts.isStringLiteralLike(node)) found.push({ text: node.text, at: from + node.getStart(file) });
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ');

/** Pages: their programs, and their markup without comments and styles. */
function textsOfPage(source: string): Text[] {
  const texts: Text[] = [];
  let markup = source.replace(/<!--[^]*?-->|<style[^]*?<\/style>|\/\*[^]*?\*\//g, blank);
  markup = markup.replace(/(<script[^>]*>)([^]*?)<\/script>/g, (whole, tag: string, program: string, at: number) => {
    texts.push(...textsOfProgram(program, at + tag.length));
    return blank(whole);
  });
  return [...texts, { text: markup.replace(/<\/?[a-zA-Z][\w:.-]*/g, blank), at: 0 }];
}

/** Of Python what is in quotes, without what documents a function. */
const textsOfPython = (source: string): Text[] =>
  [...source.replace(/"""[^]*?"""|#.*$/gm, blank).matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].map(({ 1: text, index }) => ({
    text: text!,
    at: index,
  }));

const textsOfDocument = (source: string): Text[] => [
  { text: source.replace(/^```[^]*?^```/gm, blank).replace(/`[^`\n]+`/g, blank), at: 0 },
];

function textsOf(path: string, source: string): Text[] {
  if (path.endsWith('.md')) return textsOfDocument(source);
  if (path.endsWith('.py')) return textsOfPython(source);
  return path.endsWith('.ts') ? textsOfProgram(source) : textsOfPage(source);
}

const lineOf = (source: string, at: number) => source.slice(0, at).split('\n').length;

/** A phrase may go over the end of a line. */
const inText = ({ source, flags }: RegExp) => new RegExp(source.replaceAll(' ', '\\s+'), `g${flags}`);

/** The sentence that a phrase stands in, for exceptions. */
const around = (text: string, at: number, length: number) =>
  text.slice(Math.max(0, at - 60), at + length + 60).replace(/\s+/g, ' ');

function problemsIn(path: string, source: string): string[] {
  return textsOf(path, source).flatMap(({ text, at }) =>
    PHRASES.flatMap(({ phrase, instead, except = [] }) =>
      [...text.matchAll(inText(phrase))]
        .filter(({ 0: words, index }) => !except.some((right) => right.test(around(text, index, words.length))))
        .map(({ 0: words, index }) => {
          // a text in quotes has its place, one of many lines its own lines
          const line = lineOf(source, text.includes('\n') ? at + index : at);
          return `${path}:${line}: "${words.replace(/\s+/g, ' ')}" in “${around(text, index, words.length).trim()}”. Write ${instead}.`;
        }),
    ),
  );
}

const folder = process.argv[2] ?? process.cwd();
const paths = globSync([...SOURCES, ...DOCUMENTS], { cwd: folder }).sort();
const problems = paths.flatMap((path) => problemsIn(path, readFileSync(join(folder, path), 'utf8')));
for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error(
    `${problems.length} phrases that people would not say. scripts/words.ts has the list and its exceptions.`,
  );
  process.exitCode = 1;
}
