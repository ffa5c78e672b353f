/**
 * Why a job waits in the queue of Slurm, in words.
 *
 *     waitingWords('AssocGrpCpuLimit') // 'Your group runs as much at a time as the cluster allows it.'
 */
const WORDS: [RegExp, string][] = [
  [/^Resources$/i, 'It is next; it begins when enough of the cluster is free.'],
  [/^Priority$/i, 'Jobs with a higher priority come first.'],
  [/^(ReqNodeNotAvail|NodeDown|PartitionDown|PartitionInactive)/i, 'Nodes that it needs are down or reserved.'],
  [/^(PartitionTimeLimit|TimeLimit)$/i, 'It asks for more time than the partition allows. Stop it and give it less.'],
  [/^PartitionNodeLimit$/i, 'It asks for more nodes than the partition allows. Stop it and ask for fewer.'],
  [/^JobHeldUser$/i, 'Somebody holds it back. Release it in Slurm, or stop it.'],
  [/^JobHeldAdmin$/i, 'An administrator of the cluster holds it back.'],
  [/^(JobArrayTaskLimit)$/i, 'As many parts of it run as may run at a time.'],
  [/^(BeginTime|Reservation)$/i, 'Its time has not come yet.'],
  [/^(Licenses|BurstBuffer|FrontEndDown)/i, 'Something that it needs is in use.'],
  [/^(Assoc|Association)/i, 'Your group runs as much at a time as the cluster allows it.'],
  [/^QOS/i, 'You run as much at a time as the cluster allows.'],
];

/** Null when Slurm gives no reason. */
export function waitingWords(reason: string): string | null {
  if (reason === '' || /^none$/i.test(reason)) return null;
  const words = WORDS.find(([pattern]) => pattern.test(reason))?.[1];
  return words === undefined ? `Slurm says: ${reason}.` : `${words} Slurm says: ${reason}.`;
}
