/**
 * Which versions of a package there are. The index is the one that the machine's pip is set up for, unless a setting names
 * another; it is asked through pip's own library, so that proxies, certificates and credentials count as they do for pip.
 */
import { compareVersions, isPrerelease, isVersion } from '../engine/pep440.ts';
import { type Host, HostAway } from '../hosts/index.ts';
import { withoutCredentials } from '../settings/index.ts';

/** How the installers reach packages. */
export interface IndexSettings {
  index_url: string | null;
  extra_index_urls: string[];
  find_links: string[];
  trusted_hosts: string[];
  cert: string | null;
  no_index: boolean;
}

const READ_SETTINGS = `
import json
from pip._internal.configuration import Configuration
from pip._internal.models.index import PyPI
configuration = Configuration(isolated=False)
configuration.load()
found = {}
for entry in configuration.items():
    pairs = entry[1].items() if isinstance(entry[1], dict) else [entry]
    for key, value in pairs:
        found[key.split(".")[-1]] = value
words = lambda key: str(found.get(key, "")).split()
print(json.dumps({
    "index_url": str(found.get("index-url") or PyPI.simple_url),
    "extra_index_urls": words("extra-index-url"),
    "find_links": words("find-links"),
    "trusted_hosts": words("trusted-host"),
    "cert": found.get("cert"),
    "no_index": str(found.get("no-index", "")).lower() in ("1", "true", "yes", "on"),
}))
`;

const READ_PAGE = `
import json, sys
from pip._vendor import requests
url, cert = json.load(sys.stdin)
headers = {"Accept": "application/vnd.pypi.simple.v1+json, text/html;q=0.2"}
answer = requests.get(url, headers=headers, timeout=15, verify=cert or True)
print(json.dumps({"status": answer.status_code, "type": answer.headers.get("Content-Type", ""), "text": answer.text}))
`;

/** Runs a short Python program and reads the JSON it prints. What it is given is not seen in the list of processes. */
async function askPython<T>(host: Host, python: string, program: string, given: string[] = []): Promise<T> {
  let output = '';
  let everything = '';
  const done = await host.run([python, '-c', program], {
    input: JSON.stringify(given),
    // Python looks for modules in the current folder, so that must not be anybody's home
    cwd: '/',
    installs: true,
    onOutput: (text, from) => {
      everything += text;
      if (from === 'stdout') output += text;
    },
    signal: AbortSignal.timeout(30_000),
  });
  if (done.code !== 0) throw new Error(withoutCredentials(everything.trim().split('\n').at(-1) || 'no answer'));
  return JSON.parse(output.trim().split('\n').at(-1)!) as T;
}

/** `none` switches the index off; an address replaces the one of pip. */
export async function indexSettings(host: Host, python: string, setting: string | null): Promise<IndexSettings> {
  const ofPip = await askPython<IndexSettings>(host, python, READ_SETTINGS).catch((error: unknown): IndexSettings => {
    if (error instanceof HostAway) throw error;
    return {
      index_url: null,
      extra_index_urls: [],
      find_links: [],
      trusted_hosts: [],
      cert: null,
      no_index: false,
    };
  });
  if (setting === 'none') return { ...ofPip, index_url: null, extra_index_urls: [], no_index: true };
  return setting === null ? ofPip : { ...ofPip, index_url: setting, extra_index_urls: [], no_index: false };
}

export interface IndexPage {
  status: number;
  type: string;
  text: string;
}

/** The page of a package; 404 where the index does not know it. */
export function readIndexPage(host: Host, python: string, settings: IndexSettings, name: string): Promise<IndexPage> {
  const url = `${settings.index_url!.replace(/\/+$/, '')}/${name}/`;
  return askPython<IndexPage>(host, python, READ_PAGE, [url, settings.cert ?? '']);
}

export interface ListedVersion {
  version: string;
  yanked: boolean;
}

/** Lower case, and one hyphen for each run of hyphens, underscores and dots. */
export const normalisedName = (name: string) => name.toLowerCase().replace(/[-_.]+/g, '-');

/** The version in a file name such as `pkg-1.0-py3-none-any.whl` or `pkg-1.0.tar.gz`. */
function versionOfFile(filename: string, name: string): string | undefined {
  if (filename.endsWith('.whl')) return filename.split('-')[1];
  const stem = filename.replace(/\.(tar\.(gz|bz2|xz)|zip|tgz|egg)$/, '');
  if (stem === filename) return undefined;
  // the name itself may hold hyphens, so the first split whose left part is the name counts
  for (let at = stem.indexOf('-'); at > 0; at = stem.indexOf('-', at + 1)) {
    if (normalisedName(stem.slice(0, at)) === name) return stem.slice(at + 1);
  }
  return undefined;
}

const isSameVersion = (one: string, other: string) =>
  isVersion(one) && isVersion(other) && compareVersions(one, other) === 0;

function gather(files: { filename: string; yanked: boolean }[], name: string, listed: string[] = []): ListedVersion[] {
  const found = new Map<string, boolean>(listed.map((version) => [version, false]));
  const seen = new Set<string>();
  for (const { filename, yanked } of files) {
    const written = versionOfFile(filename, name);
    if (written === undefined) continue;
    // old files write versions otherwise than lists do: 1.0.alpha1 for 1.0a1
    const version = found.has(written) ? written : (listed.find((one) => isSameVersion(one, written)) ?? written);
    // a version is yanked when all of its files are
    found.set(version, yanked && (seen.has(version) ? found.get(version)! : true));
    seen.add(version);
  }
  return [...found].map(([version, yanked]) => ({ version, yanked }));
}

// quotes may hold a ">", as in data-requires-python=">=3.8"
const ANCHOR = /<a\b((?:"[^"]*"|'[^']*'|[^>"'])*)>([^<]*)<\/a>/gi;
const isYanked = (attributes: string) => /\sdata-yanked\b/i.test(attributes.replace(/"[^"]*"|'[^']*'/g, '""'));

/** Reads the page in either form that indexes answer with. */
export function versionsOfPage(page: IndexPage, name: string): ListedVersion[] {
  if (page.type.includes('json')) {
    const { versions = [], files = [] } = JSON.parse(page.text) as {
      versions?: string[];
      files?: { filename: string; yanked?: boolean | string }[];
    };
    return gather(
      files.map(({ filename, yanked }) => ({ filename, yanked: yanked !== undefined && yanked !== false })),
      name,
      versions,
    );
  }
  const links = [...page.text.matchAll(ANCHOR)];
  return gather(
    links.map(([, attributes, text]) => ({ filename: text!.trim(), yanked: isYanked(attributes!) })),
    name,
  );
}

/** The newest: released before pre-released, offered before withdrawn. */
function newest(candidates: ListedVersion[]): string | undefined {
  const known = candidates.filter(({ version }) => isVersion(version));
  const pools = [
    known.filter(({ version, yanked }) => !yanked && !isPrerelease(version)),
    known.filter(({ yanked }) => !yanked),
    known,
  ];
  const pool = pools.find((one) => one.length > 0) ?? [];
  return pool
    .map(({ version }) => version)
    .sort(compareVersions)
    .at(-1);
}

/** The version that is meant: the newest, exactly this one, the newest that begins with it (`1.2` means `1.2.x`), or an equal one. */
export function chosenVersion(asked: string | undefined, listed: ListedVersion[]): string | undefined {
  if (asked === undefined) return newest(listed);
  if (listed.some(({ version }) => version === asked)) return asked;
  const beginning = newest(listed.filter(({ version }) => version.startsWith(`${asked}.`)));
  return beginning ?? listed.find(({ version }) => isSameVersion(version, asked))?.version;
}
