/** What the rest of the service reads of the files of a job. */
import type { Streamed } from '../../http/index.ts';
import { archiveBytes, download } from './download.ts';
import { type JobFolder, logOf, readLog, workflowLogFrom } from './logs.ts';

export interface JobFiles {
  /** A log by its path; undefined when neither folder nor zip has it. Long ones in part. */
  readLog(job: JobFolder, logfile: string): Promise<string | undefined>;
  /** A log that comes from somewhere else, in the same form. */
  logText(content: AsyncIterable<Buffer>): Promise<string>;
  workflowLog(job: JobFolder): Promise<string | null>;
  /** What was added since an offset in bytes, and the offset to ask for next. */
  workflowLogFrom(job: JobFolder, offsetBytes: number): Promise<{ offset: number; text: string }>;
  /** The size of the zip; null when there is none. */
  archiveBytes(job: JobFolder): Promise<number | null>;
  download(job: JobFolder): Promise<Streamed>;
}

export const jobFiles: JobFiles = {
  readLog,
  logText: logOf,
  workflowLog: async (job) => (await readLog(job, 'workflow.log')) ?? null,
  workflowLogFrom,
  archiveBytes,
  download,
};
