/** Settles the packs that are over: once all that they wrote has been read, with what their scheduler jobs complained about. */
import { isAway } from '../../slurm/index.ts';
import type { Batch } from '../batch.ts';
import type { Cluster } from './cluster.ts';
import type { JournalReader } from './journals.ts';
import { isComplete, isFinished, isRead } from './packs.ts';
import type { Progress } from './progress.ts';
import { type Pack, packPrefix } from './rounds.ts';

/** Characters of the error stream of a scheduler job that are kept. */
const LONGEST_ERRORS = 2000;
const SECOND = 1000;

interface SettlementParts {
  cluster: Cluster;
  batch: Batch;
  progress: Progress;
  journals: JournalReader;
}

export interface Settlement {
  /** True when something was settled. */
  settleWhatIsOver(): Promise<boolean>;
}

export function createSettlement({ cluster, batch, progress, journals }: SettlementParts): Settlement {
  const errorFile = ({ index, schedulerJob }: Pack) =>
    `${batch.cluster!.taskFolder}/${packPrefix(batch, index)}-slurm-${schedulerJob}.err`;

  /** What the scheduler's jobs wrote, where their workers could not pass it on. All with one question. */
  async function errorsOf(packs: Pack[]): Promise<Map<Pack, string>> {
    const silent = packs.filter((pack) => !isFinished(pack) && pack.schedulerJob !== null);
    const ends = await journals.ends(silent.map(errorFile), LONGEST_ERRORS);
    return new Map(silent.map((pack) => [pack, ends.get(errorFile(pack)) ?? '']));
  }

  return {
    async settleWhatIsOver() {
      const complete = progress.open().filter(isComplete);
      const done = complete.map((pack) => ({ pack, kind: 'completed' as const, errors: '' }));
      await progress.settle(done, Date.now() / SECOND);
      const over = progress.open().filter((pack) => isRead(pack, cluster.lateFileMs));
      let errors: Map<Pack, string>;
      try {
        errors = await errorsOf(over);
      } catch (error) {
        if (!isAway(error)) throw error;
        return complete.length > 0;
      }
      const ends = over.map((pack) => ({ pack, kind: pack.over!.kind, errors: errors.get(pack) ?? '' }));
      await progress.settle(ends, Date.now() / SECOND);
      return complete.length + over.length > 0;
    },
  };
}
