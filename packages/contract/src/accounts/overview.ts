/** What administrators see at a glance: jobs, accounts, resources, disks, versions. */
import { z } from 'zod';

import { operation } from '../operation.ts';
import { answer } from '../wire/scalars.ts';
import { RESOURCE_TYPES } from './resource.ts';

/** What may not answer is asked in the background: nobody waits for it. */
const Reached = z.object({
  state: z.enum(['reachable', 'unreachable', 'unknown']).meta({ description: 'unknown: it has not been asked yet.' }),
  since: answer.time().nullable().meta({ description: 'Since when the state is known to be so.' }),
  problem: answer.text().nullable().meta({ description: 'Why it is not reachable, or why it cannot be asked.' }),
});

const ResourceSeen = Reached.extend({
  id: answer.integer(),
  name: answer.text(),
  type: z.enum(RESOURCE_TYPES),
  host: answer.text().nullable(),
  prevent_new_submissions: answer.boolean(),
  running: answer.integer(),
  waiting: answer.integer(),
}).meta({ id: 'ResourceSeen' });
export type ResourceSeen = z.output<typeof ResourceSeen>;

const DiskSeen = Reached.extend({
  mount: answer.text().nullable(),
  folders: z.array(z.object({ folder: answer.text(), purpose: answer.text() })),
  total_bytes: answer.integer().nullable(),
  free_bytes: answer.integer().nullable(),
}).meta({ id: 'DiskSeen', description: 'A file system with the folders of the service that are on it.' });
export type DiskSeen = z.output<typeof DiskSeen>;

const FailedJob = z.object({
  id: answer.integer(),
  user_email: answer.text(),
  project_name: answer.text(),
  workflow_name: answer.text(),
  message: answer.text().nullable(),
  end_timestamp: answer.time(),
});

const AccountWarning = z
  .object({
    resource_ids: z.array(answer.integer()),
    text: answer.text().meta({ description: 'What runs as the account of the service there, and what that means.' }),
    change: answer.text().meta({ description: 'The line of the settings that changes it.' }),
  })
  .meta({ id: 'AccountWarning' });

const PendingAccount = z.object({ id: answer.integer(), email: answer.text(), timestamp_created: answer.time() });

export const Overview = z
  .object({
    timestamp: answer.time().meta({ description: 'When all this was counted.' }),
    jobs: z.object({
      running: answer.integer(),
      waiting: answer.integer().meta({ description: 'Submitted, and none of its processes has begun.' }),
      done_last_day: answer.integer(),
      failed_last_day: answer
        .integer()
        .meta({ description: 'In the last 24 hours, without those that somebody stopped.' }),
    }),
    warnings: z
      .array(AccountWarning)
      .meta({ description: 'Resources on which what people bring runs as the account of the service.' }),
    failed_jobs: z.array(FailedJob).meta({ description: 'The newest 5 of the last 24 hours.' }),
    accounts: z.object({
      active: answer.integer(),
      pending: answer.integer().meta({ description: 'Active, and not verified or without a profile.' }),
    }),
    pending_accounts: z.array(PendingAccount).meta({ description: 'The newest 5.' }),
    activities: z.object({ ongoing: answer.integer(), failed_last_day: answer.integer() }),
    resources: z.array(ResourceSeen).meta({ description: 'The first 20.' }),
    num_resources: answer.integer(),
    disks: z.array(DiskSeen),
    versions: z.object({ server: answer.text(), database: answer.text(), node: answer.text() }),
  })
  .meta({ id: 'AdminOverview' });
export type Overview = z.output<typeof Overview>;

export const adminOverview = operation({
  id: 'admin_overview',
  method: 'GET',
  path: '/admin/v2/overview/',
  access: 'superuser',
  tag: 'administration',
  summary: 'Jobs, accounts, resources, disks and versions at a glance',
  description:
    'Counted at most once in three seconds, for all who ask. Clusters and disks are asked in the background while somebody looks, at most every 30 seconds: the answer says what is known of them, and never waits.',
  answer: [200, Overview],
});
