/** Asks for a collection: everything that can be refused is refused before anything is made. */
import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';

import {
  type Activity,
  type CollectPip,
  type CollectPixi,
  commandProblem,
  covers,
  type Resource,
  type UploadedFile,
  type User,
} from '@service/contract';

import { usableProfile } from '../accounts/index.ts';
import type { Database } from '../db/index.ts';
import { localHost } from '../hosts/index.ts';
import { refuse } from '../http/index.ts';
import type { Queue } from '../queue/index.ts';
import type { RunAs } from '../run-as/index.ts';
import { collectorFor } from './collector.ts';
import { VERSION } from '../version.ts';
import { chosenVersion, indexSettings, normalisedName, readIndexPage, versionsOfPage } from './package-index.ts';
import {
  archiveNameParts,
  packageNameProblem,
  pinsProblem,
  versionProblem,
  wheelNameParts,
  extrasProblem,
} from './package-names.ts';
import { baseFolder, isFar } from './install-site.ts';
import * as store from './store/lifecycle.ts';
import { explainDuplicate, folderTaken } from './store/task-groups.ts';
import { chooseUserGroup, type Visibility } from './visibility.ts';

export interface CollectParts {
  db: Database;
  queue: Pick<Queue, 'wake'>;
  defaultGroup: string | null;
  dataDir: string;
  packageIndex: string | null;
  /** Whose accounts run what packages bring. */
  runAs: RunAs;
}

/** Texts of a form that become part of a command: said in words what is wrong. */
function checkedText(
  field: string,
  written: string | null | undefined,
  problem: (text: string) => string | undefined,
): string | undefined {
  if (written == null) return undefined;
  const text = written.trim();
  if (text === '') throw refuse(422, `${field} is empty. Leave it out or fill it in.`);
  const wrong = commandProblem(text.replace(/[[\]]/g, '')) ?? problem(text);
  if (wrong !== undefined) throw refuse(422, `${field}: ${wrong}`);
  return text;
}

interface PythonConfig {
  default_version: string;
  versions: Record<string, string>;
}

async function versionFromIndex(
  parts: CollectParts,
  python: string,
  name: string,
  asked: string | undefined,
): Promise<string> {
  const index = await indexSettings(localHost, python, parts.packageIndex);
  if (index.no_index || index.index_url === null) {
    if (asked === undefined)
      throw refuse(422, 'The package index is switched off here. Give package_version, or upload a wheel.');
    return asked;
  }
  const page = await readIndexPage(localHost, python, index, name).catch((error: Error) => {
    throw refuse(
      422,
      `The package index cannot be asked for ${name}: ${error.message}. Try again later, or upload a wheel.`,
    );
  });
  if (page.status === 404) throw refuse(422, `The package index does not know ${name}. Check the name.`);
  if (page.status !== 200)
    throw refuse(422, `The package index answered ${page.status} when asked for ${name}. Try again later.`);
  const listed = versionsOfPage(page, name);
  const version = chosenVersion(asked, listed);
  if (version !== undefined) return version;
  const newest = chosenVersion(undefined, listed);
  throw refuse(422, `${name} has no version ${asked ?? ''}.${newest === undefined ? '' : ` The newest is ${newest}.`}`);
}

/** Uploaded files that cannot be what they are called are refused at once. */
async function checkContent(file: UploadedFile, signature: number[], what: string): Promise<void> {
  const handle = await open(file.path);
  try {
    const { buffer } = await handle.read(Buffer.alloc(signature.length), 0, signature.length, 0);
    if (!signature.every((byte, index) => buffer[index] === byte))
      throw refuse(422, `The uploaded file is not ${what}.`);
  } finally {
    await handle.close();
  }
}

/** `<base>/<owner>/<package>/<version>`, and nowhere else. */
function folderOf(base: string, user: User, pkgName: string, version: string): string {
  const path = join(base, String(user.id), pkgName, version);
  const inside = covers(join(base, String(user.id), pkgName), path) && path !== join(base, String(user.id), pkgName);
  if (!inside || [pkgName, version].some((part) => part.includes('/') || part.startsWith('.'))) {
    throw refuse(422, 'The name or version of the package cannot be the name of a folder.');
  }
  return path;
}

/** Copies an upload to where it stays until the collection is over. */
async function keepUpload(dataDir: string, file: UploadedFile): Promise<string> {
  const folder = join(dataDir, 'uploads', randomUUID());
  await mkdir(folder, { recursive: true });
  const path = join(folder, file.filename);
  try {
    await pipeline(createReadStream(file.path, { start: 0 }), createWriteStream(path));
    return path;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

type Group = Omit<
  store.NewGroup,
  'user_id' | 'resource_id' | 'user_group_id' | 'path' | 'venv_path' | 'archive_path' | 'env_info'
>;

type Where = Awaited<ReturnType<typeof usableProfile>>;

async function accept(
  parts: CollectParts,
  user: User,
  { resource, profile }: Where,
  visibility: Visibility,
  group: Group,
  request: { file?: UploadedFile | null | undefined; use_pixi_lockfile?: boolean; python?: string },
): Promise<Activity> {
  const user_group_id = await chooseUserGroup(parts.db, user, visibility, parts.defaultGroup);
  const path = folderOf(baseFolder(resource, profile), user, group.pkg_name, group.version);
  const row = {
    ...group,
    user_id: user.id,
    resource_id: resource.id,
    user_group_id,
    path,
    venv_path: group.origin === 'pixi' ? null : join(path, 'venv'),
    archive_path: null,
    env_info: null,
  };
  // a far machine is looked at when the collection begins
  const exists =
    !isFar(resource) &&
    (await access(path).then(
      () => true,
      () => false,
    ));
  const taken = exists ? await folderTaken(parts.db, row) : undefined;
  const { problem } = await collectorFor(parts.runAs, { resource, profile }, { path, python: request.python ?? '' });
  if (problem !== undefined) throw refuse(422, problem);
  const upload = request.file ? await keepUpload(parts.dataDir, request.file) : undefined;
  try {
    const activity = await parts.db.transaction().execute(async (trx) => {
      const made = await store.insertGroup(trx, row);
      if (exists)
        throw refuse(
          422,
          taken ?? `The folder ${path} exists already. Delete it, or ask an administrator to, then collect again.`,
        );
      const { use_pixi_lockfile } = request;
      return store.insertActivity(trx, {
        group: made,
        action: 'collect',
        request: {
          ...(upload === undefined ? {} : { upload }),
          ...(use_pixi_lockfile === undefined ? {} : { use_pixi_lockfile }),
        },
        fractal_server_version: VERSION,
      });
    });
    parts.queue.wake();
    return activity;
  } catch (error) {
    if (upload !== undefined) await rm(join(upload, '..'), { recursive: true, force: true });
    const duplicate = await explainDuplicate(parts.db, error, row);
    throw duplicate === undefined ? error : refuse(422, duplicate);
  }
}

/** The form, with everything refused that must not become part of a command. */
function checkedForm(body: CollectPip) {
  const name = checkedText('package', body.package, packageNameProblem);
  const version = checkedText('package_version', body.package_version, versionProblem);
  const extras = checkedText('package_extras', body.package_extras, extrasProblem);
  const pre = body.pinned_package_versions_pre ?? {};
  const post = body.pinned_package_versions_post ?? {};
  const problem = pinsProblem(pre) ?? pinsProblem(post);
  if (problem !== undefined) throw refuse(422, problem);
  const file = body.file ?? undefined;
  if (file && (name !== undefined || version !== undefined)) {
    throw refuse(422, 'Give package and package_version, or a file, not both.');
  }
  if (!file && name === undefined) throw refuse(422, 'Say what to collect: package is missing.');
  return { name, version, extras, pre, post, file };
}

function interpreterOf(resource: Resource, asked: string | null | undefined): { version: string; path: string } {
  const { versions, default_version } = resource.tasks_python_config as unknown as PythonConfig;
  const version = asked ?? default_version;
  const path = versions[version];
  if (path !== undefined) return { version, path };
  throw refuse(422, `Python ${version} is not available here. Choose one of: ${Object.keys(versions).join(', ')}.`);
}

/** The index is asked from here, where the interpreters of a far machine are not. */
const askingPython = (resource: Resource, python: string) => (isFar(resource) ? 'python3' : python);

export async function collectPip(
  parts: CollectParts,
  user: User,
  body: CollectPip,
  visibility: Visibility,
): Promise<Activity> {
  const form = checkedForm(body);
  const where = await usableProfile(parts.db, user);
  const { resource } = where;
  const python = interpreterOf(resource, body.python_version);
  const pkg_name = form.name === undefined ? '' : normalisedName(form.name);
  const identity = form.file
    ? await wheelIdentity(form.file)
    : { pkg_name, version: await versionFromIndex(parts, askingPython(resource, python.path), pkg_name, form.version) };
  const group = {
    origin: form.file ? ('wheel-file' as const) : ('pypi' as const),
    ...identity,
    python_version: python.version,
    pixi_version: null,
    pip_extras: form.extras ?? null,
    pinned_package_versions_pre: JSON.stringify(form.pre),
    pinned_package_versions_post: JSON.stringify(form.post),
  };
  return accept(parts, user, where, visibility, group, { file: form.file, python: python.path });
}

async function wheelIdentity(file: UploadedFile): Promise<{ pkg_name: string; version: string }> {
  const named = wheelNameParts(file.filename);
  if ('problem' in named) throw refuse(422, named.problem);
  await checkContent(file, [0x50, 0x4b], 'a wheel');
  return { pkg_name: normalisedName(named.name), version: named.version };
}

export async function collectPixi(
  parts: CollectParts,
  user: User,
  body: CollectPixi,
  visibility: Visibility,
): Promise<Activity> {
  const where = await usableProfile(parts.db, user);
  const { resource } = where;
  const config = resource.tasks_pixi_config as { versions?: Record<string, string>; default_version?: string };
  if (config.versions === undefined)
    throw refuse(422, 'pixi is not available on this resource. Ask an administrator to set it up.');
  const pixi_version = body.pixi_version ?? config.default_version!;
  if (!Object.hasOwn(config.versions, pixi_version)) {
    throw refuse(
      422,
      `pixi ${pixi_version} is not available here. Choose one of: ${Object.keys(config.versions).join(', ')}.`,
    );
  }
  const named = archiveNameParts(body.file.filename);
  if ('problem' in named) throw refuse(422, named.problem);
  await checkContent(body.file, [0x1f, 0x8b], 'a .tar.gz archive');
  const group = {
    origin: 'pixi' as const,
    pkg_name: normalisedName(named.name),
    version: named.version,
    python_version: null,
    pixi_version,
    pip_extras: null,
  };
  return accept(parts, user, where, visibility, group, {
    file: body.file,
    use_pixi_lockfile: body.use_pixi_lockfile,
  });
}
