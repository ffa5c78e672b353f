/**
 * npm run check:dependencies: what comes from others, judged by the lock file and by what is installed.
 *
 * - Every package has a hash, so that what is installed is what was locked, whoever delivers it; and none names the place it
 *   comes from, so that the registry stays the choice of the machine.
 * - Scripts that packages run when they are installed are allowed or denied one by one (`allowScripts`), by name.
 * - Licences go together with ours.
 * - What a package needs on other systems is in the lock file too, so that one installs the same everywhere.
 *
 * Reads the folder that it is given, else the one it is run in. No network.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const OURS = 'BSD-3-Clause';

/** Licences that ask for no more than to be named: their code may go out with ours. */
const COMPATIBLE = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
]);

/** Accepted for single packages, and only while nothing that we deliver depends on them. */
const FOR_DEVELOPMENT = [
  {
    licence: 'MPL-2.0',
    packages: /^axe-core$/,
    why: 'tests look at pages with it; it is used as it is and not delivered',
  },
  {
    licence: 'CC0-1.0',
    packages: /^@iconify-json\/simple-icons$/,
    why: 'what builds the manual brings these icons along; none of them is used',
  },
  {
    licence: 'MPL-2.0',
    packages: /^lightningcss(-[\w-]+)?$/,
    why: 'a tool of the build of the web client; it is used as it is, and nothing of it is in what it makes',
  },
];

const INSTALL_SCRIPTS = ['preinstall', 'install', 'postinstall'];

interface Locked {
  name?: string;
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: true;
  dev?: true;
  hasInstallScript?: true;
  license?: string;
  optionalDependencies?: Record<string, string>;
}

interface Manifest {
  license?: string | { type?: string };
  /** How licences were written before there was `license`. */
  licenses?: { type?: string }[];
  scripts?: Record<string, string>;
  allowScripts?: Record<string, unknown>;
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** `node_modules/a/node_modules/@b/c` → `@b/c` */
const nameOf = (path: string, { name }: Locked) => name ?? path.slice(path.lastIndexOf('node_modules/') + 13);

function integrityProblem({ integrity, resolved }: Locked): string | undefined {
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')) return 'has no sha512 hash in the lock file';
  if (resolved !== undefined) return `names the place it comes from, ${resolved}; leave "resolved" out`;
  return undefined;
}

/** An `A OR B` is as good as its best part, an `A AND B` as its worst. What mixes the two is for a person to read. */
function isCompatible(licence: string): boolean {
  const plain = licence.replace(/^\(([^()]*)\)$/, '$1');
  const known = (part: string) => COMPATIBLE.has(part);
  return plain.split(' OR ').some(known) || plain.split(' AND ').every(known);
}

/** What the package itself says; for one that is not installed on this machine, what the lock file says. */
function licenceOf(locked: Locked, installed: Manifest | undefined): string | undefined {
  const { license, licenses } = installed ?? {};
  const own = typeof license === 'object' ? license.type : license;
  return own ?? licenses?.map(({ type }) => type).join(' AND ') ?? locked.license;
}

function licenceProblem(name: string, locked: Locked, installed: Manifest | undefined): string | undefined {
  const licence = licenceOf(locked, installed);
  if (licence === undefined) return 'says nowhere under which licence it is';
  if (isCompatible(licence)) return undefined;
  const accepted = FOR_DEVELOPMENT.find((one) => one.licence === licence && one.packages.test(name));
  if (!accepted) return `is under ${licence}, which is not on the list of licences that go together with ${OURS}`;
  return locked.dev ? undefined : `is under ${licence}, which is accepted for development only: ${accepted.why}`;
}

function installScriptProblem(locked: Locked, folder: string, installed: Manifest | undefined): string | undefined {
  if (locked.hasInstallScript || !installed) return undefined;
  const script = INSTALL_SCRIPTS.find((one) => installed.scripts?.[one] !== undefined);
  if (script !== undefined) return `has a script "${script}" that the lock file does not tell (hasInstallScript)`;
  // npm compiles such a package without being asked
  return existsSync(join(folder, 'binding.gyp'))
    ? 'is compiled when it is installed, and the lock file does not tell'
    : undefined;
}

/** Every package with a script has its own line, allowed or denied, and there are no other lines. */
function allowScriptsProblems(allowed: Record<string, unknown>, withScripts: Set<string>): string[] {
  const undecided = [...withScripts].filter((name) => !Object.hasOwn(allowed, name));
  const needless = Object.keys(allowed).filter((name) => !withScripts.has(name));
  const unclear = Object.entries(allowed).filter(([, value]) => typeof value !== 'boolean');
  return [
    ...undecided.map(
      (name) => `${name} has an install script: allow or deny it by its name in allowScripts of package.json`,
    ),
    ...needless.map(
      (name) => `allowScripts of package.json names ${name}, and no package of this name has an install script`,
    ),
    ...unclear.map(([name]) => `allowScripts of package.json must say true or false for ${name}`),
  ];
}

/** npm leaves such a package out without a word when its version is nowhere to be had; on that system nothing would start. */
function missingOptional(path: string, { optionalDependencies = {} }: Locked, all: Record<string, Locked>): string[] {
  const places = (name: string) => [`${path}/node_modules/${name}`, `node_modules/${name}`];
  const missing = Object.keys(optionalDependencies).filter((name) => !places(name).some((place) => all[place]));
  return missing.map((name) => `${path || 'package.json'} needs ${name} on some systems, which the lock file lacks`);
}

function problemsOf(folder: string): string[] {
  const lock = readJson(join(folder, 'package-lock.json')) as { packages: Record<string, Locked> };
  const manifest = readJson(join(folder, 'package.json')) as Manifest;
  const problems: string[] = [];
  const withScripts = new Set<string>();
  for (const [path, locked] of Object.entries(lock.packages)) {
    if (locked.link) continue;
    problems.push(...missingOptional(path, locked, lock.packages));
    if (!path.includes('node_modules/')) {
      if (locked.license !== OURS)
        problems.push(`${path || 'package.json'} must be under ${OURS} in the lock file too`);
      continue;
    }
    const name = nameOf(path, locked);
    const place = join(folder, path);
    const installed = existsSync(join(place, 'package.json'))
      ? (readJson(join(place, 'package.json')) as Manifest)
      : undefined;
    if (locked.hasInstallScript) withScripts.add(name);
    const found = [
      integrityProblem(locked),
      installScriptProblem(locked, place, installed),
      licenceProblem(name, locked, installed),
    ];
    for (const problem of found) if (problem !== undefined) problems.push(`${name} ${locked.version} ${problem}`);
  }
  return [...problems, ...allowScriptsProblems(manifest.allowScripts ?? {}, withScripts)];
}

const problems = problemsOf(process.argv[2] ?? process.cwd());
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
