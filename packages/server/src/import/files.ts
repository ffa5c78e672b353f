/** The files that imported rows name: nothing is moved, so they should be where they were. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';

import type pg from 'pg';

import { FILE_KINDS, type FileKind, type FoundFiles } from '@service/contract';

const SHOWN_PATHS = 20;
const AT_A_TIME = 500;

type State = 'there' | 'missing' | 'unreadable';

/** What a row names. Of a job either the folder or its zip is enough. */
interface Named {
  kind: FileKind;
  path: string;
}

/** Environments of a cluster that is reached by SSH are there, not here; so are their archives. */
const NAMED = `
  select 'job_folders' as kind, working_dir as path from jobs where working_dir is not null
  union all
  select 'environments', coalesce(g.venv_path, g.path) from task_groups g join resources r on r.id = g.resource_id
  where r.type <> 'slurm_ssh' and g.active and coalesce(g.venv_path, g.path) is not null
  union all
  select 'archives', g.archive_path from task_groups g join resources r on r.id = g.resource_id
  where r.type <> 'slurm_ssh' and g.archive_path is not null
  union all
  select 'keys', ssh_key_path from profiles where ssh_key_path is not null`;

async function stateOf(path: string): Promise<State> {
  try {
    await access(path, constants.R_OK);
    return 'there';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EACCES' || code === 'EPERM' ? 'unreadable' : 'missing';
  }
}

async function lookFor({ kind, path }: Named): Promise<{ kind: FileKind; path: string; state: State }[]> {
  const state = await stateOf(path);
  if (kind !== 'job_folders') return [{ kind, path, state }];
  const zip = { kind: 'job_zips' as const, path: `${path}.zip`, state: await stateOf(`${path}.zip`) };
  const folder = { kind, path, state };
  const found = [folder, zip].filter((one) => one.state !== 'missing');
  return found.length > 0 ? found : [folder];
}

export type Files = Record<FileKind, FoundFiles>;

export async function lookForFiles(target: pg.ClientBase): Promise<Files> {
  const files = Object.fromEntries(
    FILE_KINDS.map((kind) => [kind, { there: 0, missing: 0, unreadable: 0, paths: [] as string[] }]),
  ) as Files;
  await target.query(`declare named_files cursor for ${NAMED}`);
  for (;;) {
    const { rows } = await target.query<Named>(`fetch ${AT_A_TIME} from named_files`);
    if (rows.length === 0) break;
    for (const { kind, path, state } of (await Promise.all(rows.map(lookFor))).flat()) {
      files[kind][state]++;
      if (state !== 'there' && files[kind].paths.length < SHOWN_PATHS) files[kind].paths.push(path);
    }
  }
  await target.query('close named_files');
  return files;
}
