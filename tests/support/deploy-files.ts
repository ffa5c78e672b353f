/** Reads the files of deploy/: a Containerfile, units of systemd. */
import { readFileSync } from 'node:fs';

export interface Instruction {
  name: string;
  words: string;
}

/** The instructions of a Containerfile, each on one line. */
export function instructionsOf(path: string): Instruction[] {
  const lines = readFileSync(path, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, words] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
      if (name === undefined) throw new Error(`No instruction of a Containerfile: ${line}`);
      return { name, words: words! };
    });
}

export type Unit = Record<string, Record<string, string[]>>;

/** The sections of a unit of systemd, with the values of each name. */
export function unitOf(path: string): Unit {
  const unit: Unit = {};
  let section: Record<string, string[]> | undefined;
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (/^(#|$)/.test(line)) continue;
    const [, title] = /^\[(\w+)\]$/.exec(line) ?? [];
    if (title !== undefined) {
      section = unit[title] = {};
      continue;
    }
    const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (name === undefined || !section) throw new Error(`No line of a unit: ${line}`);
    (section[name] ??= []).push(value!);
  }
  return unit;
}
