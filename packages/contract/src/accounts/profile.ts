/** Profiles: as whom, and with which folders, a person works on a resource. */
import { z } from 'zod';

import { absolutePath } from '../wire/paths.ts';
import { answer, name, nothing, trimmedText } from '../wire/scalars.ts';

const empty = () => nothing().default(null);

const ProfileLocal = z
  .object({
    resource_type: z.literal('local'),
    name: name(),
    username: empty(),
    ssh_key_path: empty(),
    jobs_remote_dir: empty(),
    tasks_remote_dir: empty(),
    pixi_cache_dir: empty(),
  })
  .meta({ id: 'ValidProfileLocal' });

const ProfileSlurmSudo = z
  .object({
    resource_type: z.literal('slurm_sudo'),
    name: name(),
    username: trimmedText(),
    ssh_key_path: empty(),
    jobs_remote_dir: empty(),
    tasks_remote_dir: empty(),
    pixi_cache_dir: empty(),
  })
  .meta({ id: 'ValidProfileSlurmSudo' });

const ProfileSlurmSSH = z
  .object({
    resource_type: z.literal('slurm_ssh'),
    name: name(),
    username: trimmedText(),
    ssh_key_path: absolutePath(),
    jobs_remote_dir: absolutePath(),
    tasks_remote_dir: absolutePath(),
    pixi_cache_dir: absolutePath().nullable().default(null),
  })
  .meta({ id: 'ValidProfileSlurmSSH' });

export const ProfileWrite = z.discriminatedUnion('resource_type', [ProfileLocal, ProfileSlurmSudo, ProfileSlurmSSH]);
export type ProfileWrite = z.output<typeof ProfileWrite>;

export const Profile = z
  .object({
    id: answer.integer(),
    name: answer.text(),
    resource_id: answer.integer(),
    resource_type: answer.text(),
    username: answer.text().nullable(),
    ssh_key_path: answer.text().nullable(),
    jobs_remote_dir: answer.text().nullable(),
    tasks_remote_dir: answer.text().nullable(),
    pixi_cache_dir: answer.text().nullable(),
  })
  .meta({ id: 'ProfileRead' });
export type Profile = z.output<typeof Profile>;
