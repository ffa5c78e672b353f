/**
 * Why a job waits in the queue of Slurm, in words.
 *
 *     waitingWords('AssocGrpCpuLimit') // 'Your group has reached its limit on this cluster.'
 */
const WORDS: [RegExp, string][] = [
  [/^Resources$/i, 'It is next and starts when enough of the cluster is free.'],
  [/^Priority$/i, 'Jobs with a higher priority come first.'],
  [/^(ReqNodeNotAvail|NodeDown|PartitionDown|PartitionInactive)/i, 'Nodes that it needs are down or reserved.'],
  [/^(PartitionTimeLimit|TimeLimit)$/i, 'It asks for more time than the partition allows. Stop it and give it less.'],
  [/^PartitionNodeLimit$/i, 'It asks for more nodes than the partition allows. Stop it and ask for fewer.'],
  [/^JobHeldUser$/i, 'It is on hold. Release it in Slurm, or stop it.'],
  [/^JobHeldAdmin$/i, 'An administrator of the cluster has put it on hold.'],
  [/^(JobArrayTaskLimit)$/i, 'The limit on its parts running at once is reached.'],
  [/^(BeginTime|Reservation)$/i, 'Its start time is still ahead.'],
  [/^(Licenses|BurstBuffer|FrontEndDown)/i, 'Something that it needs is in use.'],
  [/^(Assoc|Association)/i, 'Your group has reached its limit on this cluster.'],
  [/^QOS/i, 'You have reached your limit on this cluster.'],
];

/** Null when Slurm gives no reason. */
export function waitingWords(reason: string): string | null {
  if (reason === '' || /^none$/i.test(reason)) return null;
  const words = WORDS.find(([pattern]) => pattern.test(reason))?.[1];
  return words === undefined ? `Slurm says: ${reason}.` : `${words} Slurm says: ${reason}.`;
}
