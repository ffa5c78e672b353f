/**
 * Where the task groups of a resource are: on this machine, or on the one that a person's profile signs in to.
 *
 * On a `slurm_sudo` resource everything is done here (`collector.ts` says as whom); people's jobs read the folders.
 */
import { join } from 'node:path';

import { type PixiConfig, type Profile, ProfileWrite, readValue, type Resource } from '@service/contract';
import type { z } from 'zod';

import type { AccountHost, Host } from '../hosts/index.ts';
import type { SlurmClient } from '../slurm/index.ts';
import type { SlurmJob } from './procedures/slurm-job.ts';

/** The machine of a resource that is reached by SSH, as the account of a profile. */
export type HostFor = (resource: Resource, profile: Profile) => Host;

/** The Slurm of it. */
export type SlurmFor = (resource: Resource, profile: Profile) => SlurmClient;

/** Where and with what a task package is installed. */
export interface InstallSite {
  resource: Resource;
  /** Where the service keeps the tools that it brings, and who brings them: never what a package brings. */
  toolsDir: string;
  tools: Host;
  /** The account of this machine that installs, where it is not that of the service. */
  account: AccountHost | undefined;
  packageIndex: string | null;
  /** Null for the one beside pixi. */
  pixiCacheDir: string | null;
  /** Where pixi's work is a Slurm job. */
  slurm: SlurmJob | null;
}

export const isFar = (resource: Pick<Resource, 'type'>) => resource.type === 'slurm_ssh';

/** Jobs of other accounts read what is installed there. */
export const isShared = (resource: Pick<Resource, 'type'>) => resource.type !== 'local';

/** The folder that all task groups of a person are below. */
export const baseFolder = (resource: Resource, profile: Profile): string =>
  isFar(resource) ? profile.tasks_remote_dir! : resource.tasks_local_dir;

/** Why nobody can sign in to a far machine for the owner of a task group, in words. */
export function signInProblem(resource: Resource, profile: Profile | undefined): string | undefined {
  if (profile?.resource_id !== resource.id || profile.resource_type !== resource.type) {
    return (
      `The owner of this task group has no profile on the resource "${resource.name}", so nobody can sign in there. ` +
      'Give the owner a profile of it first.'
    );
  }
  if ('value' in readValue(ProfileWrite, profile, 'profile')) return undefined;
  return `The profile "${profile.name}" of the owner is not usable. Correct it first.`;
}

/** Tools go beside what they install, where the service has no folder of its own. */
export const toolsFolder = (resource: Resource, profile: Profile | undefined, dataDir: string): string =>
  isFar(resource) ? join(profile!.tasks_remote_dir!, '.service') : dataDir;

export const slurmConfigOf = (resource: Resource) =>
  isFar(resource) ? (resource.tasks_pixi_config as Partial<z.output<typeof PixiConfig>>).SLURM_CONFIG : null;
