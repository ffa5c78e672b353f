/** Takes what the workers of packs wrote, and tells what of it is news for the job. */
import type { JournalRecord, UnitEnd } from '../journal.ts';
import type { Deliverer, ToldEnd } from './deliver.ts';
import type { Pack, PackJournal } from './rounds.ts';

/** Records of a pack, as far as they are not the same as those of a worker on this machine. */
export type PackRecord =
  | Exclude<JournalRecord, UnitEnd>
  | ToldEnd
  | { worker: number; host: string; scheduler_job?: number | null; array_job?: number | null }
  | { finished: true; stopped: boolean; out?: string; err?: string };

/** The complete lines in new bytes of a journal, as records; moves its offset. */
export function newRecords(journal: PackJournal, { offset, data }: { offset: number; data: Buffer }): PackRecord[] {
  const known = journal.offset - offset;
  if (known < 0 || known >= data.length) return [];
  const fresh = data.subarray(known);
  const end = fresh.lastIndexOf('\n') + 1;
  journal.offset += end;
  return fresh
    .subarray(0, end)
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return line === '' ? [] : [JSON.parse(line) as PackRecord];
      } catch {
        // cut off by a crash, and ended by a later worker
        return [];
      }
    });
}

export const isFinished = (pack: Pack) => pack.journals.every((journal) => journal.finished);
export const isComplete = (pack: Pack) => isFinished(pack) && pack.units.every((number) => pack.ended.has(number));

/**
 * True when everything that the pack will ever write has been read: a shared file system may show it late, so that nothing
 * counts as missing before somebody has looked for it that long after the end of its job.
 */
export function isRead(pack: Pack, patienceMs: number): boolean {
  if (!pack.over) return false;
  if (isFinished(pack)) return true;
  // a job that was cancelled before it got a node has written nothing
  if (pack.over.kind === 'cancelled' && !pack.ran && pack.started.size === 0) return true;
  return pack.lookedAt >= pack.over.since + patienceMs;
}

interface Taking {
  deliverer: Deliverer;
  /** True for a unit of this pack that is to run again: its end is not the last word. */
  runsAgain(pack: Pack, number: number): boolean;
  /** Asked when a unit ran out of memory; true when it gets another attempt. */
  retry(pack: Pack, number: number): boolean;
}

async function takeEnd({ deliverer, runsAgain, retry }: Taking, pack: Pack, record: ToldEnd) {
  const number = record.end;
  if (pack.ended.has(number) || runsAgain(pack, number)) return [];
  const end = { ...(await deliverer.unit(record)), node: pack.node, scheduler_job: pack.schedulerJob };
  if (end.stopped || end.lost) {
    // why it was stopped, only the scheduler knows
    pack.held.push(end);
    return [];
  }
  if (end.out_of_memory && retry(pack, number)) return [];
  pack.ended.add(number);
  return [end];
}

/** What of a record the job has to hear. */
export async function takeRecord(
  taking: Taking,
  pack: Pack,
  journal: PackJournal,
  record: PackRecord,
): Promise<JournalRecord[]> {
  if ('worker' in record) {
    pack.node = record.host;
    if ('scheduler_job' in record) {
      pack.schedulerJob = record.scheduler_job ?? pack.schedulerJob;
      pack.arrayJob = record.array_job ?? record.scheduler_job ?? pack.arrayJob;
      // the job that was said to be over is another one, which found the pack taken
      if (pack.over && pack.arrayJob !== null && pack.over.job !== pack.arrayJob) pack.over = undefined;
    }
  } else if ('end' in record) return takeEnd(taking, pack, record);
  else if ('start' in record) {
    pack.started.set(record.start, record.time);
    return [{ ...record, node: pack.node, scheduler_job: pack.schedulerJob }];
  } else if ('finished' in record) {
    journal.finished = true;
    const { out = '', err = '' } = record as { out?: string; err?: string };
    [journal.out, journal.err] = [out, err];
  }
  return [];
}
