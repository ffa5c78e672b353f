/** A cluster for the jobs of a person: Slurm, and how the workers there are started and heard. */
import type { SlurmClient } from '../../slurm/index.ts';
import type { JournalFollower } from './journal-follower.ts';

export interface Cluster extends SlurmClient {
  /** The interpreter that runs the worker on the nodes. */
  python: string;
  /** The longest time between two looks at the queue. */
  pollMs: number;
  /** How long a file that must be there is waited for: shared file systems take their time. */
  lateFileMs: number;
  /** Where journals can be followed as they grow; else they are read by and by. */
  follower?: JournalFollower;
}
