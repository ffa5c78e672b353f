/**
 * From the manifest of a package to its tasks. What is wrong is said with the place inside the manifest:
 *
 *     task_list.3.executable_parallel: Remove line breaks and characters with a meaning for shells.
 */
import { commandProblem, inferredType, Manifest, type ManifestTask, normalisePath, readValue } from '@service/contract';
import { ServiceError } from '@service/contract/errors';

import { parseJsonBody, unstorableText } from '../http/index.ts';
import type { NewTask } from './store/tasks.ts';

/** Where in a manifest something is. */
type Loc = (string | number)[];

/** A manifest that reads well and still cannot become tasks; the message is for the person who collects it. */
export class ManifestProblem extends ServiceError {
  readonly kind = 'manifest-problem';
  readonly loc: Loc;

  constructor(loc: Loc, message: string) {
    super(at(loc, message));
    this.loc = loc;
  }
}

const at = (loc: Loc, message: string) =>
  `${loc.join('.') || 'the manifest'}: ${message.replace(/^Value error, /, '')}`;

/** Reads the text of a manifest file. */
export function readManifest(text: string): { manifest: Manifest } | { problem: string } {
  const json = parseJsonBody(Buffer.from(text.replace(/^\uFEFF/, '')));
  if ('refusal' in json) return { problem: 'The manifest is not valid JSON, or is nested too deeply.' };
  const unstorable = unstorableText(json.value);
  if (unstorable) {
    return {
      problem: at(unstorable, 'Remove the characters that cannot be stored: U+0000, or half of a surrogate pair.'),
    };
  }
  const read = readValue(Manifest, json.value, 'manifest');
  if ('value' in read) return { manifest: read.value };
  return { problem: read.entries.map(({ loc, msg }) => at(loc.slice(1), msg)).join('\n') };
}

export interface InstalledPackage {
  /** The interpreter that starts the tasks. */
  python: string;
  /** The folder that the executables of the manifest are relative to. */
  packageRoot: string;
  version: string;
}

/** Commands are split as a shell splits words, so a path with a space in it needs quotes. */
const word = (path: string) => (/[\s'"]/.test(path) ? `'${path.replaceAll("'", `'"'"'`)}'` : path);

function commandOf(executable: string | null, { python, packageRoot }: InstalledPackage, loc: Loc) {
  if (executable === null) return null;
  if (executable.trim() === '') throw new ManifestProblem(loc, 'Name a file of the package.');
  const path = normalisePath(executable.startsWith('/') ? executable : `${packageRoot}/${executable}`);
  const problem = commandProblem(`${python} ${path}`);
  if (problem !== undefined) throw new ManifestProblem(loc, `${problem} The command would be: ${python} ${path}`);
  return `${word(python)} ${word(path)}`;
}

/** The tasks of an installed package, in the order of the manifest. Throws a `ManifestProblem`. */
export function tasksOfManifest(manifest: Manifest, installed: InstalledPackage): NewTask[] {
  const args_schema_version = manifest.has_args_schemas ? manifest.args_schema_version : null;
  return manifest.task_list.map((entry: ManifestTask, index) => {
    const { executable_non_parallel, executable_parallel, type, ...task } = entry;
    const command = (executable: string | null, field: string) =>
      commandOf(executable, installed, ['task_list', index, field]);
    return {
      ...task,
      type: type ?? inferredType(executable_parallel, executable_non_parallel),
      version: installed.version,
      command_non_parallel: command(executable_non_parallel, 'executable_non_parallel'),
      command_parallel: command(executable_parallel, 'executable_parallel'),
      args_schema_version,
      authors: manifest.authors,
    };
  });
}
