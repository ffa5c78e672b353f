/** Takes what the workers of packs wrote, and tells what of it the job has to hear. */
import type { JournalRecord, ToldEnd, WorkerRecord } from '../records.ts';
import type { Results } from './results.ts';
import type { Pack, PackJournal } from './rounds.ts';

const MOST_CLAIMS = 3;

/** The complete lines in new bytes of a journal, as records. */
export function newRecords(
  { intake }: PackJournal,
  { offset, data }: { offset: number; data: Buffer },
): WorkerRecord[] {
  const known = intake.position() - offset;
  return known < 0 || known >= data.length ? [] : intake.take(data.subarray(known));
}

export const isFinished = (pack: Pack) => pack.journals.every((journal) => journal.finished);
export const isComplete = (pack: Pack) => isFinished(pack) && pack.units.every((number) => pack.ended.has(number));

/**
 * True when everything that the pack will ever write has been read: a shared file system may show it late, so that nothing
 * counts as missing before somebody has looked for it that long after the end of its job.
 */
export function isRead(pack: Pack, lateFileMs: number): boolean {
  // another job may have it, which the queue has to confirm
  if (!pack.over || pack.claimed !== null) return false;
  if (isFinished(pack)) return true;
  // a job that was cancelled before it got a node has written nothing
  if (pack.over.kind === 'cancelled' && !pack.ran && pack.started.size === 0) return true;
  return pack.lookedAt >= pack.over.since + lateFileMs;
}

export interface RecordTaker {
  results: Results;
  /** True for a unit of this pack that is to run again: its end is not the last word. */
  runsAgain(pack: Pack, number: number): boolean;
  /** Asked when a unit ran out of memory; true when it gets another attempt. */
  retry(pack: Pack, number: number): boolean;
}

async function takeEnd({ results, runsAgain, retry }: RecordTaker, pack: Pack, node: string | null, record: ToldEnd) {
  const number = record.end;
  if (pack.ended.has(number) || runsAgain(pack, number)) return [];
  const end = { ...(await results.keepUnit(record)), node, scheduler_job_id: pack.schedulerJob };
  if (end.stopped || end.lost) {
    // why it was stopped, only the scheduler knows; what it made does not count, and the pack may run for long
    pack.held.push({ ...end, output: null });
    return [];
  }
  if (end.out_of_memory && retry(pack, number)) return [];
  pack.ended.add(number);
  return [end];
}

/** What of a record the job has to hear. */
export async function takeRecord(
  taker: RecordTaker,
  pack: Pack,
  journal: PackJournal,
  record: WorkerRecord,
): Promise<JournalRecord[]> {
  if ('worker' in record) {
    journal.node = record.host;
    pack.schedulerJob = record.scheduler_job_id ?? pack.schedulerJob;
    if (pack.refusedClaims < MOST_CLAIMS) pack.claimed = record.array_job ?? record.scheduler_job_id ?? pack.claimed;
  } else if ('end' in record) return takeEnd(taker, pack, journal.node, record);
  else if ('start' in record) {
    pack.started.set(record.start, journal.node);
    return [{ ...record, node: journal.node, scheduler_job_id: pack.schedulerJob }];
  } else if ('importing' in record) return [record];
  else if ('finished' in record) {
    journal.finished = true;
    [journal.out, journal.err] = [record.out ?? '', record.err ?? ''];
  }
  return [];
}
