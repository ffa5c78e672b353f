/**
 * Makes Python environments and installs into them: with uv where it is to be had, which is many times faster, else with
 * pip. Environments have pip and setuptools either way, as task packages expect.
 */
import { join } from 'node:path';

import { type Host, HostAway } from '../../hosts/index.ts';
import type { IndexSettings } from '../package-index.ts';
import { installFailure } from './install-failure.ts';
import type { ProcedureRun } from './procedure-run.ts';
import { UV_REQUIREMENT, UV_VERSION } from './uv-pin.ts';

export interface Installer {
  name: 'uv' | 'pip';
  makeEnvironment(venv: string): Promise<void>;
  install(venv: string, requirements: string[]): Promise<void>;
  /** Installs exactly what a frozen list says, which is complete: nothing else is looked for. */
  installFile(venv: string, file: string): Promise<void>;
}

interface Parts {
  run: ProcedureRun;
  /** The interpreter of the environments. */
  python: string;
  index: IndexSettings;
  /** pip's cache; null for none. */
  cacheDir: string | null;
  /** The account that installs has no home for a cache, and reads nothing of how pip is set up for the service. */
  isStranger?: boolean;
  hasNoHome?: boolean;
}

const pythonOf = (venv: string) => join(venv, 'bin/python');

/** pip reads its own configuration; only what the service sets differently is said. */
function pipOptions({ index, cacheDir }: Parts): string[] {
  return [
    ...(cacheDir === null ? ['--no-cache-dir'] : ['--cache-dir', cacheDir]),
    ...(index.no_index ? ['--no-index'] : []),
    '--disable-pip-version-check',
    '--no-input',
  ];
}

/** Addresses of indexes, which may hold credentials, for variables. */
const addresses = (variables: Record<string, string | null>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter((pair): pair is [string, string] => Boolean(pair[1])));

const pipSecrets = ({ index, isStranger }: Parts) =>
  addresses({
    PIP_INDEX_URL: index.no_index ? null : index.index_url,
    ...(isStranger && {
      PIP_EXTRA_INDEX_URL: index.no_index ? null : index.extra_index_urls.join(' '),
      PIP_FIND_LINKS: index.find_links.join(' '),
      PIP_TRUSTED_HOST: index.trusted_hosts.join(' '),
      PIP_CERT: index.cert,
    }),
  });

export function pipInstaller(parts: Parts): Installer {
  const { run, python, index } = parts;
  const install = async (venv: string, what: string[]) =>
    void (await run.command([pythonOf(venv), '-m', 'pip', 'install', ...pipOptions(parts), ...what], {
      secrets: pipSecrets(parts),
      explain: installFailure,
    }));
  return {
    name: 'pip',
    async makeEnvironment(venv) {
      await run.command([python, '-m', 'venv', '--copies', venv]);
      // without an index the environment keeps what the interpreter brings along
      if (!index.no_index) await install(venv, ['--upgrade', 'pip', 'setuptools']);
    },
    install,
    installFile: (venv, file) => install(venv, ['--no-deps', '--requirement', file]),
  };
}

/** uv reads no configuration of pip, so everything is said. */
function uvOptions({ index }: Parts): string[] {
  return [
    ...(index.no_index ? ['--no-index'] : []),
    ...index.trusted_hosts.flatMap((host) => ['--allow-insecure-host', host]),
  ];
}

const uvSecrets = ({ no_index, index_url, extra_index_urls, find_links }: IndexSettings) =>
  addresses({
    UV_DEFAULT_INDEX: no_index ? null : index_url,
    UV_INDEX: no_index ? null : extra_index_urls.join(' '),
    UV_FIND_LINKS: find_links.join(),
  });

function uvInstaller(parts: Parts, uv: string): Installer {
  const { run, python, index, cacheDir } = parts;
  const env: Record<string, string> = {
    UV_NO_PROGRESS: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    UV_NO_CONFIG: '1',
    ...(cacheDir === null ? {} : { UV_CACHE_DIR: join(cacheDir, 'uv') }),
    ...(cacheDir === null && parts.hasNoHome ? { UV_NO_CACHE: '1' } : {}),
    ...(index.cert === null ? {} : { SSL_CERT_FILE: index.cert }),
  };
  const install = async (venv: string, what: string[]) =>
    void (await run.command([uv, 'pip', 'install', '--python', pythonOf(venv), ...uvOptions(parts), ...what], {
      env,
      secrets: uvSecrets(index),
      explain: installFailure,
    }));
  return {
    name: 'uv',
    async makeEnvironment(venv) {
      await run.command([uv, 'venv', '--no-project', '--python', python, venv], { env });
      await install(venv, ['pip', 'setuptools']);
    },
    install,
    installFile: (venv, file) => install(venv, ['--no-deps', '--requirement', file]),
  };
}

/** Where the service keeps the uv that it brought; another version has another folder. */
const broughtUv = (toolsDir: string) => join(toolsDir, 'uv', UV_VERSION);

/** Brings uv from the package index, once; says why when it cannot be had. */
async function bringUv(parts: Parts, toolsDir: string, host: Host): Promise<string | undefined> {
  const { run, python, index } = parts;
  const folder = broughtUv(toolsDir);
  const program = join(folder, 'bin/uv');
  if ((await host.kindOf(program)) === 'file') return program;
  if (index.no_index) return undefined;
  run.say(`Bringing uv ${UV_VERSION}, which installs packages much faster than pip, from the package index`);
  const draft = `${folder}.new-${process.pid}-${Date.now()}`;
  const list = `${draft}.txt`;
  try {
    await host.makeFolder(join(toolsDir, 'uv'));
    await host.writeText(list, UV_REQUIREMENT);
    const only = ['--require-hashes', '--no-deps', '--only-binary', ':all:', '--requirement', list];
    await run.command([python, '-m', 'pip', 'install', ...pipOptions(parts), '--target', draft, ...only], {
      secrets: pipSecrets(parts),
      host,
    });
    await run.command([join(draft, 'bin/uv'), '--version'], { host });
    // accounts of others run it, whatever the umask
    await run.command(['chmod', '-R', 'u=rwX,go=rX', draft], { host });
    await host.rename(draft, folder).catch(() => undefined); // another collection may have been faster
    return program;
  } catch (error) {
    if (error instanceof HostAway) throw error;
    run.say(`uv cannot be had (${(error as Error).message}); pip installs instead`, 'WARNING');
    return undefined;
  } finally {
    await host.remove(draft);
    await host.remove(list);
  }
}

/** uv as the resource names it, or as the service brings it; pip where neither works. */
export async function chooseInstaller(
  parts: Parts,
  options: { uv: string | null; toolsDir: string; tools?: Host },
): Promise<Installer> {
  // Without an index uv has no pip and setuptools to put into an environment; Python's own venv has.
  if (parts.index.no_index) return pipInstaller(parts);
  const uv = options.uv ?? (await bringUv(parts, options.toolsDir, options.tools ?? parts.run.host));
  return uv === undefined ? pipInstaller(parts) : uvInstaller(parts, uv);
}
