/** Profiles as forms hold them: which fields a kind of resource has. */
import type { Profile, ProfileWrite, Resource } from '@service/contract';

export interface ProfileValues {
  name: string;
  username: string;
  ssh_key_path: string;
  jobs_remote_dir: string;
  tasks_remote_dir: string;
  pixi_cache_dir: string;
}

export interface ProfileField {
  key: keyof ProfileValues;
  label: string;
  hint?: string;
  placeholder?: string;
  optional?: boolean;
}

const NAME: ProfileField = { key: 'name', label: 'Name', hint: 'No two profiles have the same name.' };
const USERNAME: ProfileField = {
  key: 'username',
  label: 'User name on the cluster',
  hint: 'Jobs and installations run as this user.',
  placeholder: 'alice',
};
const SSH: ProfileField[] = [
  {
    key: 'ssh_key_path',
    label: 'Private key',
    hint: 'Absolute path of the key file on the machine of the service.',
    placeholder: '/etc/service/keys/alice',
  },
  {
    key: 'jobs_remote_dir',
    label: 'Folder for jobs',
    hint: 'Absolute path on the cluster, writable for this user.',
    placeholder: '/shared/alice/jobs',
  },
  {
    key: 'tasks_remote_dir',
    label: 'Folder for task packages',
    hint: 'Absolute path on the cluster, writable for this user.',
    placeholder: '/shared/alice/tasks',
  },
  {
    key: 'pixi_cache_dir',
    label: 'Cache of pixi',
    hint: 'Absolute path on the cluster. Empty: as pixi chooses.',
    optional: true,
  },
];

export const profileFields = (type: Resource['type']): ProfileField[] =>
  type === 'local' ? [NAME] : type === 'slurm_sudo' ? [NAME, USERNAME] : [NAME, USERNAME, ...SSH];

export const emptyProfile = (): ProfileValues => ({
  name: '',
  username: '',
  ssh_key_path: '',
  jobs_remote_dir: '',
  tasks_remote_dir: '',
  pixi_cache_dir: '',
});

export const profileValues = (profile: Profile): ProfileValues => ({
  name: profile.name,
  username: profile.username ?? '',
  ssh_key_path: profile.ssh_key_path ?? '',
  jobs_remote_dir: profile.jobs_remote_dir ?? '',
  tasks_remote_dir: profile.tasks_remote_dir ?? '',
  pixi_cache_dir: profile.pixi_cache_dir ?? '',
});

/** What is sent: fields that this kind does not have, and empty ones, are null. */
export function profileBody(type: Resource['type'], values: ProfileValues): ProfileWrite {
  const keys = profileFields(type).map(({ key }) => key);
  const entries = Object.entries(values).map(([key, value]: [string, string]) => [
    key,
    keys.includes(key as keyof ProfileValues) && value.trim() !== '' ? value : null,
  ]);
  return { resource_type: type, ...Object.fromEntries(entries) } as ProfileWrite;
}

/** A resource-typed refusal names its kind first: `["slurm_ssh", "username"]`. */
export const fieldProblem = (fields: Readonly<Record<string, string>>, type: string, key: string): string | undefined =>
  fields[`${type}.${key}`] ?? fields[key];
