/**
 * What those who watch a job or a project are told. A feed reads the database, since any process may run a job, and
 * remembers how far it has read: `advance` gives what changed since, for all who watch at once; `catchUp` brings a single
 * stream from where it was, or from nothing, to where the feed is.
 */
import type { Database } from '../../db/index.ts';
import type { JobFiles } from '../files/index.ts';
import * as store from '../store/events.ts';
import { jobsWithoutLogs } from '../store/jobs.ts';
import { taskStatuses } from '../task-statuses.ts';

export interface Event {
  event: 'job' | 'task' | 'units' | 'log';
  data: unknown;
}

export interface Feed {
  /** What changed since the last call. The first call only looks. */
  advance(): Promise<Event[]>;
  catchUp(since: string | undefined): Promise<Event[]>;
  /** How far the feed has read; a stream that says so later goes on there. */
  position(): string;
}

/** More units than this are better loaded again than told one by one. */
const MOST_UNITS = 500;

async function jobEvents(db: Database, jobIds: number[]): Promise<Event[]> {
  const jobs = jobIds.length === 0 ? [] : await jobsWithoutLogs(db, jobIds);
  return jobs.map((data) => ({ event: 'job', data }));
}

type Told = Map<string, string>;

/** The statuses that are not what was told last. */
async function taskEvents(db: Database, marks: store.Mark[], told: Told, only?: number[]): Promise<Event[]> {
  const events: Event[] = [];
  const located = marks.flatMap(({ id, workflow_id, dataset_id }) =>
    workflow_id === null || dataset_id === null ? [] : [{ id, workflow_id, dataset_id }],
  );
  const statusesOf = await taskStatuses(db, located, only);
  for (const job of located) {
    for (const [workflowtask_id, task_status] of statusesOf(job)) {
      const key = `${job.id}/${workflowtask_id}`;
      const text = JSON.stringify(task_status);
      if ((told.get(key) ?? 'null') === text) continue;
      told.set(key, text);
      events.push({ event: 'task', data: { job_id: job.id, workflowtask_id, task_status } });
    }
  }
  return events;
}

const hasMoved = (before: store.Mark, now: store.Mark) =>
  before.job !== now.job || before.runs !== now.runs || before.units !== now.units;

/** Of jobs that moved: all tasks where a job itself changed, else those whose runs are open or have just ended. */
async function movedTaskEvents(
  db: Database,
  moves: { before: store.Mark | undefined; now: store.Mark }[],
  told: Told,
): Promise<Event[]> {
  const marks = moves.map((move) => move.now);
  if (moves.some(({ before, now }) => before?.job !== now.job)) return taskEvents(db, marks, told);
  const ended = await store.tasksChangedSince(
    db,
    marks.map((mark) => mark.id),
    Math.min(...moves.map(({ before }) => before!.runs)),
  );
  return taskEvents(db, marks, told, [...new Set([...ended, ...marks.flatMap((mark) => mark.open_tasks)])]);
}

async function unitEvents(db: Database, jobId: number, after: number): Promise<Event[]> {
  const units = await store.unitsChangedSince(db, jobId, after, MOST_UNITS + 1);
  if (units.length === 0) return [];
  return [{ event: 'units', data: units.length > MOST_UNITS ? { reload: true } : units }];
}

/** What is told of a log at a time, in steps of a megabyte: tasks may write to it, too, and without end. */
const MOST_LOG_STEPS = 8;

/** What `workflow.log` has between two offsets in bytes, and where it ended. A log out of reach has nothing new. */
async function logBetween(files: JobFiles, { working_dir }: store.Mark, from: number, to: number) {
  const events: Event[] = [];
  let offset = from;
  while (offset < to && events.length < MOST_LOG_STEPS) {
    const added = await files.workflowLogFrom({ working_dir }, offset).catch(() => ({ offset, text: '' }));
    if (added.offset === offset) break;
    const text = added.offset > to ? Buffer.from(added.text).toString('utf8', 0, to - offset) : added.text;
    events.push({ event: 'log', data: { offset, text } });
    ({ offset } = added);
  }
  return { events, offset };
}

/** A position is `<units>.<bytes of the log>`. */
export function jobFeed({ db, files }: { db: Database; files: JobFiles }, jobId: number): Feed {
  let mark: store.Mark | undefined;
  let logLength = 0;
  const told: Told = new Map();

  async function readLog(now: store.Mark): Promise<Event[]> {
    const { events, offset } = await logBetween(files, now, logLength, Infinity);
    logLength = offset;
    return events;
  }

  async function look(now: store.Mark): Promise<void> {
    await taskEvents(db, [now], told);
    await readLog(now);
  }

  async function changes(before: store.Mark, now: store.Mark): Promise<Event[]> {
    const moved = hasMoved(before, now);
    // what is written after the last change would be missed if only changes made us look
    const log = now.status === 'submitted' || moved ? await readLog(now) : [];
    if (!moved) return log;
    return [
      ...(before.job === now.job ? [] : await jobEvents(db, [jobId])),
      ...(await movedTaskEvents(db, [{ before, now }], told)),
      ...(before.units === now.units ? [] : await unitEvents(db, jobId, before.units)),
      ...log,
    ];
  }

  return {
    async advance() {
      const [now] = await store.marksOfJob(db, jobId);
      if (!now) return [];
      const before = mark;
      const events = before ? await changes(before, now) : (await look(now), []);
      mark = now;
      return events;
    },
    async catchUp(since) {
      if (!mark) return [];
      const [units, bytes] = (since ?? '0.0').split('.').map(Number);
      const log = await logBetween(files, mark, bytes ?? 0, logLength);
      return [
        ...(await jobEvents(db, [jobId])),
        ...(await taskEvents(db, [mark], new Map())),
        ...(await unitEvents(db, jobId, units ?? 0)),
        ...log.events,
      ];
    },
    position: () => `${mark?.units ?? 0}.${logLength}`,
  };
}

/** A position is the number of the latest change of a job. */
export function projectFeed({ db }: { db: Database }, projectId: number): Feed {
  let last: number | undefined;
  let told: Told = new Map();
  /** Jobs that run. */
  const followed = new Map<number, store.Mark>();

  function follow(marks: store.Mark[]): void {
    for (const mark of marks) {
      if (mark.status === 'submitted') followed.set(mark.id, mark);
      else followed.delete(mark.id);
    }
    told = new Map([...told].filter(([key]) => followed.has(Number(key.split('/')[0]))));
  }

  return {
    async advance() {
      if (last === undefined) {
        const latest = await store.lastChangeOfProject(db, projectId);
        const marks = await store.marksOfProject(db, projectId, [], latest);
        await taskEvents(db, marks, told);
        follow(marks);
        last = latest;
        return [];
      }
      const marks = await store.marksOfProject(db, projectId, [...followed.keys()], last);
      const moves = marks
        .map((now) => ({ before: followed.get(now.id), now }))
        .filter(({ before, now }) => before === undefined || hasMoved(before, now));
      if (moves.length === 0) return [];
      const changed = moves.filter(({ before, now }) => before?.job !== now.job).map(({ now }) => now.id);
      const events = [...(await jobEvents(db, changed)), ...(await movedTaskEvents(db, moves, told))];
      follow(marks);
      last = Math.max(last, ...marks.map((mark) => mark.job));
      return events;
    },
    async catchUp(since) {
      const running = await store.marksOfProject(db, projectId, [], Number(since ?? last ?? 0));
      // who begins to watch learns at least how the newest job fares
      const newest = since === undefined ? await store.newestMarkOfProject(db, projectId) : [];
      const marks = [...running, ...newest.filter((mark) => !running.some(({ id }) => id === mark.id))];
      const ids = marks.map((mark) => mark.id);
      return [...(await jobEvents(db, ids)), ...(await taskEvents(db, marks, new Map()))];
    },
    position: () => String(last ?? 0),
  };
}
