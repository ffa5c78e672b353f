/** What a reader of the run dialog chooses besides images, and what the checks of the images found. */

export interface Settings {
  /** Where the job runs, when that is another dataset than the page shows. */
  dataset: number | undefined;
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
  dataset: undefined,
  first: undefined,
  last: undefined,
  replace: true,
  newName: '',
  workerInit: '',
  withAccount: true,
  account: '',
  laterTasksGetAll: true,
});

/** What should be known of the chosen images; none of it forbids the job. */
export interface ImageChecks {
  /** Types that some images have and others have not. */
  mixed: readonly string[];
  /** Images that the task before has not finished. */
  unprocessed: readonly string[];
}

export const NOTHING_FOUND: ImageChecks = { mixed: [], unprocessed: [] };
