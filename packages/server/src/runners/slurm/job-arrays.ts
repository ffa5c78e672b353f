/** What the scheduler has, or is about to get, of a batch: job arrays, each submitted with one `sbatch`. */
import { newToken } from '../../slurm/index.ts';
import type { Ledger } from './ledger.ts';
import type { Pack, Round } from './rounds.ts';

/** Clusters take 1001 elements unless they are told otherwise; with a round number, names tell the number of a pack. */
const LARGEST_ARRAY = 1000;

/** The packs of a round from `base` on. */
export interface JobArray {
  round: number;
  base: number;
  count: number;
  token: string;
  /** Undefined as long as nobody knows that the scheduler has it. */
  id: number | undefined;
  /** The queue has shown it. */
  seen: boolean;
}

export interface JobArrays {
  /** Those that an earlier life of the service made included. */
  all(): readonly JobArray[];
  of(round: Round): JobArray[];
  ofPack(pack: Pack): JobArray | undefined;
  /** The scheduler's id of what runs a pack; undefined before it is submitted. */
  idOf(pack: Pack): number | undefined;
  ids(arrays?: readonly JobArray[]): number[];
  /** Written down before it is submitted. */
  add(piece: ArrayPiece): JobArray;
  submitted(array: JobArray, id: number): void;
  seen(array: JobArray): void;
}

export type ArrayPiece = Pick<JobArray, 'round' | 'base' | 'count'>;

/** How the packs of a round are cut into arrays. */
export function* piecesOf({ plan, packs }: Round): Generator<ArrayPiece> {
  for (let base = 0; base < packs.length; base += LARGEST_ARRAY) {
    yield { round: plan.number, base, count: Math.min(LARGEST_ARRAY, packs.length - base) };
  }
}

export const packsOf = (round: Round, { base, count }: ArrayPiece): Pack[] => round.packs.slice(base, base + count);

function arraysIn({ entries }: Ledger): JobArray[] {
  const ids = new Map(entries.flatMap((one) => ('submitted' in one ? [[one.submitted.token, one.submitted.id]] : [])));
  const seen = new Set(entries.flatMap((one) => ('seen' in one ? [one.seen] : [])));
  return entries.flatMap((one) =>
    'intent' in one ? [{ ...one.intent, id: ids.get(one.intent.token), seen: seen.has(one.intent.token) }] : [],
  );
}

export function openJobArrays(ledger: Ledger): JobArrays {
  const arrays = arraysIn(ledger);
  const ofPack = ({ round, index }: Pack) =>
    arrays.find(
      (array) => array.round === round.plan.number && index >= array.base && index < array.base + array.count,
    );
  return {
    all: () => arrays,
    of: (round) => arrays.filter((array) => array.round === round.plan.number),
    ofPack,
    idOf: (pack) => pack.arrayJob ?? ofPack(pack)?.id,
    ids: (chosen = arrays) => chosen.flatMap((array) => array.id ?? []),
    add(piece) {
      const intent = { ...piece, token: newToken() };
      ledger.add({ intent });
      const array: JobArray = { ...intent, id: undefined, seen: false };
      arrays.push(array);
      return array;
    },
    submitted(array, id) {
      array.id = id;
      ledger.add({ submitted: { token: array.token, id } });
    },
    seen(array) {
      if (array.seen) return;
      array.seen = true;
      ledger.add({ seen: array.token });
    },
  };
}
