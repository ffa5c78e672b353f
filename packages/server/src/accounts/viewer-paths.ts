/** The folders whose images a person may look at; a companion service that streams image data asks for them. */
import type { User } from '@service/contract';

import type { Database } from '../db/index.ts';
import type { Settings } from '../settings/index.ts';
import { profileInfo, zarrDirsOf } from './store/users.ts';

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
