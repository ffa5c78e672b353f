/**
 * Reads the queue as the service does for a person. A program of its own, because it has to run as the account of the
 * service: `queue-read.ts alice 12 13` prints what it saw, as JSON.
 */
import { localHost, sudoCommands } from '../../../packages/server/src/hosts/index.ts';
import { createSharedQueue, createSlurmQueue } from '../../../packages/server/src/slurm/queue.ts';

/** The states of the elements of each job that was seen. */
export type Seen = { complete: boolean; jobs: [id: number, states: string[]][] } | { problem: string };

const [username, ...ids] = process.argv.slice(2) as [string, ...string[]];
const shared = createSharedQueue(localHost);
const queue = createSlurmQueue({ shared, username, person: sudoCommands(username) });
const reading = await queue.read(ids.map(Number), 0);
const seen: Seen =
  'problem' in reading
    ? reading
    : {
        complete: reading.complete,
        jobs: [...reading.jobs].map(([id, { elements }]) => [id, [...elements.values()].map(({ state }) => state)]),
      };
console.log(JSON.stringify(seen));
process.exit();
