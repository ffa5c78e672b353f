/** What the reader may do, told as the reason why not; undefined means that it is allowed. */
import type { Permissions } from '@service/contract';

interface Reader {
  is_guest: boolean;
}

interface Membership {
  is_owner: boolean;
  permissions: Permissions;
  owner_email: string;
}

const ONLY_LOOKS = 'Guests only look at things. Sign in with an account of your own to change them.';

export const whyNotChange = (reader: Reader | null): string | undefined =>
  reader === null || reader.is_guest ? ONLY_LOOKS : undefined;

export function whyNotEdit(project: Membership, reader: Reader | null): string | undefined {
  if (project.permissions === 'r' && reader?.is_guest === false)
    return `You can read this project. Ask ${project.owner_email} for permission to edit.`;
  return whyNotChange(reader);
}

/** A star is a property of the project: it changes the order for everybody in it. */
export const whyNotStar = (project: Membership, reader: Reader | null): string | undefined =>
  project.permissions === 'r' && reader?.is_guest === false
    ? `A star is seen by everybody in the project. Ask ${project.owner_email} for permission to edit.`
    : whyNotChange(reader);
