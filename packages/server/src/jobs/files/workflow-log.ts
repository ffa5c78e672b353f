/** Writes the `workflow.log` of a job while it runs. */
import { appendFileSync, closeSync, constants, openSync } from 'node:fs';

export interface WorkflowLog {
  line(level: string, message: string): void;
  /** Why lines are missing, if some are: the first failure. */
  problem(): string | undefined;
  close(): Promise<void>;
}

/**
 * Appends lines to a log. Writes are synchronous: a line is in the file before the work it tells of begins, also when the
 * process is killed. A job goes on without its log, so a failure (a full disk) is kept instead of thrown.
 */
export function openWorkflowLog(
  path: string,
  format: (time: Date, level: string, message: string) => string,
): WorkflowLog {
  let problem: string | undefined;
  let file: number | undefined;

  const attempt = (work: () => void) => {
    try {
      work();
    } catch (error) {
      problem ??= `The workflow log is incomplete, because it could not be written: ${(error as Error).message}`;
    }
  };

  attempt(() => {
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
    // a task may have put a pipe there, which would be waited for, and everybody with it
    file = openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_WRONLY, 0o644);
  });

  return {
    line(level, message) {
      const text = format(new Date(), level, message);
      attempt(() => {
        if (file !== undefined) appendFileSync(file, text.endsWith('\n') ? text : `${text}\n`);
      });
    },
    problem: () => problem,
    async close() {
      const open = file;
      file = undefined;
      if (open !== undefined) attempt(() => closeSync(open));
    },
  };
}
