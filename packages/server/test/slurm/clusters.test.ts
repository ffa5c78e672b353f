/** What people ask a cluster for beside their jobs must not keep the jobs from it. */
import { expect, it } from 'vitest';

import type { SshHosts } from '../../src/hosts/index.ts';
import { type ClusterAddress, createClusters } from '../../src/slurm/clusters.ts';
import { standIn } from './support.ts';

const ADDRESS: ClusterAddress = {
  type: 'slurm_ssh',
  username: 'alice',
  host: 'login.example.org',
  ssh_key_path: '/key',
  python: 'python3',
  poll_interval: 1,
};

it('a hundred who look at the queue at once are one command, those who look later another', async () => {
  const { client, asked } = standIn({ squeue: 'sleep 0.3; echo the queue' });
  const ssh = { host: () => client.commands, close: () => undefined } as unknown as SshHosts;
  const clusters = createClusters(ssh);
  const look = (address: ClusterAddress, options: string[]) => clusters.queueText(address, options);
  const answers = await Promise.all(Array.from({ length: 100 }, () => look(ADDRESS, [])));
  expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(new Set(['{"text":"the queue\\n"}']));
  expect(asked('squeue')).toHaveLength(1);
  await Promise.all([look(ADDRESS, ['--user=alice']), look({ ...ADDRESS, username: 'bob' }, []), look(ADDRESS, [])]);
  expect(asked('squeue')).toHaveLength(4);
});

const RESET = 'echo "slurm_load_jobs error: Connection reset by peer" >&2; exit 1';

it.each([
  [
    'hangs up once is asked again',
    `test -e "$FOLDER/again" && echo the queue && exit; touch "$FOLDER/again"; ${RESET}`,
    2,
  ],
  ['hangs up twice has said why', RESET, 2],
  ['refuses is not asked again', 'echo "Invalid user: alice" >&2; exit 1', 1],
])('a controller that %s', async (_, squeue, questions) => {
  const { client, asked } = standIn({ squeue });
  const ssh = { host: () => client.commands, close: () => undefined } as unknown as SshHosts;
  const answer = await createClusters(ssh).queueText(ADDRESS, []);
  const said = squeue.includes('again') ? 'the queue\n' : /echo "(.*)"/.exec(squeue)![1];
  expect('text' in answer ? answer.text : answer.problem).toBe(said);
  expect(asked('squeue')).toHaveLength(questions);
});

it('a hundred who submit jobs at once are one question whether the cluster answers', async () => {
  const { client, asked } = standIn({ true: 'sleep 0.3' });
  const ssh = { host: () => client.commands, close: () => undefined } as unknown as SshHosts;
  const clusters = createClusters(ssh);
  const answers = await Promise.all(Array.from({ length: 100 }, () => clusters.problem(ADDRESS)));
  expect(new Set(answers)).toEqual(new Set([undefined]));
  expect(asked('true')).toHaveLength(1);
});
