/**
 * Errors that are thrown on purpose: each tells by its `kind` what happened, carries what is known of it in fields, and its
 * `cause` where there is one.
 *
 *     export class LeaseLost extends ServiceError {
 *       readonly kind = 'lease-lost';
 *       readonly jobId: number;
 *
 *       constructor(jobId: number) {
 *         super(`Job ${jobId} belongs to another process now`);
 *         this.jobId = jobId;
 *       }
 *     }
 *
 * What people are told when they ask for something impossible is not an error but an answer, a refusal.
 */
export abstract class ServiceError extends Error {
  abstract readonly kind: string;

  override get name(): string {
    return this.kind;
  }
}

/** Also for errors of rooms that are not to be loaded for the question alone. */
export const isOfKind = (error: unknown, ...kinds: string[]): error is ServiceError =>
  error instanceof ServiceError && kinds.includes(error.kind);
