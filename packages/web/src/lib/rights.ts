/** What the reader may do in a project and its workflows, in words, and why not: undefined means that it is allowed. */
import type { Permissions } from '@service/contract';

interface Reader {
  is_guest: boolean;
}

interface Membership {
  is_owner: boolean;
  permissions: Permissions;
  owner_email: string;
}

/** Why a guest account does not get what it wants: `guestRefusal('run jobs')`. */
export const guestRefusal = (what: string): string =>
  `Guest accounts are read-only. Sign in with an account of your own to ${what}.`;

export const whyNotChange = (reader: Reader | null): string | undefined =>
  reader === null || reader.is_guest ? guestRefusal('make changes') : undefined;

export function whyNotEdit(project: Membership, reader: Reader | null): string | undefined {
  if (project.permissions === 'r' && reader?.is_guest === false)
    return `You can read this project. Ask ${project.owner_email} for permission to edit.`;
  return whyNotChange(reader);
}

/** A star is a property of the project: it changes the order for everybody in it. */
export const whyNotStar = (project: Membership, reader: Reader | null): string | undefined =>
  project.permissions === 'r' && reader?.is_guest === false
    ? `Everyone in the project sees stars. Ask ${project.owner_email} for permission to edit.`
    : whyNotChange(reader);

/** What the reader may do with a workflow, and why not: a button that does nothing says so beforehand. */
interface Member {
  permissions: Permissions;
  owner_email: string;
}

export interface Rights {
  /** Undefined when it is allowed, else the reason. */
  edit: string | undefined;
  run: string | undefined;
}

export function rightsOf(project: Member, isGuest: boolean): Rights {
  if (isGuest) return { edit: guestRefusal('make changes'), run: guestRefusal('run jobs') };
  const { permissions, owner_email } = project;
  const can = permissions === 'r' ? 'read this project' : 'read and edit this project';
  const ask = (what: string) => `You can ${can}. Ask ${owner_email} for permission to ${what}.`;
  return {
    edit: permissions.includes('w') ? undefined : ask('edit'),
    run: permissions.includes('x') ? undefined : ask('run'),
  };
}

/** What people may do in a project, in words. */
const WORDS: Record<Permissions, string> = { r: 'Read', rw: 'Read, edit', rwx: 'Read, edit, run' };

export const permissionWords = (permissions: Permissions): string => WORDS[permissions];
