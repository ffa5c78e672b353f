/**
 * Reads the journals of packs: as they grow, where the cluster can tell (journal-follower.ts); else by and by, ever less often, so
 * that a task costs few commands however long it takes and however many units it has.
 */
import { type Pauses, pauseAfter } from '../../retry.ts';
import { endsOfFiles, isAway, SilentFile, type WantedFile } from '../../slurm/index.ts';
import type { Batch } from '../batch.ts';
import { type Intake, longestRecord } from '../journal.ts';
import { RunnerProblem } from '../runner.ts';
import type { Cluster } from './cluster.ts';
import { isFinished } from './packs.ts';
import type { Progress } from './progress.ts';
import { type Pack, type Round, workerFileOf } from './rounds.ts';

/** A look at running packs waits for this part of the time that the task has taken. */
const SHARE = 0.25;
const LONGEST_GAP_MS = 600_000;
const PAUSES: Pauses = { firstPauseMs: 250, longestPauseMs: 8000 };
/** Bytes that have come by themselves and are not taken yet; more are asked for again. */
const MOST_ARRIVED = 8 * 2 ** 20;
const MOST_SILENCES = 3;

export interface JournalReader {
  /** Reads what is due, and takes what has come by itself. */
  take(): Promise<void>;
  /** Says which packs are open, from which follows what is due when. */
  plan(open: Pack[]): void;
  /** Milliseconds until something is due; undefined when nothing is. */
  nextMs(): number | undefined;
  /** Reads all of these now; fails when the cluster is away. */
  readAll(packs: Pack[]): Promise<void>;
  /** The end of each file, by path; those that are not there are left out. */
  ends(paths: string[], longest: number): Promise<Map<string, string>>;
  close(): void;
}

interface ReaderParts {
  cluster: Cluster;
  batch: Batch;
  progress: Progress;
  wake(): void;
}

export function createJournalReader({ cluster, batch, progress, wake }: ReaderParts): JournalReader {
  const { outputs, inputs } = batch.cluster!;
  const start = Date.now();
  let [lastRead, retries, due] = [Date.now(), 0, undefined as number | undefined];
  let wanted: Pack[] = [];
  let arrived: { file: string; offset: number; data: Buffer }[] = [];
  let [arrivedBytes, silences] = [0, 0];
  const longest = longestRecord(batch.largestOutput);

  const sharedPath = (round: Round) => cluster.sharedPath(round.folder, `${inputs}/round-${round.plan.number}`);

  const ends = async (paths: string[], longest: number) =>
    paths.length === 0
      ? new Map<string, string>()
      : endsOfFiles(cluster.files, progress.rounds[0]!.folder, paths, longest).catch((error: unknown) => {
          if (error instanceof SilentFile) return new Map<string, string>();
          throw error;
        });

  /** True when something new was read. A line that is not complete comes again with the next look. */
  async function readAll(packs: Pack[]): Promise<boolean> {
    const journals = packs.flatMap((pack) => pack.journals.filter((one) => !one.finished));
    if (journals.length === 0) return false;
    const began = Date.now();
    let fresh = false;
    let current: Intake | undefined;
    const wanted = journals.map(({ file, intake }): WantedFile => {
      return {
        path: `${outputs}/${file}`,
        from: intake.offset(),
        async take(data) {
          // half a line of each of many journals would be much
          if (current !== intake) current?.forget();
          current = intake;
          if (await progress.take(file, { offset: intake.position(), data })) fresh = true;
          return intake.problem() === undefined;
        },
      };
    });
    try {
      await cluster.files.read(wanted, progress.rounds[0]!.folder);
    } catch (error) {
      if (error instanceof SilentFile) bear(error);
      throw error;
    } finally {
      for (const { intake } of journals) intake.forget();
    }
    for (const pack of packs) pack.lookedAt = began;
    return fresh;
  }

  /** A file system may hang for a while; a pipe in the place of a journal never answers. */
  function bear(silent: SilentFile): void {
    silences += 1;
    if (silences >= MOST_SILENCES)
      throw new RunnerProblem(`${silent.message} A task may have put something else there.`, { cause: silent });
  }

  let following: ReturnType<NonNullable<Cluster['follower']>['follow']> | undefined;
  /** The journal that came last by itself. Its record may be in the middle. */
  let coming: string | undefined;

  /** Whoever prints journals ends a record before the next journal: half a line of each of many would be much. */
  function turnTo(file: string): void {
    if (coming !== undefined && coming !== file && progress.forgetHalf(coming)) {
      following?.stop();
      following = undefined;
    }
    coming = file;
  }

  function follow(): void {
    const round = progress.rounds[0];
    if (!cluster.follower || following || !round) return;
    const journals = () => progress.rounds.flatMap((one) => one.packs.flatMap((pack) => pack.journals));
    // in the middle of a long record, where it did not come at once
    const known = () =>
      journals()
        .filter(({ intake }) => intake.position() > 0)
        .sort((one, other) => Number(other.file === coming) - Number(one.file === coming))
        .map(({ file, intake }) => [file, intake.position()]);
    following = cluster.follower.follow({
      worker: [cluster.python, `${sharedPath(round)}/${workerFileOf(round)}`],
      folder: outputs,
      longestRecord: longest,
      offsets: () => Object.fromEntries(known()) as Record<string, number>,
      onData(piece) {
        arrived.push(piece);
        arrivedBytes += piece.data.length;
        wake();
        return arrivedBytes < MOST_ARRIVED;
      },
      onBroken(file) {
        progress.giveUpJournal(file);
        wake();
      },
    });
  }

  return {
    ends,
    readAll: async (packs) => void (await readAll(packs)),
    async take() {
      const pieces = arrived;
      [arrived, arrivedBytes] = [[], 0];
      for (const { file, ...piece } of pieces) {
        turnTo(file);
        await progress.take(file, piece);
      }
      follow();
      following?.goOn();
      if (due === undefined || Date.now() < due) return;
      due = undefined;
      try {
        retries = (await readAll(wanted)) ? 0 : retries + 1;
      } catch (error) {
        if (!isAway(error)) throw error;
        retries += 1;
      }
      lastRead = Date.now();
    },
    plan(open) {
      const unread = open.filter((pack) => pack.over && !isFinished(pack));
      const running = following ? [] : open.filter((pack) => !pack.over && pack.ran && !isFinished(pack));
      wanted = [...unread, ...running];
      if (wanted.length === 0) return void (due = undefined);
      const gap = Math.min(LONGEST_GAP_MS, SHARE * (Date.now() - start));
      const retry = pauseAfter(retries + 1, PAUSES);
      // when all that is left is over, nothing is gained by waiting
      const last = unread.length === open.length;
      due = lastRead + (last ? retry : Math.max(unread.length > 0 ? retry : cluster.pollMs, gap));
    },
    nextMs: () => (due === undefined ? undefined : Math.max(0, due - Date.now())),
    close: () => following?.stop(),
  };
}
