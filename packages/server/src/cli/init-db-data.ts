/** `servicectl init-db-data`: what a fresh database needs. Each step stays done if a later one fails. */
import { join } from 'node:path';

import {
  countResources,
  createAdministrator,
  createResourceAndProfile,
  defaultProfile,
  defaultResource,
  ensureDefaultGroup,
  findPython,
} from '../accounts/index.ts';
import { operator } from '../audit/index.ts';
import { givenPassword, type Workplace } from '../workplace.ts';
import { CommandFailed, readJsonFile, withWorkplace } from './tools.ts';

interface Options {
  resource?: string;
  profile?: string;
  adminEmail?: string;
  adminPwd?: string;
  adminProjectDir?: string;
}

const OUTCOMES = {
  created: 'Created the administrator',
  'superuser exists': 'There is a superuser already; no administrator was created:',
  'e-mail taken': 'There is an account with this e-mail address already; no administrator was created:',
};

async function administrator({ db, settings }: Workplace, options: Options): Promise<void> {
  const asked = [options.adminEmail, options.adminPwd, options.adminProjectDir].some((option) => option !== undefined);
  if (!asked) return;
  const email = options.adminEmail;
  const projectDir = options.adminProjectDir;
  const password = givenPassword(options.adminPwd) ?? settings.start.SERVICE_ADMIN_PWD ?? undefined;
  if (email === undefined || projectDir === undefined || password === undefined) {
    throw new CommandFailed('Give --admin-email, --admin-pwd and --admin-project-dir together, or none of them.');
  }
  const outcome = await createAdministrator(
    db,
    operator('servicectl'),
    { email, password, projectDir },
    settings.app.SERVICE_DEFAULT_GROUP_NAME,
  );
  console.log(`${OUTCOMES[outcome]} ${email}`);
}

function resourceData(option: string): unknown {
  if (option !== 'default') return readJsonFile(option);
  const python = findPython();
  if (!python) throw new CommandFailed('No Python 3.9 to 3.15 was found. Install one, or give a resource in a file.');
  const folders = { jobs: join(process.cwd(), 'data-jobs'), tasks: join(process.cwd(), 'data-tasks') };
  return defaultResource(folders, python);
}

async function resourceAndProfile({ db }: Workplace, { resource, profile }: Options): Promise<void> {
  if (resource === undefined && profile === undefined) return;
  if (resource === undefined || profile === undefined) {
    throw new CommandFailed('Give --resource and --profile together, or none of them.');
  }
  if ((await countResources(db)) > 0)
    throw new CommandFailed('The database has a resource already; nothing was added.');
  await createResourceAndProfile(
    db,
    operator('servicectl'),
    resourceData(resource),
    profile === 'default' ? defaultProfile : readJsonFile(profile),
  );
  console.log('Created the resource and the profile; every user has this profile now');
}

export async function initDbData(options: Options): Promise<void> {
  await withWorkplace(async (workplace) => {
    await ensureDefaultGroup(workplace.db, operator('servicectl'), workplace.settings.app.SERVICE_DEFAULT_GROUP_NAME);
    await administrator(workplace, options);
    await resourceAndProfile(workplace, options);
  });
}
