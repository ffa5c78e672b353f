/**
 * Somebody who collects task packages on the cluster, as a resource of either kind: through sudo, where the service installs
 * beside itself, and by SSH, where it installs as alice on the other machine.
 *
 *     const bench = await openBench();
 *     const alice = await bench.person('slurm_ssh');
 *     const { activity, group } = await alice.collected(wheelForm);
 */
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, expect } from 'vitest';

import type { ResourceType } from '@service/contract';

import { type SshHosts, sshHosts } from '../../../packages/server/src/hosts/index.ts';
import { type Queue, startQueue } from '../../../packages/server/src/queue/index.ts';
import { clusterAddress, createClusters } from '../../../packages/server/src/slurm/index.ts';
import { ACTIVITY_WORK, activityHandler } from '../../../packages/server/src/tasks/index.ts';
import { dataFolder, until } from '../../../packages/server/test/support/lab.ts';
import { addPerson, type Person } from '../../../packages/server/test/support/plates.ts';
import { type Answer, startService, type TestService } from '../../../packages/server/test/support/server.ts';
import { CHECKOUT, folderOf, SSH } from './commands.ts';

export type Kind = Extract<ResourceType, 'slurm_sudo' | 'slurm_ssh'>;

const PIXI = '0.47.0';
const PYTHON = { default_version: '3.11', versions: { '3.11': '/usr/bin/python3' }, pip_cache_dir: null };
const RUNNER = {
  default_slurm_config: { partition: 'main', cpus_per_task: 1, mem: 100 },
  gpu_slurm_config: null,
  batching_config: {
    target_cpus_per_job: 1,
    max_cpus_per_job: 1,
    target_mem_per_job: 200,
    max_mem_per_job: 200,
    target_num_jobs: 2,
    max_num_jobs: 4,
  },
  user_local_exports: {},
};

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into bodies of every shape
type Body = any;

export interface Collector extends Person {
  /** Where the packages go. */
  base: string;
  resource: number;
  profile: number;
  collect(form: FormData, kind?: 'pip' | 'pixi'): Promise<Answer>;
  /** The group of a collection that works. */
  collected(form: FormData, kind?: 'pip' | 'pixi'): Promise<{ activity: Body; group: Body }>;
  /** What the owner asks for, and how it ended. */
  act(group: number, action: 'deactivate' | 'reactivate' | 'delete'): Promise<Body>;
  reset(group: number, kind?: 'pip' | 'pixi'): Promise<Body>;
  /** An activity when it is over. */
  outcome(answer: Answer): Promise<Body>;
  /** An activity once its log holds something. */
  said(answer: Answer, words: string | RegExp): Promise<Body>;
  group(id: number): Promise<Body>;
}

export interface Bench {
  service: TestService;
  /** The lines that pixi's jobs begin with. */
  person(kind: Kind, options?: { preamble?: string[]; keyPath?: string }): Promise<Collector>;
  /** As if the service was stopped, and later started again. */
  pause(): Promise<void>;
  resume(): void;
}

/** pixi itself cannot be had, so a program with its command line stands in for it. */
function pixiFolder(): string {
  const folder = join(folderOf('alice'), PIXI);
  mkdirSync(join(folder, 'bin'), { recursive: true, mode: 0o755 });
  symlinkSync(join(CHECKOUT, 'packages/server/test/support/pixi-stand-in'), join(folder, 'bin/pixi'));
  return folder;
}

async function addPlace(
  { database }: TestService,
  kind: Kind,
  { preamble = [], keyPath = SSH.keyOf('alice') }: { preamble?: string[]; keyPath?: string },
) {
  const far = kind === 'slurm_ssh';
  // a blank, because commands are texts that are split into words
  const base = join(folderOf(far ? 'alice' : 'svcuser'), 'all tasks');
  const slurm = { partition: 'main', cpus: 1, mem: '100M', mem_per_cpu: null, time: '10:00', preamble };
  const { id: resource } = await database.db
    .insertInto('resources')
    .values({
      name: `Resource ${Math.random()}`,
      type: kind,
      host: far ? `${SSH.host}:${SSH.port}` : null,
      jobs_local_dir: '/jobs',
      tasks_local_dir: far ? '/nowhere' : base,
      jobs_runner_config: JSON.stringify(RUNNER),
      jobs_slurm_python_worker: '/usr/bin/python3',
      jobs_poll_interval: 0,
      tasks_python_config: JSON.stringify(PYTHON),
      tasks_pixi_config: JSON.stringify({
        default_version: PIXI,
        versions: { [PIXI]: pixiFolder() },
        SLURM_CONFIG: slurm,
      }),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const { id: profile } = await database.db
    .insertInto('profiles')
    .values({
      name: `Profile ${Math.random()}`,
      resource_id: resource,
      resource_type: kind,
      username: 'alice',
      ssh_key_path: far ? keyPath : null,
      jobs_remote_dir: far ? '/jobs' : null,
      tasks_remote_dir: far ? base : null,
      pixi_cache_dir: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { base, resource, profile };
}

const isOver = (body: Body) => body.status === 'OK' || body.status === 'failed';

function collectorOf(
  service: TestService,
  wake: () => void,
  person: Person,
  place: Awaited<ReturnType<typeof addPlace>>,
) {
  const { client } = person;
  const activity = async (answer: Answer) => (await client.get(`/api/v2/task-group/activity/${answer.body.id}/`)).body;
  const accepted = (answer: Answer) => {
    expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
    wake();
    return answer;
  };
  const outcome = (answer: Answer) =>
    until(
      'the end of the activity',
      async () => {
        const body = await activity(accepted(answer));
        return isOver(body) && body;
      },
      100,
    );
  const group = async (id: number) => (await client.get(`/api/v2/task-group/${id}/`)).body;
  const collector: Collector = {
    ...person,
    ...place,
    outcome,
    group,
    collect: (body, kind = 'pip') => client.raw(`/api/v2/task/collect/${kind}/`, { method: 'POST', body }),
    async collected(form, kind) {
      const answer = await collector.collect(form, kind);
      const over = await outcome(answer);
      expect([over.status, over.log]).toEqual(['OK', expect.any(String)]);
      return { activity: over, group: await group(answer.body.taskgroupv2_id) };
    },
    act: async (id, action) => outcome(await client.post(`/api/v2/task-group/${id}/${action}/`)),
    reset: async (id, kind = 'pip') =>
      outcome(await service.admin.post(`/admin/v2/task-group/${id}/reset/${kind}/`, {})),
    said: (answer, words) =>
      until(`${words} in the log`, async () => {
        const body = await activity(accepted(answer));
        if (isOver(body)) throw new Error(`It is over before it says ${words}:\n${body.log}`);
        return (body.log ?? '').search(words) >= 0 && body;
      }),
  };
  return collector;
}

/** A service whose background work reaches the cluster as alice; nothing asks a package index, unless one is wanted. */
export async function openBench({ packageIndex = 'none' }: { packageIndex?: string | null } = {}): Promise<Bench> {
  const dataDir = dataFolder();
  const service = await startService({
    background: false,
    settings: {
      SERVICE_DATA_DIR: dataDir,
      SERVICE_ENABLE_TASK_GROUP_RESET: 'true',
      ...(packageIndex === null ? {} : { SERVICE_PACKAGE_INDEX: packageIndex }),
    },
  });
  const { db } = service.database;
  const silent = { enabled: () => false, debug() {}, info() {}, warning() {}, error() {} };
  const hosts: SshHosts = sshHosts({
    knownHosts: SSH.knownHosts,
    log: silent,
    limits: { firstPauseMs: 200, longestPauseMs: 500 },
  });
  const clusters = createClusters(hosts);
  const handler = activityHandler({
    db,
    dataDir,
    packageIndex,
    hostFor: ({ host }, { username, ssh_key_path }) =>
      hosts.host({ host: host!, username: username!, keyPath: ssh_key_path! }),
    slurmFor: (resource, profile) => clusters.client(clusterAddress(resource, profile)),
  });
  const start = () =>
    startQueue({
      db,
      log: silent,
      handlers: { [ACTIVITY_WORK]: handler },
      slots: 4,
      retrySeconds: 1,
      waitsOnStop: true,
    });
  let queue: Queue | undefined = start();
  const pause = async () => {
    const stopping = queue;
    queue = undefined;
    await stopping?.stop();
  };
  afterAll(async () => {
    await pause();
    hosts.close();
  });
  return {
    service,
    pause,
    resume: () => void (queue = start()),
    async person(kind, options = {}) {
      const place = await addPlace(service, kind, options);
      return collectorOf(service, () => queue?.wake(), await addPerson(service, place.profile), place);
    },
  };
}
