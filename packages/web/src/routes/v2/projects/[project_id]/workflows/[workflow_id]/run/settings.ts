/** What a reader of the run dialog chooses besides images, and what the checks found. */
import type { InvalidTask } from '#lib/workflow/run/check.ts';

export interface Settings {
  first: number | undefined;
  last: number | undefined;
  /** Reset: the old dataset goes. */
  replace: boolean;
  newName: string;
  workerInit: string;
  withAccount: boolean;
  account: string;
  laterTasksGetAll: boolean;
}

/** Every opening of the dialog begins with these. */
export const newSettings = (): Settings => ({
  first: undefined,
  last: undefined,
  replace: true,
  newName: '',
  workerInit: '',
  withAccount: true,
  account: '',
  laterTasksGetAll: true,
});

export interface Checks {
  invalid: readonly InvalidTask[];
  /** Types that some images have and others have not. */
  mixed: readonly string[];
  /** Images that the task before has not finished. */
  unprocessed: readonly string[];
}

export const NOTHING_FOUND: Checks = { invalid: [], mixed: [], unprocessed: [] };
