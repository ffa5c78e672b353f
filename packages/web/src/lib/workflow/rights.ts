/** What the reader may do with a workflow, and why not: a button that does nothing says so beforehand. */
import type { Permissions } from '@service/contract';

interface Member {
  permissions: Permissions;
  owner_email: string;
}

export interface Rights {
  /** Undefined when it is allowed, else the reason. */
  edit: string | undefined;
  run: string | undefined;
}

const GUEST = 'Guest accounts can look at everything and change nothing.';

export function rightsOf(project: Member, isGuest: boolean): Rights {
  if (isGuest) return { edit: GUEST, run: GUEST };
  const { permissions, owner_email } = project;
  const can = permissions === 'r' ? 'read this project' : 'read and edit this project';
  const ask = (what: string) => `You can ${can}. Ask ${owner_email} for permission to ${what}.`;
  return {
    edit: permissions.includes('w') ? undefined : ask('edit'),
    run: permissions.includes('x') ? undefined : ask('run'),
  };
}
