/** People: their account object and everything that is sent to change it. */
import { z } from 'zod';

import { distinct } from '../wire/maps.ts';
import { email } from '../wire/email.ts';
import { projectDirs } from '../wire/paths.ts';
import { found, reader, type Reading, wrong } from '../wire/problem.ts';
import { answer, boolean, id, name, text, trimmedText } from '../wire/scalars.ts';

const SLURM_ACCOUNT = /^[a-zA-Z0-9_\-.]+$/;

function readSlurmAccount(input: unknown): Reading<string> {
  if (typeof input !== 'string') return wrong('string_type', 'Enter a text.');
  if (input === '') return wrong('string_too_short', 'Enter at least one character.');
  return SLURM_ACCOUNT.test(input)
    ? found(input)
    : wrong('string_pattern_mismatch', 'Use letters, digits, "_", "-" and "." only.');
}

const slurmAccounts = () =>
  z
    .array(reader(readSlurmAccount, { type: 'string', minLength: 1, pattern: SLURM_ACCOUNT.source }))
    .superRefine(distinct());

export const OAuthAccount = z
  .object({ id: answer.integer(), account_email: answer.text(), oauth_name: answer.text() })
  .meta({ id: 'OAuthAccountRead' });

export const User = z
  .object({
    id: answer.integer(),
    email: answer.text(),
    is_active: answer.boolean(),
    is_superuser: answer.boolean(),
    is_verified: answer.boolean(),
    is_guest: answer.boolean(),
    group_ids_names: z
      .array(z.tuple([answer.integer(), answer.text()]))
      .nullable()
      .meta({ description: 'The groups, the default one first; null where they were not asked for.' }),
    oauth_accounts: z.array(OAuthAccount),
    profile_id: answer.integer().nullable(),
    project_dirs: z.array(answer.text()).meta({ description: 'The first one is the default.' }),
    slurm_accounts: z.array(answer.text()),
  })
  .meta({ id: 'UserRead' });
export type User = z.output<typeof User>;

const ignoredFlag = () => boolean().nullable().optional().meta({ description: 'Accepted and ignored.' });

export const UserCreate = z
  .object({
    email: email(),
    password: text(),
    project_dirs: projectDirs(),
    slurm_accounts: slurmAccounts().default([]),
    profile_id: id().nullable().default(null),
    is_guest: boolean().default(false),
    is_active: ignoredFlag(),
    is_superuser: ignoredFlag(),
    is_verified: ignoredFlag(),
  })
  .meta({ id: 'UserCreate' });
export type UserCreate = z.output<typeof UserCreate>;

export const UserUpdate = z
  .strictObject({
    password: trimmedText().optional(),
    email: email().optional(),
    is_active: boolean().optional(),
    is_superuser: boolean().optional(),
    is_verified: boolean().optional(),
    is_guest: boolean().optional(),
    profile_id: id().nullable().optional(),
    project_dirs: projectDirs().optional(),
    slurm_accounts: slurmAccounts().optional(),
  })
  .meta({ id: 'UserUpdate' });
export type UserUpdate = z.output<typeof UserUpdate>;

/** What people may change of their own account. */
export const UserUpdateStrict = z
  .strictObject({ slurm_accounts: slurmAccounts().optional() })
  .meta({ id: 'UserUpdateStrict' });

export const UserUpdateGroups = z
  .strictObject({
    group_ids: z
      .array(id({ least: 0 }))
      .min(1)
      .superRefine(distinct()),
  })
  .meta({ id: 'UserUpdateGroups' });

export const UserProfileInfo = z
  .object({
    has_profile: answer.boolean(),
    resource_name: answer.text().nullable(),
    profile_name: answer.text().nullable(),
    username: answer.text().nullable(),
    resource_id: answer.integer().nullable(),
    resource_type: answer.text().nullable(),
    prevent_new_submissions: answer.boolean().nullable(),
    python_versions: z.array(answer.text()),
    default_python_version: answer.text().nullable(),
    pixi_versions: z.array(answer.text()),
  })
  .meta({ id: 'UserProfileInfo' });
export type UserProfileInfo = z.output<typeof UserProfileInfo>;

export const UserGroup = z
  .object({
    id: answer.integer(),
    name: answer.text(),
    timestamp_created: answer.time(),
    user_ids: z.array(answer.integer()).nullable(),
  })
  .meta({ id: 'UserGroupRead' });
export type UserGroup = z.output<typeof UserGroup>;

export const UserGroupCreate = z.strictObject({ name: name() }).meta({ id: 'UserGroupCreate' });
export const UserGroupUpdate = z.strictObject({ name: name().optional() }).meta({ id: 'UserGroupUpdate' });
