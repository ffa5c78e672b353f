/** People with projects and datasets, made by SQL: what the tests of datasets begin with. */
import type { Permissions } from '@service/contract';

import type { Client, TestService } from './server.ts';

export interface Person {
  id: number;
  email: string;
  password: string;
  client: Client;
}

/** A resource with a profile, so that people may work. */
export async function addProfile(service: TestService): Promise<number> {
  const { db } = service.database;
  const { id: resource_id } = await db
    .insertInto('resources')
    .values({
      name: `Resource ${Math.random()}`,
      type: 'local',
      host: null,
      jobs_local_dir: '/jobs',
      tasks_local_dir: '/tasks',
      jobs_runner_config: '{"parallel_tasks_per_job": null}',
      jobs_slurm_python_worker: null,
      jobs_poll_interval: 0,
      tasks_python_config:
        '{"default_version": "3.12", "versions": {"3.12": "/usr/bin/python3"}, "pip_cache_dir": null}',
      tasks_pixi_config: '{}',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id } = await db
    .insertInto('profiles')
    .values({
      name: `Profile ${Math.random()}`,
      resource_id,
      resource_type: 'local',
      username: null,
      ssh_key_path: null,
      jobs_remote_dir: null,
      tasks_remote_dir: null,
      pixi_cache_dir: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export const addPerson = (
  service: TestService,
  profile_id: number,
  fields: Record<string, unknown> = {},
): Promise<Person> => service.person({ profile_id, patch: { is_verified: true }, ...fields });

export async function addProject(service: TestService, owner: Person, name: string): Promise<number> {
  const { db } = service.database;
  const { id } = await db
    .insertInto('projects')
    .values((eb) => ({
      name,
      description: null,
      owner_id: owner.id,
      resource_id: eb
        .selectFrom('users')
        .innerJoin('profiles', 'profiles.id', 'users.profile_id')
        .select('profiles.resource_id')
        .where('users.id', '=', owner.id),
    }))
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function shareProject(
  service: TestService,
  project_id: number,
  guest: Person,
  permissions: Permissions,
  is_verified = true,
): Promise<void> {
  await service.database.db
    .insertInto('project_guests')
    .values({ project_id, user_id: guest.id, permissions, is_verified })
    .execute();
}
