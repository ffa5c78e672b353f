/**
 * The forms that take packages in: what is wrong with them before anything is sent, and what is sent.
 *
 * Each form gives `problems` by the name of its field, and the body as the service takes it. Empty fields are left out.
 */

export interface Pin {
  name: string;
  version: string;
  when: 'pre' | 'post';
}

export const PIN_WORDS: Record<Pin['when'], string> = { pre: 'before', post: 'after' };

export type Problems = Record<string, string>;

/** What a form is given when it is sent. */
export interface Sending {
  query: { private: boolean; user_group_id?: number };
  /** How much is sent, from 0 to 1. */
  onprogress: (share: number) => void;
}

export interface PackageFields {
  /** From the index, or a wheel. */
  from: 'index' | 'wheel';
  package: string;
  package_version: string;
  python_version: string;
  package_extras: string;
  pins: Pin[];
  file: File | undefined;
}

export const emptyPackage = (from: PackageFields['from']): PackageFields => ({
  from,
  package: '',
  package_version: '',
  python_version: '',
  package_extras: '',
  pins: [],
  file: undefined,
});

const NAME = /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i;

export const pinProblem = ({ name, version }: Pick<Pin, 'name' | 'version'>): string | undefined =>
  !NAME.test(name.trim())
    ? 'Enter a package name, such as numpy.'
    : version.trim() === ''
      ? 'Enter a version, such as 2.1.3.'
      : undefined;

export function packageProblems(fields: PackageFields): Problems {
  const problems: Problems = {};
  const name = fields.package.trim();
  if (fields.from === 'index') {
    if (name === '') problems['package'] = 'Enter a package name.';
    else if (!NAME.test(name)) problems['package'] = 'The name of a package has letters, digits, dots and dashes only.';
  } else if (!fields.file) problems['file'] = 'Choose a wheel file.';
  else if (!fields.file.name.endsWith('.whl')) problems['file'] = 'A wheel is a file that ends in .whl.';
  return problems;
}

const pinsOf = (pins: readonly Pin[], when: Pin['when']) =>
  JSON.stringify(
    Object.fromEntries(
      pins.filter((pin) => pin.when === when).map(({ name, version }) => [name.trim(), version.trim()]),
    ),
  );

function formOf(fields: Record<string, string | File | undefined>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') {
      if (value.trim() !== '') form.set(name, value.trim());
    } else if (value) form.set(name, value, value.name);
  }
  return form;
}

export function packageForm(fields: PackageFields): FormData {
  const { from, pins, file } = fields;
  const has = (when: Pin['when']) => pins.some((pin) => pin.when === when);
  return formOf({
    ...(from === 'index' ? { package: fields.package, package_version: fields.package_version } : { file }),
    python_version: fields.python_version,
    package_extras: fields.package_extras,
    ...(has('pre') ? { pinned_package_versions_pre: pinsOf(pins, 'pre') } : {}),
    ...(has('post') ? { pinned_package_versions_post: pinsOf(pins, 'post') } : {}),
  });
}

export interface PixiFields {
  file: File | undefined;
  pixi_version: string;
  use_pixi_lockfile: boolean;
}

export function pixiProblems({ file }: PixiFields): Problems {
  if (!file) return { file: 'Choose a pixi project, packed as .tar.gz.' };
  return file.name.endsWith('.tar.gz') ? {} : { file: 'A packed pixi project is a file that ends in .tar.gz.' };
}

export const pixiForm = ({ file, pixi_version, use_pixi_lockfile }: PixiFields): FormData =>
  formOf({ file, pixi_version, use_pixi_lockfile: String(use_pixi_lockfile) });

export interface CustomFields {
  python_interpreter: string;
  manifest: unknown;
  label: string;
  version: string;
  package_name: string;
  package_root: string;
}

const pathProblem = (path: string): string | undefined =>
  path.trim().startsWith('/') ? undefined : 'Enter an absolute path, beginning with /.';

export function customProblems(fields: CustomFields): Problems {
  const problems: Problems = {};
  const { python_interpreter, label, version, package_name, package_root } = fields;
  if (python_interpreter.trim() === '')
    problems['python_interpreter'] = 'Enter the path of the Python that has the package.';
  else {
    const wrong = pathProblem(python_interpreter);
    if (wrong) problems['python_interpreter'] = wrong;
  }
  if (fields.manifest === undefined) problems['manifest'] = 'Choose the manifest of the package.';
  if (label.trim() === '') problems['label'] = 'Enter a name. People will find the package by it.';
  if (version.trim() === '') problems['version'] = 'Enter a version.';
  const [name, root] = [package_name.trim() !== '', package_root.trim() !== ''];
  if (name && root) problems['package_root'] = 'Enter the name or the folder, not both.';
  else if (!name && !root) problems['package_name'] = 'Enter the package name, or its folder.';
  else if (root) {
    const wrong = pathProblem(package_root);
    if (wrong) problems['package_root'] = wrong;
  }
  return problems;
}

export function customBody(fields: CustomFields) {
  const { python_interpreter, label, version, package_name, package_root, manifest } = fields;
  return {
    python_interpreter: python_interpreter.trim(),
    label: label.trim(),
    version: version.trim(),
    ...(package_name.trim() === '' ? { package_root: package_root.trim() } : { package_name: package_name.trim() }),
    manifest,
  };
}

/** Refusals about a field name it in front: `package_version: …`. */
export function fieldOfRefusal(message: string, fields: readonly string[]): Problems | undefined {
  const [, name, words] = /^(\w+): (.+)$/s.exec(message) ?? [];
  if (name !== undefined && fields.includes(name)) return { [name]: words! };
  if (fields.includes('package') && /package index (does not know|cannot be asked)/.test(message))
    return { package: message };
  if (fields.includes('package_version') && /has no version/.test(message)) return { package_version: message };
  return fields.includes('file') && /uploaded file|wheel|archive/i.test(message) ? { file: message } : undefined;
}
