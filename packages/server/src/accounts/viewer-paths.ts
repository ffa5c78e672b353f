/** The folders whose images a person may look at, for companion services that ask for them and for our own reading of files. */
import type { User } from '@service/contract';

import type { Database } from '../db/index.ts';
import type { ReadableFolder } from '../folders/index.ts';
import type { Settings } from '../settings/index.ts';
import { profileInfo, zarrDirsOf, zarrDirsWithRoots } from './store/users.ts';

type ViewerSettings = Pick<Settings['app'], 'SERVICE_VIEWER_AUTHORIZATION_SCHEME' | 'SERVICE_VIEWER_BASE_FOLDER'>;

async function ownFolder(db: Database, user: User, settings: ViewerSettings): Promise<string[]> {
  const username = (await profileInfo(db, user.id))?.username ?? null;
  return username === null ? [] : [`${settings.SERVICE_VIEWER_BASE_FOLDER}/${username}`];
}

/** With `projects`, the datasets of all projects of the person come along, owned ones too. */
export async function viewerPaths(
  db: Database,
  user: User,
  settings: ViewerSettings,
  { projects }: { projects: boolean },
): Promise<string[]> {
  const scheme = settings.SERVICE_VIEWER_AUTHORIZATION_SCHEME;
  if (scheme === 'none') return [];
  const own = scheme === 'users-folders' ? await ownFolder(db, user, settings) : [];
  return [...user.project_dirs, ...own, ...(projects ? await zarrDirsOf(db, user.id) : [])];
}

/** The same folders, each with the one that an administrator named above it, where that is known. */
export async function viewerFolders(db: Database, user: User, settings: ViewerSettings): Promise<ReadableFolder[]> {
  if (settings.SERVICE_VIEWER_AUTHORIZATION_SCHEME === 'none') return [];
  const named = await viewerPaths(db, user, settings, { projects: false });
  return [...named.map((path) => ({ path, root: path })), ...(await zarrDirsWithRoots(db, user.id))];
}
