/**
 * Who reads logs. A log is up to some megabytes, in memory until it is sent, so that a person has few of them open. Where it
 * has to be fetched from a cluster, it takes one of the sessions that jobs need as well: people take turns at few of these.
 */
import type { FastifyReply } from 'fastify';

import { guarded, ignored } from '../guard.ts';
import { createLine, createPersonLimit, type Line, onceClosed, tooBusy, untilGone } from '../http/index.ts';
import type { ClusterAddress } from '../slurm/index.ts';

const MOST_OF_ONE = 32;
/** Scripts ask for many jobs at once. A few are read at a time, and those with short logs do not count afterwards. */
const OF_JOBS = {
  slots: 8,
  longest: 1000,
  longestOfOne: 256,
  busy: 'Too many jobs are being read. Try again in a few seconds.',
};
const SHORT_LOG = 64 * 1024;
const BUSY = 'Too many logs are being read on this cluster. Try again in a few seconds.';
/** A connection has eight sessions. */
const ON_A_CLUSTER = { slots: 3, longest: 200, longestOfOne: MOST_OF_ONE, busy: BUSY };
const LONGEST_WAIT_MS = 10_000;

export interface LogReader {
  /** Reads when it is the person's turn on this cluster. */
  onCluster<T>(address: ClusterAddress, read: () => Promise<T>): Promise<T>;
}

export interface LogReaders {
  /** A reader for an answer with a log, which counts until it is sent. Refuses somebody who has too many open. */
  open(person: number, reply: FastifyReply): LogReader;
  /** The same for a job with its own log, which is here: who waits for others sees it all the same. */
  readJob<T extends JobWithLogs>(person: number, reply: FastifyReply, read: () => Promise<T>): Promise<T>;
}

interface JobWithLogs {
  log: string | null;
  workflow_log?: string | null | undefined;
}

const logLength = ({ log, workflow_log }: JobWithLogs) => (log?.length ?? 0) + (workflow_log?.length ?? 0);

const accountOf = ({ type, host, username }: ClusterAddress) => JSON.stringify([type, host, username]);

/** Aborted with a refusal when somebody has waited for so long. */
function waitingAtMost(ms: number): { signal: AbortSignal; clear(): void } {
  const controller = new AbortController();
  const timer = setTimeout(
    guarded(() => controller.abort(tooBusy(BUSY)), ignored),
    ms,
  );
  return { signal: controller.signal, clear: () => clearTimeout(timer) };
}

export function createLogReaders(): LogReaders {
  const logs = createPersonLimit(MOST_OF_ONE, 'logs');
  const jobs = createPersonLimit(MOST_OF_ONE, 'jobs with long logs');
  const jobLine = createLine(OF_JOBS);
  const lines = new Map<string, Line>();

  function lineOf(address: ClusterAddress): Line {
    const account = accountOf(address);
    const line = lines.get(account) ?? createLine(ON_A_CLUSTER);
    lines.set(account, line);
    return line;
  }

  return {
    async readJob(person, reply, read) {
      const job = await jobLine.take(person, read, untilGone(reply));
      if (logLength(job) > SHORT_LOG) onceClosed(reply.raw, jobs.take(person));
      return job;
    },
    open(person, reply) {
      onceClosed(reply.raw, logs.take(person));
      const gone = untilGone(reply);
      return {
        async onCluster(address, read) {
          const wait = waitingAtMost(LONGEST_WAIT_MS);
          const begin = () => {
            wait.clear();
            return read();
          };
          try {
            return await lineOf(address).take(person, begin, AbortSignal.any([gone, wait.signal]));
          } finally {
            wait.clear();
          }
        },
      };
    },
  };
}
