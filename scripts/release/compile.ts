/**
 * Sources as Node runs them anywhere, without types: `.ts` becomes `.js`, and so do the names in imports. Types were checked before;
 * nothing else is changed, so that lines in a stack trace can be read.
 */
import { cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import ts from 'typescript';

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2024,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};

const LEFT_OUT = /(^|\/)__pycache__(\/|$)/;

/** Compiles a folder of sources into another; what is no TypeScript, such as the Python worker, is copied. */
export function compileFolder(from: string, to: string): void {
  for (const name of globSync('**/*', { cwd: from })) {
    const source = join(from, name);
    if (LEFT_OUT.test(name) || !statSync(source).isFile()) continue;
    const target = join(to, name.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    if (!name.endsWith('.ts')) cpSync(source, target);
    else
      writeFileSync(target, ts.transpileModule(readFileSync(source, 'utf8'), { compilerOptions: OPTIONS }).outputText);
  }
}
