/** The layouts of existing databases that we can read, by the revision that is written in them. */

export const ACCEPTED: Record<string, string> = {
  '0c5e3f92c3a8': '2.25.1 to 2.26.0',
  '3ddaf7271fc3': '2.24.3 to 2.25.0',
  d4027db95431: '2.24.1 to 2.24.2',
  daecd41f37da: '2.23.4 to 2.24.0',
};

const TOO_OLD: Record<string, string> = {
  '66f492f489c3': '2.23.3',
  '635d07f1ab55': '2.23.2',
  '1c49c1602044': '2.23.1',
  '92ec661b7f76': '2.23.0',
};

/** Why a database of this revision cannot be imported, or nothing. */
export function revisionProblem(revision: string): string | undefined {
  if (Object.hasOwn(ACCEPTED, revision)) return undefined;
  if (Object.hasOwn(TOO_OLD, revision)) {
    return (
      `The source database is of release ${TOO_OLD[revision]} (revision ${revision}), and this service imports 2.23.4 to ` +
      "2.26.0. Upgrade it first with the existing system's own tools (set-db and update-db-data of a newer release)."
    );
  }
  return (
    `The source database has the unknown revision ${revision}; this service knows 2.23.4 to 2.26.0. Upgrade the existing ` +
    'system to one of these releases, or this service to a version that knows the revision.'
  );
}
