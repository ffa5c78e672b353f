/**
 * How far a batch on a cluster is: its rounds and packs, what is known of each unit, and what is left to do. Knows no clock
 * and asks nobody; runner.ts does.
 */
import { batchesOf } from '../../engine/slurm/batching.ts';
import { executorError } from '../../engine/slurm/executor-error.ts';
import { retryOptions } from '../../engine/slurm/retry.ts';
import type { SlurmOptions } from '../../engine/slurm/options.ts';
import type { Batch } from '../batch.ts';
import { strangeWords } from '../journal.ts';
import type { JournalRecord, UnitEnd } from '../records.ts';
import type { Following } from '../runner.ts';
import type { AgainEntry, Ledger, LedgerEntry, RoundPlan } from './ledger.ts';
import { type EndedPack, outcomeOf, unbegun } from './pack-outcome.ts';
import { newRecords, type RecordTaker, takeRecord } from './packs.ts';
import type { Results } from './results.ts';
import { type Pack, type PackJournal, packPrefix, type Round, roundOf } from './rounds.ts';

const MOST_ROUNDS = 20;
/** Characters of outputs and logs with which nothing waits for more. */
const LONG_TEXT = 1_000_000;

interface ProgressParts {
  batch: Batch;
  ledger: Ledger;
  results: Results;
  following: Following;
}

export interface Progress {
  rounds: Round[];
  /** Packs that are not settled. */
  open(): Pack[];
  /** New bytes of the journal of a worker; false when they say nothing new. */
  take(file: string, piece: { offset: number; data: Buffer }): Promise<boolean>;
  /** Drops a record of a journal that is not complete, to be read again; false when there is none. */
  forgetHalf(file: string): boolean;
  /** What is in it is nothing that a worker writes: the scheduler alone tells how its units ended. */
  giveUpJournal(file: string): void;
  /** These packs are over; `kind` is how the scheduler says that each ended. */
  settle(over: readonly PackEnd[], now: number): Promise<void>;
  /** Nothing more of a round is to be submitted; what was is to be cancelled before it is given up. */
  refuse(round: Round, words: string): void;
  /** All units of a round that could not be submitted have failed. */
  giveUp(round: Round, words: string, now: number): void;
  /** The next round, where units are to run again; to be written and then begun. */
  nextPlan(): RoundPlan | undefined;
  begin(plan: RoundPlan): Round;
  /** Tells the job what happened since the last call. */
  report(): Promise<void>;
}

interface PackEnd extends Pick<EndedPack, 'kind' | 'errors'> {
  pack: Pack;
}

const isNumber =
  (number: number) =>
  ({ plan }: Round) =>
    plan.number === number;

const keyOf = (round: number, number: number) => `${round}:${number}`;

export function openProgress({ batch, ledger, results, following }: ProgressParts): Progress {
  const rounds: Round[] = [];
  const packNamed = new Map<string, Pack>();
  const journalOf = new Map<string, { pack: Pack; journal: PackJournal }>();
  /** Units that moved on to a later round, by the round they left. */
  const movedOn = new Set<string>();
  let again: AgainEntry[] = [];
  /** What the job has not heard yet. */
  let untold: JournalRecord[] = [];
  let untoldText = 0;
  let complained = false;
  let strange = 0;

  const stopped = () => following.stop.aborted;

  function addRound(plan: RoundPlan): Round {
    const round = roundOf(plan, batch);
    rounds.push(round);
    for (const pack of round.packs) {
      packNamed.set(pack.name, pack);
      for (const journal of pack.journals) journalOf.set(journal.file, { pack, journal });
    }
    const taken = new Set(plan.units ?? []);
    again = again.filter((entry) => !taken.has(entry.number));
    return round;
  }

  function addAgain(entries: AgainEntry[]): void {
    for (const { round, number } of entries) movedOn.add(keyOf(round, number));
    again.push(...entries);
  }

  function remember(entries: AgainEntry[]): void {
    if (entries.length === 0) return;
    ledger.add({ again: entries });
    addAgain(entries);
  }

  function tell(records: JournalRecord[]): void {
    for (const record of records) {
      if ('end' in record) untoldText += (record.output?.length ?? 0) + record.tail.length;
      untold.push(record);
    }
  }

  function settlePack(pack: Pack, ends: UnitEnd[]): void {
    for (const end of ends) pack.ended.add(end.end);
    pack.settled = true;
    tell(ends);
  }

  /** More of what a unit lacked, where its task asks for that and there is more to be had. */
  const mayRetry = (pack: Pack, cause: 'memory' | 'time_limit') =>
    !stopped() && retryOptions(pack.round.plan.options, pack.round.plan.attempt, cause) !== undefined;

  const taker: RecordTaker = {
    results,
    runsAgain: (pack: Pack, number: number) => movedOn.has(keyOf(pack.round.plan.number, number)),
    retry(pack: Pack, number: number): boolean {
      if (!mayRetry(pack, 'memory')) return false;
      remember([{ number, why: 'memory', round: pack.round.plan.number }]);
      return true;
    },
  };

  function giveUpJournal(journal: PackJournal): void {
    if (journal.finished) return;
    journal.finished = true;
    following.say?.(journal.intake.problem() ?? 'The journal of some tasks could not be read any further');
  }

  /** Lines that nobody wrote who should have. */
  function tellStrange(): void {
    const count = [...journalOf.values()].reduce((sum, { journal }) => sum + journal.intake.strange(), 0);
    if (count > strange) following.say?.(strangeWords(count));
    strange = count;
  }

  /** The first scheduler job with something to say counts. */
  function complain(text: string | null): void {
    if (text === null || complained) return;
    complained = true;
    following.onExecutorError?.(text);
  }

  /** What the scheduler's job wrote itself becomes files; gives what of it somebody should know. */
  async function keepStreams(pack: Pack, errors: string): Promise<string | null> {
    const name = `${packPrefix(batch, pack.index)}-slurm-${pack.schedulerJob ?? 'unknown'}`;
    const of = (which: 'out' | 'err') => pack.journals.map((journal) => journal[which]).join('');
    const err = of('err') === '' ? errors : of('err');
    if (of('out') !== '' || err !== '') {
      await results.keepText(`${name}.out`, of('out'));
      await results.keepText(`${name}.err`, err);
    }
    return executorError(err);
  }

  /** What becomes of a pack, and what of that cannot be found out again from its journal. */
  async function endPack({ pack, kind, errors }: PackEnd, now: number) {
    const { number: round } = pack.round.plan;
    const stays = (number: number) => !taker.runsAgain(pack, number);
    const held = pack.held.filter((end) => stays(end.end));
    const outcome = outcomeOf({
      ...{ kind, errors, now, held },
      units: pack.units.filter(stays),
      started: pack.started,
      ended: pack.ended,
      stopped: stopped(),
      retries: (cause) => mayRetry(pack, cause),
    });
    const told = new Set(held.map((end) => end.end));
    const ends: UnitEnd[] = [];
    for (const end of outcome.ends) {
      const node = pack.started.get(end.end) ?? pack.journals[0]!.node;
      const placed = { ...end, node, scheduler_job_id: pack.schedulerJob };
      // the files of those that the worker still told of are there already
      ends.push(pack.started.has(end.end) && !told.has(end.end) ? await results.keepUnit(placed) : placed);
    }
    const again = outcome.again.map((one) => ({ ...one, round }));
    const complaint = await keepStreams(pack, errors);
    const entries: LedgerEntry[] = again.length > 0 ? [{ again }] : [];
    if (again.length > 0 || ends.length > 0) {
      entries.push({ settled: pack.name, ends, ...(complaint === null ? {} : { complaint }) });
    }
    return { ends, again, complaint, entries };
  }

  for (const entry of ledger.entries) {
    if ('round' in entry) addRound(entry.round);
    else if ('again' in entry) addAgain(entry.again);
    else if ('refused' in entry) rounds.find(isNumber(entry.refused.round))!.refusal = entry.refused.words;
    else if ('settled' in entry) {
      settlePack(packNamed.get(entry.settled)!, entry.ends);
      complain(entry.complaint ?? null);
    }
  }

  async function report(): Promise<void> {
    tellStrange();
    if (untold.length === 0) return;
    const records = untold;
    [untold, untoldText] = [[], 0];
    await following.onRecords(records);
  }

  return {
    rounds,
    open: () => rounds.flatMap((round) => round.packs.filter((pack) => !pack.settled)),
    async take(file, piece) {
      const known = journalOf.get(file);
      if (!known) return false;
      const { pack, journal } = known;
      const records = newRecords(journal, piece);
      for (const record of records) {
        tell(await takeRecord(taker, pack, journal, record));
        // they may be long, and who hears of them keeps little
        if (untoldText > LONG_TEXT) await report();
      }
      if (journal.intake.problem() !== undefined) giveUpJournal(journal);
      return records.length > 0;
    },
    forgetHalf(file) {
      const intake = journalOf.get(file)?.journal.intake;
      if (!intake || intake.position() === intake.offset()) return false;
      intake.forget();
      return true;
    },
    giveUpJournal(file) {
      const known = journalOf.get(file);
      if (known) giveUpJournal(known.journal);
    },
    async settle(over, now) {
      const settled = [];
      for (const end of over) settled.push({ end, ...(await endPack(end, now)) });
      // on disk with one write, however many jobs ended together
      ledger.add(...settled.flatMap(({ entries }) => entries));
      for (const { end, again: entries, ends, complaint } of settled) {
        addAgain(entries);
        settlePack(end.pack, ends);
        complain(complaint);
      }
    },
    refuse(round, words) {
      ledger.add({ refused: { round: round.plan.number, words } });
      round.refusal = words;
    },
    giveUp(round, words, now) {
      const given = round.packs
        .filter((pack) => !pack.settled)
        .map((pack) => ({ pack, ends: pack.units.filter((number) => !pack.ended.has(number)) }))
        .map(({ pack, ends }) => ({ pack, ends: ends.map((number) => unbegun(number, now, words)) }));
      ledger.add(...given.map(({ pack, ends }) => ({ settled: pack.name, ends })));
      for (const { pack, ends } of given) settlePack(pack, ends);
    },
    nextPlan() {
      const [first] = again;
      if (!first || stopped()) return undefined;
      const alike = again.filter((entry) => entry.why === first.why && entry.round === first.round);
      const { plan } = rounds.find(isNumber(first.round))!;
      const units = alike.map((entry) => entry.number).sort((one, other) => one - other);
      const common = { ...plan, number: rounds.length, units };
      if (first.why === 'unstarted') return common;
      const options = retryOptions(plan.options, plan.attempt, first.why) ?? plan.options;
      return { ...common, attempt: plan.attempt + 1, options, ...packing(options, units.length, batch.single, plan) };
    },
    begin(plan) {
      ledger.add({ round: plan });
      return addRound(plan);
    },
    report,
  };
}

/** Units that need more memory than before may not fit into one job as they did. */
function packing(
  options: SlurmOptions,
  total: number,
  single: boolean,
  before: RoundPlan,
): Pick<RoundPlan, 'unitsPerPack' | 'parallel'> {
  const packed = batchesOf(options, total, single);
  return 'problem' in packed ? before : { unitsPerPack: packed.unitsPerPack, parallel: packed.parallel };
}

/** A batch whose nodes die again and again ends one day. */
export const mayBegin = (plan: RoundPlan) => plan.number < MOST_ROUNDS;
