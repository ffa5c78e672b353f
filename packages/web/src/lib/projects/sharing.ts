/** What people may do in a project that is shared with them. */
import type { Permissions } from '@service/contract';

export interface Level {
  permissions: Permissions;
  name: string;
  /** What it allows, in words of the pages. */
  allows: string;
}

export const LEVELS: readonly Level[] = [
  {
    permissions: 'r',
    name: 'Read',
    allows: 'Looks at datasets, images, workflows, jobs and logs, and exports them.',
  },
  {
    permissions: 'rw',
    name: 'Read and edit',
    allows: 'Also creates, changes and deletes datasets and workflows, edits images and arguments, and sets stars.',
  },
  {
    permissions: 'rwx',
    name: 'Read, edit and run',
    allows: 'Also runs workflows and stops jobs, with the computing account of the person who runs them.',
  },
];

/** Only the owner does these, whatever others may do. */
export const OWNER_ONLY = 'Only you, the owner, invite people and delete the project.';

export const mayEdit = (permissions: Permissions): boolean => permissions !== 'r';
export const mayRun = (permissions: Permissions): boolean => permissions === 'rwx';
