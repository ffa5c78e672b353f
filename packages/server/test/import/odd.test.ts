/**
 * Databases that nobody expects: values at the end of what PostgreSQL holds, lists with holes, other encodings, settings of
 * a role. What is imported can be read, by every operation that reads.
 */
import { describe, expect, it } from 'vitest';

import { type Existing, image, type Row } from '../support/existing-database.ts';
import { LONG } from '../support/long.ts';
import { type Client, clientOf, type LogEntry, serve } from '../support/server.ts';
import { existing, type Imported, imported } from './importing.ts';
import { tokenOf } from './tokens.ts';

interface Parameter {
  name: string;
  in: 'path' | 'query';
  required?: boolean;
}

interface Description {
  paths: Record<string, Record<string, { parameters?: Parameter[] }>>;
}

/** What every parameter that has to be there is, in what the tests make. */
const VALUES: Record<string, string> = {
  project_id: '1',
  dataset_id: '1',
  workflow_id: '1',
  job_id: '1',
  workflowtask_id: '1',
  workflow_task_id: '1',
  task_id: '1',
  task_group_id: '1',
  task_group_activity_id: '1',
  history_run_id: '1',
  history_unit_id: '1',
  user_id: '2',
  group_id: '1',
  resource_id: '1',
  profile_id: '1',
  template_id: '1',
  zarr_url: image('A/1')['zarr_url'] as string,
};

/** Every operation that reads, asked once; a broken one is named with what it said. */
async function sweep(client: Client, log: LogEntry[]): Promise<{ asked: number; broken: string[] }> {
  const { body } = await client.get('/openapi.json');
  let asked = 0;
  const broken: string[] = [];
  for (const [template, methods] of Object.entries((body as Description).paths)) {
    const { get } = methods;
    // these stay open and say what happens from now on
    if (!get || /events|subscribe|stream/.test(template)) continue;
    const query = new URLSearchParams();
    for (const { name, in: place, required } of get.parameters ?? []) {
      if (place === 'query' && required) query.set(name, VALUES[name] ?? '1');
    }
    const path = template.replace(/\{(\w+)[^}]*\}/g, (_, name: string) => encodeURIComponent(VALUES[name] ?? '1'));
    const { status } = await client.get(`${path}${query.size > 0 ? `?${query.toString()}` : ''}`);
    asked++;
    if (status >= 500)
      broken.push(`${template}: ${String(log.findLast(({ level }) => level === 'error')?.error).slice(0, 200)}`);
  }
  return { asked, broken };
}

async function readAll({ target }: Imported): Promise<{ asked: number; broken: string[] }> {
  const { app, url, log } = await serve(target, { background: false });
  try {
    const admin = await sweep(clientOf(url, await tokenOf(1)), log);
    const ann = await sweep(clientOf(url, await tokenOf(2)), log);
    return { asked: admin.asked + ann.asked, broken: [...admin.broken, ...ann.broken] };
  } finally {
    await app.close();
  }
}

interface Case {
  name: string;
  arrange(from: Existing): Promise<unknown>;
  /** Values are what they were, which is not what the API describes: only that they are answered counts. */
  shapeless?: true;
}

const CASES: Case[] = [
  {
    name: 'times at the ends of all time',
    async arrange(from) {
      await from.query(`update projectv2 set timestamp_created = 'infinity'`);
      await from.query(`update datasetv2 set timestamp_created = '-infinity'`);
      await from.query(`update workflowv2 set timestamp_created = '4000-01-01 BC'`);
      await from.query(`update jobv2 set start_timestamp = '-infinity', end_timestamp = 'infinity'`);
      await from.query(`update historyrun set timestamp_started = 'infinity' where id = 1`);
      await from.query(`update taskgroupv2 set timestamp_created = '20000-01-01', timestamp_last_used = 'infinity'`);
      await from.query(`update taskgroupactivityv2 set timestamp_started = '-infinity', timestamp_ended = 'infinity'`);
      await from.query(`update workflowtemplate set timestamp_created = 'infinity', timestamp_last_used = '-infinity'`);
      await from.query(`update usergroup set timestamp_created = 'infinity'`);
      await from.query(`update linkusergroup set timestamp_created = '-infinity'`);
      await from.query(`update resource set timestamp_created = '-infinity'`);
      await from.query(`update accountingrecord set timestamp = 'infinity'`);
      await from.query(`update accountingrecordslurm set timestamp = '-infinity'`);
    },
  },
  {
    name: 'lists with holes, and lists of lists',
    async arrange(from) {
      await from.query(`update historyunit set zarr_urls = '{NULL,/a,NULL}' where id = 1`);
      await from.query(`update historyunit set zarr_urls = '{{/a,/b},{/c,/d}}' where id = 2`);
      await from.query(
        `update user_oauth set project_dirs = '{NULL,/srv/projects}', slurm_accounts = '{NULL}' where id = 2`,
      );
      await from.query(`update accountingrecordslurm set slurm_job_ids = '{NULL,7}'`);
    },
  },
  {
    name: 'numbers that JavaScript cannot hold, and texts that jsonb refuses',
    async arrange(from) {
      const numbers = '{"big": 12345678901234567890, "huge": 1e400, "tiny": 1e-400, "minus": -0, "plain": 1.0}';
      const list = `[{"zarr_url": "${image('A/1')['zarr_url'] as string}", "attributes": ${numbers}, "types": {}}]`;
      await from.query('update datasetv2 set images = $1', [list]);
      await from.query('update workflowtaskv2 set args_parallel = $1, args_non_parallel = $1, meta_parallel = $2', [
        numbers,
        String.raw`{"a": "\u0000", "b": "\ud800", "c": 1e400, "c": 2}`,
      ]);
      await from.query('update taskv2 set args_schema_parallel = $1, meta_parallel = $1', [
        String.raw`{"title": "\u0000", "default": 1e400, "b": "\udc00"}`,
      ]);
      await from.query('update workflowtemplate set data = $1', [
        String.raw`{"name": "\u0000", "description": null, "task_list": []}`,
      ]);
      await from.query('update historyrun set workflowtask_dump = $1', [
        `{"order": 1e3, "args_parallel": ${numbers}, "task": {"name": 7}}`,
      ]);
      await from.query('update jobv2 set attribute_filters = $1', ['{"big": [12345678901234567890, 1e400]}']);
    },
  },
  {
    name: 'dumps, templates and settings that are something else',
    shapeless: true,
    async arrange(from) {
      await from.query(`update jobv2 set dataset_dump = '[]', workflow_dump = '"text"', project_dump = 'null'`);
      await from.query(`update historyrun set workflowtask_dump = '[]', task_group_dump = '7' where id = 1`);
      await from.query(
        `update historyrun set workflowtask_dump = '{"order": -1, "task": [], "alias": {}}' where id = 2`,
      );
      await from.query(`update workflowtemplate set data = '[1]'`);
      await from.query(`update taskv2 set args_schema_parallel = '[1]', args_schema_non_parallel = '"x"'`);
      await from.query(
        `update workflowtaskv2 set args_parallel = '[1]', meta_parallel = '"x"', args_non_parallel = '7'`,
      );
      await from.query(`update taskv2 set input_types = '{"a": 1, "b": null}', output_types = '{"c": "yes"}'`);
      await from.query(`update workflowtaskv2 set type_filters = '{"a": 1, "b": null}'`);
      await from.query(`update jobv2 set type_filters = '{"a": 1}', attribute_filters = '{"a": "b", "c": null}'`);
      await from.query(`update taskgroupv2 set pinned_package_versions_pre = '{"numpy": null, "b": [1]}'`);
      await from.query(
        `update resource set jobs_runner_config = '[]', tasks_python_config = '"x"', tasks_pixi_config = '{"versions": []}'`,
      );
    },
  },
  {
    name: 'names that nobody would give',
    async arrange(from) {
      const odd = `\t${'ä'.repeat(5000)}\n\\.\\N'"`;
      await from.query('update projectv2 set name = $1, description = $1', ['']);
      await from.query('update datasetv2 set name = $1, zarr_dir = $2', [odd, '']);
      await from.query('update workflowv2 set name = $1', [odd]);
      await from.query('update workflowtemplate set name = $1, version = -5', ['']);
      await from.query('update usergroup set name = $1', ['\\.']);
      await from.query('update resource set name = $1, jobs_local_dir = $1', ['']);
      await from.query('update profile set name = $1', ['']);
      await from.query(`update user_oauth set email = 'no address' where id = 3`);
      await from.query(
        'update taskgroupv2 set version = $1, pkg_name = $1, path = $1, venv_path = $1, archive_path = $1',
        [''],
      );
      await from.query('update taskv2 set version = $1, docs_link = $1', ['javascript:alert(1)']);
      await from.query('update jobv2 set working_dir = $1, first_task_index = 9, last_task_index = -3', ['../..']);
      await from.query(`update historyunit set logfile = '../../etc/passwd' where id = 1`);
    },
  },
  {
    name: 'images with long, many and empty attributes',
    async arrange(from) {
      const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`key ${index}`, index]));
      const long = Array.from({ length: 20_000 }, (_, index) =>
        String.fromCharCode(0x4e00 + ((index * 7919) % 20_000)),
      ).join('');
      const list: Row[] = [
        image('A/1', { attributes: { '': '', [long.slice(0, 3000)]: long, ...many }, types: { '': true } }),
        image('A/2', {
          attributes: { ['__wftask_dataset_image_status__']: 'done', constructor: 1, ['__proto__ ']: 2 },
        }),
        image('A/3', { origin: '', attributes: { plate: 7, well: true, t: '1' }, types: { constructor: false } }),
      ];
      await from.query('update datasetv2 set images = $1', [JSON.stringify(list).replace('__proto__ ', '__proto__')]);
    },
  },
];

/** Reading takes most of the time: what does not touch the same columns is in one database, and alone in long runs. */
const TOGETHER = (cases: Case[]): Case => ({
  name: cases.map(({ name }) => name).join('; '),
  async arrange(from) {
    for (const { arrange } of cases) await arrange(from);
  },
});
const [times, lists, numbers, dumps, names, images] = CASES as [Case, Case, Case, Case, Case, Case];

describe('everything can be read after an import of', () => {
  it.each(LONG ? CASES : [TOGETHER([times, lists, names, images]), numbers, dumps])(
    '$name',
    async ({ arrange, shapeless }) => {
      const from = await existing();
      await arrange(from);
      const { asked, broken } = await readAll(await imported(from));
      expect(broken.filter((line) => !(shapeless && line.includes('breaks its contract')))).toEqual([]);
      expect(asked).toBeGreaterThan(100);
    },
    120_000,
  );
});

const columnsOf = async ({ rows }: Imported, sql: string) =>
  (await rows<{ value: unknown }>(sql)).map(({ value }) => value);

describe('a source', () => {
  it('in another encoding arrives letter by letter', async () => {
    const from = await existing({ encoding: 'LATIN1' });
    await from.query(`update projectv2 set name = 'Zürich', description = 'façade'`);
    await from.query(`update jobv2 set log = 'é', status = 'odd' where id = 1`);
    await from.query(`update datasetv2 set images = '[{"zarr_url": "/ü", "attributes": {"größe": "µ"}}]'`);
    const done = await imported(from);
    expect(await columnsOf(done, 'select name as value from projects')).toEqual(['Zürich']);
    expect(await columnsOf(done, 'select attributes as value from images')).toEqual([{ größe: 'µ' }]);
    expect(done.lines).toMatchObject([{ rule: 'jobs.unknown-status', text: 'status odd -> failed' }]);
  });

  it('whose times have no zone is in UTC', async () => {
    const from = await existing();
    await from.query(
      `alter table projectv2 alter column timestamp_created type timestamp using timestamp '2025-07-01 12:00'`,
    );
    await from.query(`alter table historyrun alter column timestamp_started type timestamp`);
    await from.query(`alter database ${from.name} set timezone = 'America/New_York'`);
    const done = await imported(from);
    expect(await columnsOf(done, 'select timestamp_created::text as value from projects')).toEqual([
      '2025-07-01 12:00:00+00',
    ]);
    expect(done.lines).toEqual([]);
  });

  it('with settings of its own is read as any other', async () => {
    const from = await existing();
    const settings = {
      datestyle: "'German, DMY'",
      bytea_output: "'escape'",
      search_path: "'pg_catalog'",
      standard_conforming_strings: 'off',
      default_transaction_isolation: "'serializable'",
    };
    for (const [name, value] of Object.entries(settings)) {
      await from.query(`alter database ${from.name} set ${name} = ${value}`);
    }
    const done = await imported(from);
    expect(done.lines).toEqual([]);
    expect(await columnsOf(done, 'select start_timestamp::text as value from jobs')).toEqual([
      '2025-03-04 05:06:07.891011+00',
    ]);
  });

  it('that hides rows from the role is refused: they would be lost without a word', async () => {
    const from = await existing();
    const role = `reader_${from.name}`;
    await from.query(`create role ${role} login password 'reading'`);
    try {
      await from.query(`grant select on all tables in schema public to ${role}`);
      await from.query(`grant select on all sequences in schema public to ${role}`);
      await from.query('alter table projectv2 enable row level security');
      const read = imported({ ...from, connection: { ...from.connection, user: role, password: 'reading' } });
      await expect(read).rejects.toThrow(/doesn't see all rows of projectv2 .*BYPASSRLS/);
    } finally {
      await from.query(`drop owned by ${role}`);
      await from.query(`drop role ${role}`);
    }
  });

  it('whose ids come from a sequence with an older name goes on after its last one', async () => {
    const from = await existing();
    await from.query('alter sequence projectv2_id_seq rename to project_id_seq');
    await from.query(`alter sequence project_id_seq owned by projectv2.id`);
    await from.query(`select setval('project_id_seq', 700)`);
    const done = await imported(from);
    expect(await columnsOf(done, `select nextval('projects_id_seq') as value`)).toEqual([701]);
  });

  it('with an account that does not fit is refused without a word of its password', async () => {
    const from = await existing();
    await from.query('alter table user_oauth alter column is_active drop not null');
    await from.query('update user_oauth set is_active = null where id = 3');
    const refusal = imported(from).catch((error: Error) => error.message);
    expect(await refusal).toMatch(/^The rows for users do not fit: .*"is_active".*Nothing was imported/);
    expect(await refusal).not.toContain('$2');
  });
});

describe('the history of an imported image', () => {
  it('names the converter that was done, though nobody counted what it made', async () => {
    const from = await existing();
    await from.query(
      `update historyrun set workflowtask_dump = '{"order": 0, "alias": "Convert", "task_type": "converter_non_parallel"}' where id = 1`,
    );
    const { target } = await imported(from);
    const { app, url } = await serve(target, { background: false });
    try {
      const ann = clientOf(url, await tokenOf(2));
      const query = new URLSearchParams({ dataset_id: '1', zarr_url: image('A/1')['zarr_url'] as string });
      const { body } = await ann.get(`/api/v2/project/1/status/image-history/?${query.toString()}`);
      expect(body).toMatchObject({ made_by: { name: 'Convert', history_run_id: 1 } });
      const { body: latest } = await ann.get('/api/v2/project/1/latest-job/?workflow_id=1&dataset_id=1');
      expect(latest).toMatchObject({ task_statuses: { 1: { status: 'done', num_new_images: null } } });
    } finally {
      await app.close();
    }
  });
});

describe('numbers of an imported database', () => {
  const BIG = '12345678901234567890';

  it('are answered digit by digit, wherever they are', async () => {
    const from = await existing();
    const numbers = `{"big": ${BIG}, "plain": 1.0}`;
    const list = `[{"zarr_url": "/a", "attributes": ${numbers}}]`;
    await from.query('update datasetv2 set images = $1', [list]);
    await from.query('update workflowtaskv2 set args_parallel = $1, meta_parallel = $2', [numbers, numbers]);
    await from.query('update taskv2 set args_schema_parallel = $1, meta_parallel = $1', [numbers]);
    await from.query('update jobv2 set attribute_filters = $1', [`{"big": [${BIG}]}`]);
    await from.query('update historyrun set workflowtask_dump = $1', [`{"args_parallel": ${numbers}}`]);
    const template = { name: 'w', description: null, task_list: [] };
    await from.query('update workflowtemplate set data = $1', [
      JSON.stringify(template).replace('{', `{"more": ${numbers}, `),
    ]);
    const { target } = await imported(from);
    const { app, url } = await serve(target, { background: false });
    try {
      const ann = clientOf(url, await tokenOf(2));
      const answers = await Promise.all([
        ann.post('/api/v2/project/1/dataset/1/images/query/', {}),
        ann.get('/api/v2/project/1/dataset/1/export/'),
        ann.get('/api/v2/project/1/workflow/1/'),
        ann.get('/api/v2/project/1/workflow/1/export/'),
        ann.get('/api/v2/task/1/'),
        ann.get('/api/v2/project/1/job/1/'),
        ann.get('/api/v2/project/1/status/run/?dataset_id=1&workflowtask_id=1'),
      ]);
      expect(answers.map(({ status, text }) => [status, text.includes(BIG)])).toEqual(answers.map(() => [200, true]));
      const plain = answers.slice(0, 5).map(({ text }) => /"plain":\s*1\.0/.test(text));
      expect(plain).toEqual(plain.map(() => true));
    } finally {
      await app.close();
    }
  });
});
