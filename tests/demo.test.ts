/** `npm start -- --demo`: what is made, that it is made once, and that an interrupted one is completed. */
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';

import { afterAll, describe, expect, it } from 'vitest';

import { LONG, oneIn } from '../packages/server/test/support/long.ts';
import { type Client, clientOf } from '../packages/server/test/support/server.ts';
import { type ProcessOptions, remove, ROOT, type Running, startService, temporaryFolder } from './support/processes.ts';

const PASSWORD = 'demo-password';
const READY = /answers at (http:\/\/\S+)/;
const INSTALLING = /Demo: installing its tasks/;
const RUNNING = /Demo: running its workflows/;
const END = /^The demo is in the project "Demo" of admin@example\.org\. Sign in at (\S+)\n(?: {2}.+\n){3}/m;
const TO_MEASURE = [
  'Make Demo Plate',
  'Correct Illumination',
  'Maximum Projection',
  'Segment Nuclei',
  'Measure Nuclei',
];
const WELLS = ['A01', 'A02', 'A03', 'B01', 'B02', 'B03'];
/** A demo may be made while the machine has much else to do. */
const LONG_MS = 300_000;

const folders: string[] = [];
const running: Running[] = [];

const newFolder = () => {
  const folder = temporaryFolder('demo');
  folders.push(folder);
  return folder;
};

afterAll(async () => {
  for (const one of running) one.process.kill('SIGTERM');
  await Promise.all(running.map((one) => one.ended));
  for (const folder of folders) remove(folder);
});

/** Without a package index: the demo needs none. */
function start(data: string, { folder, environment }: ProcessOptions = {}, options = ['--demo']): Running {
  const service = startService([...options, '--port', '0', '--data-dir', data, '--admin-pwd', PASSWORD], {
    environment: { SERVICE_PACKAGE_INDEX: 'none', ...environment },
    ...(folder === undefined ? {} : { folder }),
  });
  running.push(service);
  return service;
}

async function stop(service: Running): Promise<void> {
  service.process.kill('SIGTERM');
  expect(await service.ended).toBe(0);
}

async function kill(service: Running): Promise<void> {
  service.process.kill('SIGKILL');
  await service.ended;
}

async function signIn(service: Running): Promise<Client> {
  const [, url] = await service.said(READY);
  const form = new URLSearchParams({ username: 'admin@example.org', password: PASSWORD });
  const { body } = await clientOf(url!).raw('/auth/token/login/', { method: 'POST', body: form });
  return clientOf(url!, (body as { access_token: string }).access_token);
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
type Body = any;

async function read(client: Client, path: string): Promise<Body> {
  const { status, body, text } = await client.get(path);
  expect([status, text]).toEqual([200, text]);
  return body;
}

/** Everything of the kinds that a demo makes. */
async function everything(client: Client) {
  const projects = await read(client, '/api/v2/project/');
  const one = `/api/v2/project/${projects[0]?.id}`;
  return {
    projects,
    workflows: await read(client, `${one}/workflow/`),
    datasets: await read(client, `${one}/dataset/`),
    jobs: await read(client, '/api/v2/job/'),
    groups: (await read(client, '/api/v2/task-group/?all_groups=true')).flatMap(
      ([, groups]: [string, Body[]]) => groups,
    ),
    activities: await read(client, '/api/v2/task-group/activity/'),
  };
}

type Everything = Awaited<ReturnType<typeof everything>>;

/** In few words what there is. Workflows are listed by name, jobs the newest first. */
const inWords = ({ projects, workflows, datasets, jobs, groups, activities }: Everything) => ({
  projects: projects.map(({ name }: Body) => name),
  workflows: workflows.map(({ name, task_list }: Body) => [name, task_list.map(({ task }: Body) => task.name)]),
  datasets: datasets.map(({ name }: Body) => name),
  jobs: jobs.map((job: Body) => [job.workflow_dump.name, job.dataset_dump.name, job.status]),
  groups: groups.map(({ pkg_name, origin, active }: Body) => [pkg_name, origin, active]),
  activities: activities.map(({ action, status }: Body) => [action, status]),
});

const COMPLETE = {
  projects: ['Demo'],
  workflows: [
    ['Demo with a failure', ['Make Demo Plate', 'Fail On Wells']],
    ['Measure nuclei', [...TO_MEASURE, 'Summarise Plate']],
  ],
  datasets: ['Demo plate', 'Demo plate with a failure'],
  jobs: [
    ['Demo with a failure', 'Demo plate with a failure', 'failed'],
    ['Measure nuclei', 'Demo plate', 'done'],
  ],
  groups: [['demo-tasks', 'wheel-file', true]],
  activities: [['collect', 'OK']],
};

interface DemoImage {
  zarr_url: string;
  origin: string | null;
  attributes: Record<string, unknown>;
  types: Record<string, boolean>;
}

/** The images of the plate, with addresses below the folder of the dataset. */
async function imagesOf(client: Client, { projects, datasets }: Everything): Promise<DemoImage[]> {
  const { zarr_dir, id } = datasets[0];
  const { images } = await read(client, `/api/v2/project/${projects[0].id}/dataset/${id}/export/`);
  const below = (url: string | null) => url && relative(zarr_dir as string, url);
  return (images as DemoImage[])
    .map((image) => ({ ...image, zarr_url: below(image.zarr_url)!, origin: below(image.origin) }))
    .sort((one, other) => one.zarr_url.localeCompare(other.zarr_url, 'en'));
}

/** By column. */
const TREATMENTS = ['control', 'drug 50%', 'drug 100%'];

/** `A01` → `A/01/0` and what the tasks make of it. */
const imagesOfWell = (well: string): DemoImage[] => {
  const inPlate = `${well[0]}/${well.slice(1)}`;
  const raw = `demo.zarr/${inPlate}/0`;
  const projected = `demo_mip.zarr/${inPlate}/0_corrected`;
  const treatment = TREATMENTS[Number(well.slice(1)) - 1];
  const attributes = { plate: 'demo.zarr', well, treatment };
  return [
    { zarr_url: raw, origin: null, attributes, types: { is_3D: true } },
    { zarr_url: `${raw}_corrected`, origin: raw, attributes, types: { is_3D: true, illumination_corrected: true } },
    {
      zarr_url: projected,
      origin: `${raw}_corrected`,
      attributes: { plate: 'demo_mip.zarr', well, treatment, num_nuclei: expect.any(Number) },
      types: { is_3D: false, illumination_corrected: true },
    },
  ];
};

const linesOf = (file: string) => readFileSync(file, 'utf8').trim().split('\n');

describe('npm start -- --demo', () => {
  const histories: [name: string, kills: RegExp[]][] = [
    ['after kills during the installation and during the run', [READY, INSTALLING, RUNNING]],
    ['at once', []],
  ];
  // release.test.ts makes it at once, and starts again with it
  it.runIf(LONG).each(histories)(
    'makes, %s, a project with a plate that is measured, and a workflow that fails; a second start changes nothing',
    async (_, kills) => {
      const data = join(newFolder(), 'data');
      for (const moment of kills) {
        const interrupted = start(data);
        await interrupted.said(moment);
        await kill(interrupted);
      }
      const first = start(data);
      const [said, address] = await first.said(END);
      expect((await first.said(READY))[1]).toBe(address);
      const client = await signIn(first);
      const made = await everything(client);
      expect(inWords(made)).toEqual(COMPLETE);
      const zarr_dir = made.datasets[0].zarr_dir as string;
      expect(said.split('\n').slice(1, 4)).toEqual([
        `  Measure nuclei        done (job ${made.jobs[1].id})`,
        expect.stringMatching(
          `^  Demo with a failure   failed as it should \\(job ${made.jobs[0].id}\\): Fail On Wells failed for /.+/demo.zarr/A/0\\d/0: ValueError: .`,
        ),
        `  Files                 ${zarr_dir}`,
      ]);

      const images = await imagesOf(client, made);
      const expected = WELLS.flatMap(imagesOfWell);
      expect(images).toEqual(expected.sort((one, other) => one.zarr_url.localeCompare(other.zarr_url, 'en')));
      const counts = images.flatMap(({ attributes }) => (attributes['num_nuclei'] as number | undefined) ?? []);
      for (const [index, well] of WELLS.entries()) {
        const image = join(zarr_dir, `demo_mip.zarr/${well[0]}/${well.slice(1)}/0_corrected`);
        expect(JSON.parse(readFileSync(join(image, 'labels/.zattrs'), 'utf8'))).toEqual({ labels: ['nuclei'] });
        expect(linesOf(join(image, 'tables/nuclei/table.csv'))).toHaveLength(1 + counts[index]!);
        expect(counts[index]).toBeGreaterThan(0);
      }
      const [head, ...rows] = linesOf(join(zarr_dir, 'summary.csv')).map((line) => line.split(','));
      expect(head!.slice(0, 4)).toEqual(['plate', 'well', 'image', 'num_nuclei']);
      expect(rows.map((row) => row.slice(0, 4))).toEqual(
        WELLS.map((well, index) => ['demo_mip.zarr', well, '0_corrected', String(counts[index])]),
      );

      await stop(first);
      const second = start(data);
      await second.said(END);
      expect(second.output()).not.toMatch(INSTALLING);
      expect(second.output()).not.toMatch(RUNNING);
      expect(await everything(await signIn(second))).toEqual(made);
    },
    LONG_MS,
  );

  it.runIf(LONG)(
    'gives the administrator a profile where there is none, and says that it is unfinished when the service stops',
    async () => {
      const data = join(newFolder(), 'data');
      const before = start(data, {}, []);
      const client = await signIn(before);
      const { id, profile_id } = await read(client, '/auth/current-user/');
      expect(await client.patch(`/auth/users/${id}/`, { profile_id: null })).toMatchObject({ status: 200 });
      await stop(before);

      const service = start(data);
      await service.said(INSTALLING);
      expect(await read(await signIn(service), '/auth/current-user/')).toMatchObject({ profile_id });
      await stop(service);
      expect(service.output()).toMatch(/^The demo is not finished\. Start with --demo again to continue it\.$/m);
      expect(service.output()).not.toContain('ERROR');
    },
  );

  /** A checkout without the sources of the demo's tasks. */
  function withoutDemoTasks(): ProcessOptions {
    const folder = newFolder();
    mkdirSync(join(folder, 'packages'));
    cpSync(join(ROOT, 'packages/server'), join(folder, 'packages/server'), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    return { folder };
  }

  it.each(
    oneIn<[string, () => ProcessOptions, RegExp]>(
      2,
      [
        [
          'its tasks are missing',
          withoutDemoTasks,
          /^The demo could not be made: its tasks are not in \S+\/packages\/demo-tasks\. Get the complete source .+ again to continue it\.$/m,
        ],
        [
          'there is no Python',
          () => ({ environment: { PATH: newFolder() } }),
          /^The demo could not be made: there is no resource to run jobs on\. .+ again to continue it\.$/m,
        ],
      ],
      1,
    ),
  )('says in one line why it cannot be made, and the service goes on: %s', async (_, options, line) => {
    const service = start(join(newFolder(), 'data'), options());
    await service.said(line);
    expect(service.output()).not.toMatch(/^\s+at /m);
    const [, url] = await service.said(READY);
    expect((await fetch(`${url}/api/ready/`)).status).toBe(200);
    expect(await read(await signIn(service), '/auth/current-user/')).toMatchObject({ email: 'admin@example.org' });
  });
});
