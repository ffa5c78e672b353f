/**
 * Which handlers are made to throw, and where. Every source with handlers is in one of these lists: a new one has to be made to
 * throw, too.
 */
import { chmodSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ROOT } from './processes.ts';

const SOURCES = join(ROOT, 'packages/server/src');

/** By requests, streams of events, pictures, jobs on this machine and broken connections to the database. */
export const ON_THIS_MACHINE = [
  'accounts/active-users.ts',
  'accounts/under-way.ts',
  'db/database.ts',
  'http/bodies/forms.ts',
  'http/bodies/leave.ts',
  'http/bodies/receive.ts',
  'http/bodies/thread.ts',
  'http/bodies/threads.ts',
  'http/closing.ts',
  'http/gone.ts',
  'http/line.ts',
  'http/streamed.ts',
  'http/time-limit.ts',
  'jobs/events/stream.ts',
  'jobs/execution/stop-requests.ts',
  'jobs/execution/unit-updates.ts',
  'pictures/routes.ts',
  'queue/index.ts',
  'run.ts',
  'runners/local.ts',
  'runners/slots.ts',
  'studio/maker.ts',
  'studio/process.ts',
];

/** By jobs on a cluster behind SSH, whose connections break. */
export const ON_A_CLUSTER = [
  'hosts/input.ts',
  'hosts/output.ts',
  'hosts/ssh/connect.ts',
  'hosts/ssh/connection.ts',
  'hosts/ssh/run.ts',
  'runners/slurm/runner.ts',
  'slurm/queue.ts',
];

/** Not in these tests, and why. */
export const NOT_MADE_TO_THROW = {
  'audit/retention.ts': 'looks every hour',
  'data/object-store.ts': 'files of object stores, whose client is not installed here',
  'data/send.ts': 'a connection that breaks and is not told to who writes, which is rare',
  'db/connection-turns.ts': 'who waits in vain for a connection, and is refused either way',
  'db/copy-in.ts': 'a connection that breaks while rows are copied, which fails the statement either way',
  'hosts/local.ts': 'commands of this machine: end, time limits and abortion are tested with the hosts',
  'hosts/sudo-account.ts': 'a process as another account: its end and a sudo that refuses are tested with accounts',
  'hosts/ssh/sessions.ts': 'handlers of who waits in vain for a session',
  'import/copy.ts': 'the import, a command of its own that is undone as a whole',
  'import/servers.ts': 'in a command of its own, whose servers are killed in its tests',
  'jobs/log-readers.ts': 'who waits in vain for the log of a busy cluster',
  'jobs/retention.ts': 'looks every hour',
  'runners/slurm/journal-follower.ts': 'a silence of 45 seconds',
  'runners/warm-parents.ts': 'looks every ten seconds',
  'slurm/file-reader.ts': 'a silence of a minute',
  'studio/serve.ts': 'the processes that read files, which end with what they do not understand',
  'tasks/procedures/procedure-run.ts': 'the log of a collection, which is stored again with the next line',
  'web/build.ts': 'the build of the pages, in a process of its own',
};

/** All sources of the server in which something is guarded. */
export const sourcesWithHandlers = (): string[] =>
  globSync('**/*.ts', { cwd: SOURCES })
    .filter((name) => name !== 'guard.ts' && /\bguarded\(/.test(readFileSync(join(SOURCES, name), 'utf8')))
    .sort();

/** The settings of a service whose handlers throw while there is a file: all of them, or those of some rooms. */
export const throwing = (root: string, file: string, { rooms = '', every = 3 } = {}) => ({
  NODE_OPTIONS: `--import=${join(root, 'tests/support/throwing-handlers.mjs')}`,
  THROWING: file,
  THROWING_IN: rooms,
  THROWING_EVERY: String(every),
});

/** A service says in this file which of its handlers threw; they stop when it is gone. */
export function throwingFile(path: string) {
  const places = () => (existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []);
  return {
    begin() {
      writeFileSync(path, '');
      // the service may have another account
      chmodSync(path, 0o666);
    },
    end: () => rmSync(path, { force: true }),
    places: () => [...new Set(places())].sort(),
    /** Sources of which no handler has thrown. */
    missing(wanted: readonly string[]) {
      const thrown = new Set(places().map((place) => place.split(':')[0]));
      return wanted.filter((source) => !thrown.has(source));
    },
  };
}
