/**
 * Why an installation failed, in a sentence, from what pip, uv or pixi printed. What they print last is advice, a summary
 * or the conclusion of a long proof; the cause stands before it.
 *
 *     installFailure("ERROR: Package 'x' requires a different Python: 3.11.7 not in '>=3.12'")
 *     // x requires Python >=3.12, and this environment has 3.11.7. …
 */
import { cutEnd } from '../../engine/text.ts';

const LONGEST = 600;

const OTHER_PYTHON = 'Choose another Python version, or another version of the package.';
const OTHER_VERSIONS = 'Choose another version of the package, or pin other versions.';
const NOT_FOUND = 'Check its name and version, and whether the package index has it.';

/** Programs that print for people draw trees: the same words without them. */
const plainLines = (printed: string): string[] =>
  printed.split('\n').map((line) =>
    line
      .replace(/^\s*(?:Error:\s+)?×\s+/, 'error: ')
      .replace(/^\s*[├╰]─▶\s*(?:×\s+)?/, '  cause: ')
      .replace(/^\s*│/, '')
      .trimEnd(),
  );

const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
/** `numpy==2.0` and `numpy 2.0` are the same to a reader. */
const readable = (requirement: string) => requirement.replace(/==/g, ' ').replace(/\bdepends? on\b/g, 'needs');

function otherPython(text: string): string | undefined {
  const ofUv = /current Python version \(([\w.]+)\) does not satisfy Python(\S+?),? and (\S+) depends on Python/.exec(
    text,
  );
  const [has, wants, who] = ofUv ? [ofUv[1], ofUv[2], readable(ofUv[3]!)] : ofPip();
  return who === undefined
    ? undefined
    : `${who} requires Python ${wants}, and this environment has ${has}. ${OTHER_PYTHON}`;

  function ofPip() {
    const found = /Package '(.+?)' requires a different Python: (\S+) not in '(.+?)'/.exec(text);
    return found ? [found[2], found[3], found[1]] : [];
  }
}

/** uv proves, sentence by sentence, that there is no solution; the last step that says more than that is the cause. */
function noSolutionOfUv(text: string): string | undefined {
  const proof = /No solution found when resolving[^:]*?:?\s+(?:cause: )?(Because .*?unsatisfiable)\./.exec(text)?.[1];
  if (proof === undefined) return undefined;
  const steps = proof
    .split(/\. And because |^Because /)
    .filter((step) => step !== '')
    .map((step) => {
      const [premise = '', conclusion = ''] = step.split(/, we can conclude that /);
      return { premise, conclusion };
    });
  const isEmpty = ({ premise }: { premise: string }) => /^only \S+ is available and you require \S+$/.test(premise);
  const telling = steps.filter((step) => !isEmpty(step));
  const last = telling.at(-1) ?? steps.at(-1)!;
  const before = telling.at(-2)?.conclusion;
  const cause = [before, last.premise].filter((words) => words !== undefined).join('; ');
  return `No solution: ${cutEnd(readable(cause), LONGEST)}. ${OTHER_VERSIONS}`;
}

/** pip lists every combination it tried; the first one is enough. */
function noSolutionOfPip(lines: string[]): string | undefined {
  const begin = lines.findIndex((line) => line.startsWith('The conflict is caused by:'));
  if (begin < 0) return undefined;
  const tried = new Set<string>();
  for (const line of lines.slice(begin + 1)) {
    const words = line.trim();
    if (words === '' || tried.has(words)) break;
    tried.add(words);
  }
  return `No solution: ${cutEnd(readable([...tried].join('; ')), LONGEST)}. ${OTHER_VERSIONS}`;
}

/** `x==1, which y needs, was not found`, or Python is not the one it asks for. */
function notFound(text: string): string | undefined {
  const [, wanted, by] =
    /Could not find a version that satisfies the requirement (\S.*?)(?: \(from (?!versions:)(.+?)\))? \(from versions:/.exec(
      text,
    ) ?? [];
  if (wanted === undefined) return undefined;
  const version = /==\s*([\w.!+-]+)$/.exec(wanted)?.[1];
  const ignored = /require a different python version: (.*)/.exec(text)?.[1]?.split(/; /) ?? [];
  const range = ignored
    .map((one) => /^(\S+) Requires-Python (.+)$/.exec(one.trim()))
    .find((found) => version !== undefined && found?.[1] === version)?.[2];
  if (range !== undefined) return `${readable(wanted)} requires Python ${range}. ${OTHER_PYTHON}`;
  const needed = by === undefined ? '' : `, which ${by.split('->').at(-1)!} needs,`;
  return `${readable(wanted)}${needed} was not found. ${NOT_FOUND}`;
}

/** A build that failed: which one, the first thing that a compiler found wrong, and what the installer makes of it. */
function failedBuild(lines: string[]): string | undefined {
  const what = /(?:Failed to build|Failed building wheel for) [`']?([^`'\s]+)/.exec(lines.join('\n'))?.[1] ?? undefined;
  if (what === undefined) return undefined;
  const wrong = lines.map((line) => /\b((?:fatal )?error: .+)$/i.exec(line)?.[1]).find(isOfCompiler);
  const hint = lines.map((line) => /^\s*hint: (This error .+)$/.exec(line)?.[1]).find((found) => found !== undefined);
  return cutEnd([`${readable(what)} could not be built`, wrong, hint].filter(Boolean).join(': '), LONGEST);
}

const isOfCompiler = (words: string | undefined) =>
  words !== undefined &&
  !/Failed to build|Failed building|subprocess-exited|did not run successfully|Command '/.test(words);

/** What is said of other things: the first error with its causes. */
function errorWithCauses(lines: string[]): string | undefined {
  const at = lines.findIndex((line) => /^\s*error: \S/i.test(line));
  if (at < 0) return undefined;
  const causes: string[] = [];
  let isOpen = false; // a cause may have several lines
  for (const line of lines.slice(at + 1)) {
    const [, cause] = /^\s*cause: (.+)$/i.exec(line) ?? [];
    if (cause !== undefined) causes.push(cause);
    else if (isOpen && line.trim() !== '') causes.push(`${causes.pop()!} ${line.trim()}`);
    isOpen = causes.length > 0 && line.trim() !== '';
  }
  const error = lines[at]!.replace(/^\s*error: /i, '');
  return causes.length === 0 ? undefined : cutEnd(oneLine([error, ...causes].join(': ')), LONGEST);
}

/** Undefined where nothing of it is known to tell the cause. */
export function installFailure(printed: string): string | undefined {
  const lines = plainLines(printed);
  const text = lines.map((line) => line.trim()).join('\n');
  const joined = oneLine(text);
  return (
    otherPython(joined) ??
    noSolutionOfUv(joined) ??
    noSolutionOfPip(lines) ??
    notFound(text) ??
    failedBuild(lines) ??
    errorWithCauses(lines)
  );
}
