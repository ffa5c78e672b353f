/**
 * Reads the journals of packs: as they grow, where the cluster can tell (follow.ts); else by and by, ever less often, so
 * that a task costs few commands however long it takes and however many units it has.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Batch } from '../batch.ts';
import type { Cluster } from './cluster.ts';
import { fetchContents, SEPARATOR_FILE, type Separator } from './fetch.ts';
import { isFinished } from './packs.ts';
import { isAway } from './patience.ts';
import type { Pack, Round } from './rounds.ts';
import type { Work } from './work.ts';

/** A look at running packs waits for this part of the time that the task has taken. */
const SHARE = 0.25;
const LONGEST_GAP_MS = 600_000;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 8000;

export interface JournalReader {
  /** Reads what is due, and takes what has come by itself. */
  take(): Promise<void>;
  /** Says which packs are open, from which follows what is due when. */
  plan(open: Pack[]): void;
  /** Milliseconds until something is due; undefined when nothing is. */
  nextMs(): number | undefined;
  /** Reads all of these now; fails when the cluster is away. */
  readAll(packs: Pack[]): Promise<void>;
  contents(paths: string[]): Promise<Map<string, Buffer>>;
  separator(round: Round): Promise<Separator>;
  close(): void;
}

interface Parts {
  cluster: Cluster;
  batch: Batch;
  work: Work;
  wake(): void;
}

export function createJournalReader({ cluster, batch, work, wake }: Parts): JournalReader {
  const { outputs, inputs } = batch.cluster!;
  const start = Date.now();
  let [lastRead, retries, due] = [Date.now(), 0, undefined as number | undefined];
  let wanted: Pack[] = [];
  let arrived: { file: string; offset: number; data: Buffer }[] = [];

  const placeOf = (round: Round) => cluster.placeOf(round.folder, `${inputs}/round-${round.plan.number}`);

  const separator = async (round: Round): Promise<Separator> => ({
    path: `${placeOf(round)}/${SEPARATOR_FILE}`,
    text: await readFile(join(round.folder, SEPARATOR_FILE), 'utf8'),
  });

  const contents = async (paths: string[]) =>
    paths.length === 0
      ? new Map<string, Buffer>()
      : fetchContents(cluster.commands, await separator(work.rounds[0]!), paths);

  /** True when something new was read. */
  async function readAll(packs: Pack[]): Promise<boolean> {
    const files = packs.flatMap((pack) => pack.journals.filter((one) => !one.finished).map((one) => one.file));
    const began = Date.now();
    const read = await contents(files.map((file) => `${outputs}/${file}`));
    for (const pack of packs) pack.lookedAt = began;
    let fresh = false;
    for (const [path, data] of read) {
      if (await work.take(path.slice(outputs.length + 1), { offset: 0, data })) fresh = true;
    }
    return fresh;
  }

  let following: { stop(): void } | undefined;
  function follow(): void {
    const round = work.rounds[0];
    if (!cluster.follower || following || !round) return;
    const journals = () => work.rounds.flatMap((one) => one.packs.flatMap((pack) => pack.journals));
    following = cluster.follower.follow({
      worker: [cluster.python, `${placeOf(round)}/worker.py`],
      folder: outputs,
      offsets: () => Object.fromEntries(journals().flatMap(({ file, offset }) => (offset > 0 ? [[file, offset]] : []))),
      onData(piece) {
        arrived.push(piece);
        wake();
      },
    });
  }

  return {
    separator,
    contents,
    readAll: async (packs) => void (await readAll(packs)),
    async take() {
      follow();
      const pieces = arrived;
      arrived = [];
      for (const { file, ...piece } of pieces) await work.take(file, piece);
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
      const retry = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** retries);
      // when all that is left is over, nothing is gained by waiting
      const last = unread.length === open.length;
      due = lastRead + (last ? retry : Math.max(unread.length > 0 ? retry : cluster.pollMs, gap));
    },
    nextMs: () => (due === undefined ? undefined : Math.max(0, due - Date.now())),
    close: () => following?.stop(),
  };
}
