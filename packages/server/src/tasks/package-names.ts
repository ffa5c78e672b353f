/** The grammars of package names, versions, extras and file names: what does not fit them never becomes part of a path or command. */

const NAME = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const VERSION = /^[A-Za-z0-9]([A-Za-z0-9.!+_-]*[A-Za-z0-9])?$/;
const PINNED = /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9._,\s-]+\])?$/;

export const packageNameProblem = (name: string) =>
  NAME.test(name) ? undefined : 'A package name has letters, digits, ".", "-" and "_" only.';

export const versionProblem = (version: string) =>
  VERSION.test(version) ? undefined : 'A version has letters, digits, ".", "-", "_", "+" and "!" only.';

export function extrasProblem(extras: string): string | undefined {
  const names = extras.split(',').map((name) => name.trim());
  return names.every((name) => NAME.test(name))
    ? undefined
    : 'Write extras as names separated by commas, without brackets.';
}

export function pinsProblem(pins: Record<string, string>): string | undefined {
  for (const [name, version] of Object.entries(pins)) {
    if (!PINNED.test(name)) return `"${name}" is not the name of a package.`;
    if (!VERSION.test(version)) return `"${version}" is not a version of ${name}.`;
  }
  return undefined;
}

/** Names of files become names of folders, which get something added when they are moved aside; systems allow 255 characters. */
const LONGEST_FILENAME = 200;

interface Named {
  name: string;
  version: string;
}

/** `pkg-1.0-py3-none-any.whl`, with a build number or without. */
export function wheelNameParts(filename: string): Named | { problem: string } {
  const parts = filename.replace(/\.whl$/, '').split('-');
  const [name, version] = parts;
  const fits =
    filename.endsWith('.whl') && filename.length <= LONGEST_FILENAME && (parts.length === 5 || parts.length === 6);
  if (!fits || !NAME.test(name!) || !VERSION.test(version!) || !/^[\w.+!-]+$/.test(filename)) {
    return { problem: `"${filename}" is not the name of a wheel, such as package-1.0-py3-none-any.whl.` };
  }
  return { name: name!, version: version! };
}

/** `pkg-1.0.tar.gz` */
export function archiveNameParts(filename: string): Named | { problem: string } {
  const parts = filename.replace(/\.tar\.gz$/, '').split('-');
  const [name, version] = parts;
  const fits = filename.endsWith('.tar.gz') && filename.length <= LONGEST_FILENAME && parts.length === 2;
  if (!fits || !NAME.test(name!) || !VERSION.test(version!) || filename.includes('..'))
    return { problem: `"${filename}" must be called package-version.tar.gz, with one "-".` };
  return { name: name!, version: version! };
}
