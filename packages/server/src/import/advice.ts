/** What to set, from what was found. */
import { plural } from '@service/contract/plural';
import type pg from 'pg';

export interface Found {
  /** Types of resources that somebody uses. */
  types: string[];
  hasGroupAll: boolean;
  closedResources: number;
  jobs: number;
}

export async function findForAdvice(target: pg.ClientBase): Promise<Found> {
  const { rows } = await target.query<Found>(
    `select
       (select coalesce(array_agg(distinct r.type order by r.type), '{}') from resources r
        where exists (select from projects p where p.resource_id = r.id)
           or exists (select from users u join profiles p on p.id = u.profile_id where p.resource_id = r.id)) as types,
       exists (select from user_groups where name = 'All') as "hasGroupAll",
       (select count(*) from resources where prevent_new_submissions) as "closedResources",
       (select count(*) from jobs) as jobs`,
  );
  return rows[0]!;
}

/** `key` says where the key that signs tokens is, after this import. */
export function advice(found: Found, key: 'carried over' | 'in the data folder' | 'in the settings'): string[] {
  const { types, hasGroupAll, closedResources, jobs } = found;
  const backend =
    types.length > 1
      ? [
          `SERVICE_RUNNER_BACKEND: one service works on one type of resource, and ${types.join(' and ')} are in use. Set the one you want; the others stay, and cannot run jobs.`,
        ]
      : types.map((type) => `SERVICE_RUNNER_BACKEND=${type}`);
  const keys = {
    'carried over':
      'JWT_SECRET_KEY: the key of the old settings file signs tokens now; people stay signed in. Leave it unset.',
    'in the data folder':
      'JWT_SECRET_KEY: set it to the key of the old settings file, and people stay signed in. Otherwise everybody signs in again.',
    'in the settings':
      'JWT_SECRET_KEY: people stay signed in if it is the key of the old settings file. Otherwise everybody signs in again.',
  };
  return [
    ...backend,
    ...(hasGroupAll ? ['SERVICE_DEFAULT_GROUP_NAME=All: new people join this group.'] : []),
    keys[key],
    ...(closedResources > 0
      ? [
          `${closedResources} ${plural(closedResources, 'resource refuses', 'resources refuse')} new jobs (prevent_new_submissions). servicectl submissions-enable lets ${plural(closedResources, 'it', 'all of them')} take jobs.`,
        ]
      : []),
    ...(jobs > 0
      ? [
          'SERVICE_ZIP_JOBS_AFTER_DAYS and SERVICE_REMOVE_JOBS_AFTER_DAYS count for imported jobs too: set them only if old folders may go.',
        ]
      : []),
  ];
}
