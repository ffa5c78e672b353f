/** Rows that existing databases allow and ours do not: what becomes of each, its line, and what is kept of it. */
import { describe, expect, it } from 'vitest';

import { RULES } from '../../src/import/rules.ts';
import { type Existing, image, OLD_PLATE, type Row } from '../support/existing-database.ts';
import type { Revision } from '../support/existing-schema.ts';
import { oneIn } from '../support/long.ts';
import { existing, type Imported, imported, type Line } from './importing.ts';

interface Case {
  rule: string;
  name: string;
  arrange(from: Existing): Promise<unknown>;
  /** What the lines of the rule say: table, id, and a part of the text. */
  lines: [table: string, id: number | string | null, text: string][];
  /** A query of our tables, and what it finds. */
  rows?: [sql: string, found: Row[]];
  /** What was put aside: key and content. */
  kept?: [key: string, content: unknown][];
  revision?: Revision;
  options?: Parameters<typeof imported>[1];
}

const at = (name: string) => `${OLD_PLATE}/${name}`;
const address = (bytes: number) => `/${'x'.repeat(bytes - 1)}`;
const images =
  (list: unknown, id = 5) =>
  (from: Existing) =>
    from.add('datasetv2', { id, name: 'odd', images: JSON.stringify(list) });
const IMAGES =
  'select position, zarr_url, origin, attributes, types from images where dataset_id = 5 order by position';

const CASES: Case[] = [
  {
    rule: 'users.email-case',
    name: 'an address that differs only by capital letters gets the id of its account',
    arrange: async (from) => {
      await from.add('user_oauth', { id: 7, email: 'Ann@Example.org' });
      await from.add('user_oauth', { id: 8, email: 'ann+7@example.org' });
      await from.add('user_oauth', { id: 9, email: 'É@example.org' });
      await from.add('user_oauth', { id: 10, email: 'é@example.org' });
    },
    lines: [
      ['users', 7, 'Ann@Example.org → Ann+7+7@Example.org'],
      ['users', 10, 'é@example.org → é+10@example.org'],
    ],
    rows: [
      'select id, email from users where id in (2, 7, 9) order by id',
      [
        { id: 2, email: 'ann@example.org' },
        { id: 7, email: 'Ann+7+7@Example.org' },
        { id: 9, email: 'É@example.org' },
      ],
    ],
  },
  {
    rule: 'users.guest-and-superuser',
    name: 'a superuser who is a guest is a superuser',
    revision: 'd4027db95431',
    arrange: (from) => from.add('user_oauth', { id: 7, is_superuser: true, is_guest: true }),
    lines: [['users', 7, 'is_guest true → false']],
    rows: ['select is_guest, is_superuser from users where id = 7', [{ is_guest: false, is_superuser: true }]],
  },
  {
    rule: 'users.no-project-dir',
    name: 'an account without project folders gets the placeholder',
    arrange: (from) => from.add('user_oauth', { id: 7, project_dirs: [] }),
    lines: [['users', 7, '[] → ["/PLACEHOLDER"]']],
    rows: ['select project_dirs from users where id = 7', [{ project_dirs: ['/PLACEHOLDER'] }]],
  },
  {
    rule: 'users.no-profile',
    name: 'an account without profile is noted',
    arrange: (from) => from.add('user_oauth', { id: 7, profile_id: null }),
    lines: [['users', 7, 'no profile']],
  },
  {
    rule: 'users.unknown-password',
    name: 'a hash of an unknown kind is kept, noted, and not shown',
    arrange: (from) => from.query(`update user_oauth set hashed_password = 'pbkdf2$secret' where id = 3`),
    lines: [['users', 3, 'no password matches']],
    rows: ['select hashed_password from users where id = 3', [{ hashed_password: 'pbkdf2$secret' }]],
  },
  {
    rule: 'users.no-superuser',
    name: 'a database without an active superuser says how to make one',
    arrange: (from) => from.query('update user_oauth set is_active = false where id = 1'),
    lines: [['users', null, 'servicectl init-db-data']],
  },
  {
    rule: 'oauth.twice',
    name: 'the second link of an external account is put aside, without its tokens',
    arrange: async (from) => {
      await from.add('oauthaccount', { id: 4, user_id: 3, account_id: 'x' });
      await from.add('oauthaccount', { id: 3, user_id: 2, account_id: 'x' });
      await from.add('oauthaccount', { id: 5, user_id: 3, account_id: 'y' });
    },
    lines: [['oauth_accounts', 4, 'linked by 3']],
    rows: ['select id from oauth_accounts order by id', [{ id: 3 }, { id: 5 }]],
    kept: [['4', { id: 4, user_id: 3, oauth_name: 'google', account_id: 'x', account_email: 'ann@example.org' }]],
  },
  {
    rule: 'oauth.tokens',
    name: 'tokens of providers stay behind, and are counted',
    arrange: (from) => from.add('oauthaccount', { id: 3, account_id: 'x' }),
    lines: [['oauth_accounts', null, '1 external account is imported without']],
  },
  {
    rule: 'profiles.unknown-type',
    name: 'a profile of an unknown type gets that of its resource',
    arrange: (from) => from.add('profile', { id: 7, resource_type: 'slurm' }),
    lines: [['profiles', 7, 'slurm → local']],
    rows: ['select resource_type from profiles where id = 7', [{ resource_type: 'local' }]],
  },
  {
    rule: 'profiles.other-type',
    name: 'a profile of another type than its resource stays',
    arrange: (from) => from.add('profile', { id: 7, resource_type: 'slurm_sudo', username: 'u' }),
    lines: [['profiles', 7, 'slurm_sudo']],
    rows: ['select resource_type from profiles where id = 7', [{ resource_type: 'slurm_sudo' }]],
  },
  {
    rule: 'profiles.not-valid',
    name: 'a profile that lacks something is imported and named',
    arrange: (from) => from.add('profile', { id: 7, resource_type: 'slurm_sudo', username: null }),
    lines: [['profiles', 7, 'username']],
  },
  {
    rule: 'resources.not-valid',
    name: 'a resource that would be refused today is imported unchanged and named',
    arrange: (from) => from.add('resource', { id: 7, jobs_local_dir: 'relative', tasks_pixi_config: 'null' }),
    lines: [['resources', 7, 'jobs_local_dir']],
    rows: [
      'select jobs_local_dir, tasks_pixi_config from resources where id = 7',
      [{ jobs_local_dir: 'relative', tasks_pixi_config: {} }],
    ],
  },
  {
    rule: 'projects.no-owner',
    name: 'a project without owner goes to the first active superuser',
    arrange: async (from) => {
      await from.add('projectv2', { id: 7, name: 'orphan' });
      await from.add('linkuserprojectv2', { project_id: 7, user_id: 3 });
    },
    lines: [['projects', 7, 'account 1']],
    rows: [
      'select owner_id, user_id from projects p join project_guests g on g.project_id = p.id where id = 7',
      [{ owner_id: 1, user_id: 3 }],
    ],
  },
  {
    rule: 'projects.guest-is-owner',
    name: 'a guest who becomes the owner is no guest any more',
    arrange: async (from) => {
      await from.add('projectv2', { id: 7, name: 'orphan' });
      await from.add('linkuserprojectv2', { project_id: 7, user_id: 3, permissions: 'rw' });
    },
    options: { orphansTo: 'BOB@example.org' },
    lines: [['project_guests', '7/3', 'guest (rw) → owner']],
    rows: [
      'select owner_id, (select count(*) from project_guests where project_id = 7) as guests from projects where id = 7',
      [{ owner_id: 3, guests: 0 }],
    ],
  },
  {
    rule: 'projects.name-twice',
    name: 'a second project of one name and owner gets the next free number',
    arrange: async (from) => {
      for (const [id, name, user_id] of [
        [7, 'nuclei', 2],
        [8, 'nuclei', 2],
        [9, 'nuclei (2)', 2],
        [10, 'nuclei', 3],
      ] as const) {
        await from.add('projectv2', { id, name });
        await from.add('linkuserprojectv2', { project_id: id, user_id, is_owner: true, permissions: 'rwx' });
      }
    },
    lines: [
      ['projects', 7, 'nuclei → nuclei (3)'],
      ['projects', 8, 'nuclei → nuclei (4)'],
    ],
    rows: [
      'select id, name from projects order by id',
      [
        { id: 1, name: 'nuclei' },
        { id: 7, name: 'nuclei (3)' },
        { id: 8, name: 'nuclei (4)' },
        { id: 9, name: 'nuclei (2)' },
        { id: 10, name: 'nuclei' },
      ],
    ],
  },
  {
    rule: 'workflows.name-twice',
    name: 'a second workflow of one name in a project gets a number',
    arrange: (from) => from.add('workflowv2', { id: 7, name: 'measure' }),
    lines: [['workflows', 7, 'measure → measure (2)']],
    rows: ['select name from workflows where id = 7', [{ name: 'measure (2)' }]],
  },
  {
    rule: 'task_groups.twin',
    name: 'equal task groups are kept side by side',
    arrange: async (from) => {
      const equal = { pkg_name: 'package-1', version: '1.0.0' };
      await from.add('taskgroupv2', { id: 7, ...equal });
      await from.add('taskgroupv2', { id: 8, ...equal, user_id: 3, user_group_id: 1 });
      await from.add('taskgroupv2', { id: 9, ...equal, user_id: 3 });
      await from.add('taskgroupv2', { id: 10, ...equal, user_id: 1 });
    },
    lines: [
      ['task_groups', 7, 'also task group 1'],
      ['task_groups', 8, 'also task group 1'],
      ['task_groups', 9, 'also task group 8'],
    ],
    rows: [
      'select id, twin from task_groups order by id',
      [
        { id: 1, twin: 0 },
        { id: 7, twin: 7 },
        { id: 8, twin: 8 },
        { id: 9, twin: 9 },
        { id: 10, twin: 0 },
      ],
    ],
  },
  {
    rule: 'task_groups.origin',
    name: 'an unknown origin becomes other',
    arrange: (from) => from.add('taskgroupv2', { id: 7, origin: 'conda' }),
    lines: [['task_groups', 7, 'conda → other']],
    rows: ['select origin from task_groups where id = 7', [{ origin: 'other' }]],
  },
  {
    rule: 'json.not-an-object',
    name: 'a list where an object belongs is put aside, in whatever column',
    arrange: async (from) => {
      await from.add('taskgroupv2', { id: 7, pinned_package_versions_post: '[1]' });
      await from.add('taskv2', { id: 7, meta_parallel: '["\\u0000"]', input_types: '"x"', output_types: 'null' });
      await from.add('jobv2', { id: 7, attribute_filters: '[]', type_filters: '7' });
      await from.add('workflowtaskv2', {
        ...{ id: 7, order: 2, type_filters: '[2]', args_parallel: '[3]', meta_parallel: String.raw`"\ud800"` },
      });
      await from.add('workflowtemplate', { id: 7, name: 'odd', data: '7' });
      await from.query(`update jobv2 set dataset_dump = '[]', project_dump = 'null' where id = 1`);
      await from.query(`update historyrun set task_group_dump = '"x"' where id = 1`);
    },
    lines: [
      ['task_groups', 7, 'pinned_package_versions_post [1] → {}'],
      ['tasks', 7, 'meta_parallel'],
      ['tasks', 7, 'input_types "x" → {}'],
      ['workflow_templates', 7, 'data 7 → {}'],
      ['workflow_tasks', 7, 'type_filters [2] → {}'],
      ['workflow_tasks', 7, String.raw`meta_parallel "\ud800" → null`],
      ['workflow_tasks', 7, 'args_parallel [3] → null'],
      ['jobs', 1, 'dataset_dump [] → {}'],
      ['jobs', 7, 'attribute_filters [] → {}'],
      ['jobs', 7, 'type_filters 7 → {}'],
      ['history_runs', 1, 'task_group_dump "x" → {}'],
    ],
    rows: [
      'select meta_parallel, input_types, output_types from tasks where id = 7',
      [{ meta_parallel: {}, input_types: {}, output_types: {} }],
    ],
    kept: [
      ['7', { pinned_package_versions_post: [1] }],
      ['7', { meta_parallel: '["\\u0000"]' }],
      ['7', { input_types: 'x' }],
      ['7', { data: 7 }],
      ['7', { type_filters: [2] }],
      ['7', { meta_parallel: String.raw`"\ud800"` }],
      ['7', { args_parallel: [3] }],
      ['1', { dataset_dump: [] }],
      ['7', { attribute_filters: [] }],
      ['7', { type_filters: 7 }],
      ['1', { task_group_dump: 'x' }],
    ],
  },
  {
    rule: 'lists.holes',
    name: 'lists with holes, and lists of lists, become plain lists',
    arrange: async (from) => {
      await from.query(`update historyunit set zarr_urls = '{NULL,/a,NULL,/b}' where id = 1`);
      await from.query(`update historyunit set zarr_urls = '{{/a,/b},{/c,NULL}}' where id = 2`);
      await from.query(`update user_oauth set project_dirs = '{NULL}', slurm_accounts = '{a,NULL}' where id = 2`);
      await from.query(`update accountingrecordslurm set slurm_job_ids = '{NULL,7}'`);
    },
    lines: [
      ['users', 2, 'project_dirs {NULL}'],
      ['users', 2, 'slurm_accounts {a,NULL}'],
      ['history_units', 1, 'zarr_urls {NULL,/a,NULL,/b}: only its values were kept'],
      ['history_units', 2, 'zarr_urls {{/a,/b},{/c,NULL}}'],
      ['accounting_records_slurm', 1, 'slurm_job_ids {NULL,7}'],
    ],
    rows: [
      `select zarr_urls as list from history_units where id < 3
       union all select project_dirs from users where id = 2
       union all select slurm_accounts from users where id = 2
       union all select slurm_job_ids::text[] from accounting_records_slurm`,
      [['/a', '/b'], ['/a', '/b', '/c'], ['/PLACEHOLDER'], ['a'], ['7']].map((list) => ({ list })),
    ],
    kept: [
      ['2', { project_dirs: [null] }],
      ['2', { slurm_accounts: ['a', null] }],
      ['1', { zarr_urls: [null, '/a', null, '/b'] }],
      [
        '2',
        {
          zarr_urls: [
            ['/a', '/b'],
            ['/c', null],
          ],
        },
      ],
      ['1', { slurm_job_ids: [null, 7] }],
    ],
  },
  {
    rule: 'times.out-of-range',
    name: 'times that no client can read become the first or the last that one can',
    arrange: async (from) => {
      await from.query(`update projectv2 set timestamp_created = 'infinity'`);
      await from.query(`update linkusergroup set timestamp_created = '0044-03-15 BC' where user_id = 2`);
      await from.query(`update jobv2 set start_timestamp = '-infinity', end_timestamp = '20000-01-01'`);
    },
    lines: [
      ['group_members', '1/2', 'timestamp_created 0044-03-15 00:00:00+00 BC → 0001-01-01 00:00:00+00'],
      ['projects', 1, 'timestamp_created infinity → 9999-12-31'],
      ['jobs', 1, 'start_timestamp -infinity → 0001-01-01'],
      ['jobs', 1, 'end_timestamp 20000-01-01 00:00:00+00 → 9999-12-31'],
    ],
    rows: [
      `select timestamp_created::text, start_timestamp::text, end_timestamp::text from projects, jobs`,
      [
        {
          timestamp_created: '9999-12-31 23:59:59.999999+00',
          start_timestamp: '0001-01-01 00:00:00+00',
          end_timestamp: '9999-12-31 23:59:59.999999+00',
        },
      ],
    ],
  },
  {
    rule: 'tasks.tags',
    name: 'tags that are no texts become texts',
    arrange: async (from) => {
      await from.add('taskv2', { id: 7, tags: '["a", 1.0, null, {"b": 2}]' });
      await from.add('taskv2', { id: 8, tags: '"alone"' });
      await from.add('taskv2', { id: 9, tags: 'null' });
    },
    lines: [
      ['tasks', 7, 'made texts'],
      ['tasks', 8, '"alone" → []'],
    ],
    rows: [
      'select id, tags from tasks where id > 6 order by id',
      [
        { id: 7, tags: ['a', '1.0', 'null', '{"b": 2}'] },
        { id: 8, tags: [] },
        { id: 9, tags: [] },
      ],
    ],
    kept: [
      ['7', { tags: ['a', 1, null, { b: 2 }] }],
      ['8', { tags: 'alone' }],
    ],
  },
  {
    rule: 'workflow_tasks.order',
    name: 'places in a workflow are counted from 0 without gaps',
    arrange: async (from) => {
      await from.query('update workflowtaskv2 set "order" = 4 where id = 2');
      await from.add('workflowtaskv2', { id: 7, order: null });
      await from.add('workflowtaskv2', { id: 8, order: 4 });
    },
    lines: [
      ['workflow_tasks', 2, 'order 4 → 1'],
      ['workflow_tasks', 7, 'order null → 3'],
      ['workflow_tasks', 8, 'order 4 → 2'],
    ],
    rows: [
      'select id, "order" from workflow_tasks order by "order"',
      [
        { id: 1, order: 0 },
        { id: 2, order: 1 },
        { id: 8, order: 2 },
        { id: 7, order: 3 },
      ],
    ],
  },
  {
    rule: 'workflow_tasks.unknown-type',
    name: 'a workflow task of an unknown type gets that of its task',
    arrange: (from) => from.add('workflowtaskv2', { id: 7, order: 2, task_id: 2, task_type: 'odd' }),
    lines: [['workflow_tasks', 7, 'odd → compound']],
    rows: ['select task_type from workflow_tasks where id = 7', [{ task_type: 'compound' }]],
  },
  {
    rule: 'images.not-a-list',
    name: 'images that are no list are put aside',
    arrange: async (from) => {
      await images({ zarr_url: '/a' })(from);
      await from.add('datasetv2', { id: 6, name: 'null', images: 'null' });
    },
    lines: [['images', 5, 'no list']],
    rows: [
      'select id, num_images from datasets where id in (5, 6) order by id',
      [
        { id: 5, num_images: 0 },
        { id: 6, num_images: 0 },
      ],
    ],
    kept: [['5', { images: { zarr_url: '/a' } }]],
  },
  {
    rule: 'images.no-address',
    name: 'what has no address is put aside, and the others keep their places',
    arrange: images([7, ['x'], null, { zarr_url: '' }, { zarr_url: 3 }, { attributes: {} }, image('C/1')]),
    lines: [0, 1, 2, 3, 4, 5]
      .map((position) => ['images', `5/${position}`, 'no zarr_url'] as const)
      .map((line) => [...line]),
    rows: [IMAGES, [{ position: 6, zarr_url: at('C/1'), origin: null, attributes: {}, types: {} }]],
    kept: [
      ['5/0', 7],
      ['5/1', ['x']],
      ['5/2', null],
      ['5/3', { zarr_url: '' }],
      ['5/4', { zarr_url: 3 }],
      ['5/5', { attributes: {} }],
    ],
  },
  {
    rule: 'images.twice',
    name: 'the first of two equal addresses is kept at its place',
    arrange: images([
      image('C/1'),
      image('C/2', { attributes: { n: 1 } }),
      image('C/1', { attributes: { n: 2 } }),
      image('C/1'),
    ]),
    lines: [
      ['images', '5/2', 'in the list before'],
      ['images', '5/3', 'in the list before'],
    ],
    rows: [
      IMAGES,
      [
        { position: 0, zarr_url: at('C/1'), origin: null, attributes: {}, types: {} },
        { position: 1, zarr_url: at('C/2'), origin: null, attributes: { n: 1 }, types: {} },
      ],
    ],
    kept: [
      ['5/2', { zarr_url: at('C/1'), attributes: { n: 2 } }],
      ['5/3', { zarr_url: at('C/1') }],
    ],
  },
  {
    rule: 'images.address-too-long',
    name: 'an address of more than 2600 bytes is put aside',
    arrange: images([{ zarr_url: address(2601) }, { zarr_url: address(2600) }]),
    lines: [['images', '5/0', 'has 2601 bytes; it was left out']],
    rows: ['select length(zarr_url) as num from images where dataset_id = 5', [{ num: 2600 }]],
    kept: [['5/0', { zarr_url: address(2601) }]],
  },
  {
    rule: 'images.long-address',
    name: 'an address that is longer than the API takes is kept, with a note',
    arrange: images([{ zarr_url: address(2600) }, { zarr_url: address(2000) }]),
    lines: [['images', '5/0', 'has 2600 bytes']],
    rows: ['select count(*) as num from images where dataset_id = 5', [{ num: 2 }]],
  },
  {
    rule: 'images.value',
    name: 'values that are no text, number or flag are put aside, and the image stays',
    arrange: images([
      image('C/1', {
        attributes: { a: 1, b: null, c: [1], d: { e: 2 }, f: true },
        types: { x: true, y: 'yes', z: null },
      }),
      image('C/2', { attributes: ['no', 'map'], types: 7, origin: 5 }),
      image('C/3', { attributes: null, types: null, origin: null }),
    ]),
    lines: [
      ['images', '5/0', at('C/1')],
      ['images', '5/1', at('C/2')],
    ],
    rows: [
      IMAGES,
      [
        { position: 0, zarr_url: at('C/1'), origin: null, attributes: { a: 1, f: true }, types: { x: true } },
        { position: 1, zarr_url: at('C/2'), origin: null, attributes: {}, types: {} },
        { position: 2, zarr_url: at('C/3'), origin: null, attributes: {}, types: {} },
      ],
    ],
    kept: [
      ['5/0', { zarr_url: at('C/1'), attributes: { b: null, c: [1], d: { e: 2 } }, types: { y: 'yes', z: null } }],
      ['5/1', { zarr_url: at('C/2'), attributes: ['no', 'map'], types: 7, origin: 5 }],
    ],
  },
  {
    rule: 'images.more-keys',
    name: 'keys that images do not have are put aside',
    arrange: images([image('C/1', { note: 'blurred', path: '/x' })]),
    lines: [['images', '5/0', 'lost the keys']],
    rows: ['select count(*) as num from images where dataset_id = 5', [{ num: 1 }]],
    kept: [['5/0', { zarr_url: at('C/1'), note: 'blurred', path: '/x' }]],
  },
  {
    rule: 'jobs.unfinished',
    name: 'a submitted job has failed when it is imported, and says why',
    arrange: (from) => from.add('jobv2', { id: 7, status: 'submitted', end_timestamp: null, log: 'begun' }),
    lines: [['jobs', 7, 'submitted → failed']],
    rows: [
      `select status, end_timestamp = started as ended, log, failure ->> 'kind' as kind, failure -> 'num_images' as num
       from jobs, imports where jobs.id = 7`,
      [
        {
          status: 'failed',
          ended: true,
          log: 'begun\nThe job was interrupted when this service imported the database. Submit it again.',
          kind: 'internal',
          num: 0,
        },
      ],
    ],
  },
  {
    rule: 'jobs.unknown-status',
    name: 'a job with an unknown status has failed',
    arrange: (from) => from.add('jobv2', { id: 7, status: 'lost' }),
    lines: [['jobs', 7, 'lost → failed']],
    rows: ['select status from jobs where id = 7', [{ status: 'failed' }]],
  },
  {
    rule: 'jobs.nobody',
    name: 'a job of somebody who is gone belongs to nobody',
    arrange: (from) => from.add('jobv2', { id: 7, user_email: 'ANN@example.org' }),
    lines: [['jobs', 7, 'ANN@example.org']],
    rows: [
      'select id, user_id from jobs order by id',
      [
        { id: 1, user_id: 2 },
        { id: 7, user_id: null },
      ],
    ],
  },
  {
    rule: 'jobs.no-end',
    name: 'a job that is over without an end is noted, and has none',
    arrange: (from) =>
      from.add('jobv2', { id: 7, end_timestamp: null, project_id: null, workflow_id: null, dataset_id: null }),
    lines: [['jobs', 7, 'nobody recorded']],
    rows: ['select end_timestamp from jobs where id = 7', [{ end_timestamp: null }]],
  },
  {
    rule: 'runs.unfinished',
    name: 'a run that is left submitted, or has an unknown status, has failed',
    arrange: (from) => from.query(`update historyrun set status = case id when 1 then 'submitted' else 'odd' end`),
    lines: [
      ['history_runs', 1, 'submitted → failed'],
      ['history_runs', 2, 'odd → failed'],
    ],
    rows: ['select distinct status from history_runs', [{ status: 'failed' }]],
  },
  {
    rule: 'runs.same-order',
    name: 'runs of one job with the same place have none',
    arrange: (from) =>
      from.add('historyrun', { id: 7, workflowtask_dump: { order: 1 }, timestamp_started: '2025-03-04T05:12:00Z' }),
    lines: [
      ['history_runs', 2, 'task_index 1 → null'],
      ['history_runs', 7, 'task_index 1 → null'],
    ],
    rows: [
      'select id, task_index from history_runs order by id',
      [
        { id: 1, task_index: 0 },
        { id: 2, task_index: null },
        { id: 7, task_index: null },
      ],
    ],
  },
  {
    rule: 'units.unfinished',
    name: 'a unit that is left submitted has failed, and so has its image',
    arrange: (from) => from.query(`update historyunit set status = 'submitted' where id = 1`),
    lines: [['history_units', 1, 'submitted → failed']],
    rows: [
      'select status, num_images from history_image_counts order by status, num_images',
      [
        { status: 'done', num_images: 1 },
        { status: 'done', num_images: 1 },
        { status: 'failed', num_images: 1 },
      ],
    ],
  },
  {
    rule: 'activities.unfinished',
    name: 'an activity under way has failed, and its task group is named',
    arrange: async (from) => {
      await from.add('taskgroupv2', { id: 7 });
      await from.add('taskgroupactivityv2', {
        id: 7,
        taskgroupv2_id: 7,
        action: 'collect',
        status: 'ongoing',
        timestamp_ended: null,
        log: 'x',
      });
      await from.add('taskgroupactivityv2', {
        id: 8,
        taskgroupv2_id: 7,
        action: 'delete',
        status: 'pending',
        timestamp_ended: null,
      });
    },
    lines: [
      ['task_group_activities', 7, 'Task group 7'],
      ['task_group_activities', 8, 'pending → failed'],
    ],
    rows: [
      `select a.id, status, timestamp_ended = started as ended, log from task_group_activities a, imports where a.id > 6 order by 1`,
      [
        {
          id: 7,
          status: 'failed',
          ended: true,
          log: 'x\nThe activity was interrupted when this service imported the database.',
        },
        {
          id: 8,
          status: 'failed',
          ended: true,
          log: 'The activity was interrupted when this service imported the database.',
        },
      ],
    ],
  },
  {
    rule: 'activities.no-end',
    name: 'an activity that is over without an end is noted, and has none',
    arrange: (from) => from.add('taskgroupactivityv2', { id: 7, timestamp_ended: null }),
    lines: [['task_group_activities', 7, 'nobody recorded']],
    rows: ['select timestamp_ended from task_group_activities where id = 7', [{ timestamp_ended: null }]],
  },
  {
    rule: 'source.unknown',
    name: "a site's own tables and columns stay behind, counted",
    arrange: async (from) => {
      await from.query('create table "site notes" (id integer)');
      await from.query('insert into "site notes" select generate_series(1, 3)');
      await from.query('create schema site');
      await from.query('create table site.resource ()');
      await from.query('alter table projectv2 add column cost integer');
      await from.query('update projectv2 set cost = 5');
    },
    lines: [
      ['projectv2', null, "The column projectv2.cost is not the existing system's own. Its 1 row stays behind."],
      ['site notes', null, 'Its 3 rows stay behind.'],
      ['site.resource', null, 'The table site.resource is not'],
    ],
  },
  {
    rule: 'references.null',
    name: 'a reference that leads nowhere, and may be empty, becomes empty',
    arrange: async (from) => {
      await from.query('set session_replication_role = replica');
      await from.query('update user_oauth set profile_id = 77 where id = 3');
      await from.add('jobv2', { id: 7, dataset_id: 78 });
    },
    lines: [
      ['users', 3, 'profile_id 77 leads to no row of profile → null'],
      ['jobs', 7, 'dataset_id 78 leads to no row of datasetv2 → null'],
    ],
    rows: ['select dataset_id, project_id from jobs where id = 7', [{ dataset_id: null, project_id: 1 }]],
    kept: [
      ['3', { profile_id: 77 }],
      ['7', { dataset_id: 78 }],
    ],
  },
  {
    rule: 'references.row',
    name: 'a row that cannot be without what is missing is put aside, with all that depends on it',
    arrange: async (from) => {
      await from.query('set session_replication_role = replica');
      await from.add('datasetv2', { id: 7, name: 'lost', project_id: 77, images: [image('C/1')] });
      await from.add('historyrun', { id: 7, dataset_id: 7, workflowtask_dump: { order: 5 } });
      await from.add('historyunit', { id: 7, history_run_id: 7 });
      await from.add('historyimagecache', { zarr_url: '/a', dataset_id: 7, latest_history_unit_id: 7 });
      await from.add('oauthaccount', { id: 7, user_id: 79, account_id: 'x' });
      await from.add('linkuserprojectv2', { project_id: 1, user_id: 79 });
    },
    lines: [
      ['oauth_accounts', 7, 'user_id 79 leads to no row of user_oauth'],
      ['project_guests', '1/79', 'user_id 79'],
      ['datasets', 7, 'project_id 77 leads to no row of projectv2'],
      ['history_runs', 7, 'dataset_id 7 leads to no row of datasetv2'],
      ['history_units', 7, 'history_run_id 7'],
      ['history_image_cache', '7/1//a', 'dataset_id 7'],
    ],
    rows: ['select (select count(*) from datasets) + (select count(*) from history_runs) as num', [{ num: 3 }]],
    kept: [
      ['7', { id: 7, user_id: 79, oauth_name: 'google', account_id: 'x', account_email: 'ann@example.org' }],
      ['1/79', { project_id: 1, user_id: 79, is_owner: false, is_verified: true, permissions: 'r' }],
      ['7', expect.objectContaining({ id: 7, images: [image('C/1')] })],
      ['7', expect.objectContaining({ id: 7, dataset_id: 7 })],
      ['7', expect.objectContaining({ id: 7, history_run_id: 7 })],
      ['7/1//a', expect.objectContaining({ zarr_url: '/a' })],
    ],
  },
];

const ofRule = ({ lines }: Imported, rule: string): Line[] => lines.filter((line) => line.rule === rule);

describe.each(oneIn(4, CASES))('$rule', ({ rule, name, arrange, lines, rows, kept, revision, options }) => {
  it(name, async () => {
    const from = await existing(revision ? { revision } : {});
    await arrange(from);
    const done = await imported(from, options);
    expect(ofRule(done, rule)).toEqual(
      lines.map(([table, id, text]) => ({ rule, table, id, text: expect.stringContaining(text) })),
    );
    if (rows) expect(await done.rows(rows[0])).toEqual(rows[1]);
    expect(await done.remainders(rule)).toEqual(kept ?? []);
    expect(JSON.stringify(done.lines)).not.toMatch(/secret/);
  });
});

it('every rule is tried', () => {
  expect(CASES.map(({ rule }) => rule).sort()).toEqual(Object.keys(RULES).sort());
});

it('a database in which nothing is odd needs no line', async () => {
  const done = await imported(await existing());
  expect(done.lines).toEqual([]);
  expect(await done.rows('select * from import_remainders')).toEqual([]);
});
