/** Event streams on the wire. */
import { jobs, type User } from '@service/contract';

import type { Database } from '../../db/index.ts';
import { type Api, Refusal, Streamed } from '../../http/index.ts';
import type { Logger } from '../../logging/index.ts';
import { openProject } from '../../projects/index.ts';
import { jobFeed, projectFeed } from '../events/feeds.ts';
import { createWatchers } from '../events/watchers.ts';
import type { JobFiles } from '../files/index.ts';
import { openJob } from '../reads.ts';

/** A stream is the last thing on its connection, so that a service which stops does not wait for the next request. */
const HEADERS = { 'cache-control': 'no-store, no-transform', 'x-accel-buffering': 'no', connection: 'close' };

/** Gives back what ends the streams; an application that closes waits for them. */
export function jobEventRoutes(
  api: Api,
  parts: { db: Database; files: JobFiles; log: Logger },
): { close(): Promise<void> } {
  const { db } = parts;
  const watchers = createWatchers(parts.log);

  const isAllowed = (user: User, projectId: number) => async () => {
    try {
      await openProject(db, user, projectId, 'r');
      return true;
    } catch (error) {
      if (error instanceof Refusal) return false;
      throw error;
    }
  };

  const optionsOf = (user: User, projectId: number, headers: Record<string, string | string[] | undefined>) => ({
    isAllowed: isAllowed(user, projectId),
    lastEventId: [headers['last-event-id']].flat()[0],
  });

  api.serve(jobs.projectEvents, async ({ user, params, request }) => {
    const { project } = await openProject(db, user, params.project_id, 'r');
    const options = optionsOf(user, project.id, request.headers);
    const { body, end } = watchers.watch(`project ${project.id}`, () => projectFeed(parts, project.id), options);
    return new Streamed(body, HEADERS, { end });
  });
  api.serve(jobs.jobEvents, async ({ user, params, request }) => {
    const { id } = await openJob(db, user, params, 'r');
    const options = optionsOf(user, params.project_id, request.headers);
    const { body, end } = watchers.watch(`job ${id}`, () => jobFeed(parts, id), options);
    return new Streamed(body, HEADERS, { end });
  });
  return watchers;
}
