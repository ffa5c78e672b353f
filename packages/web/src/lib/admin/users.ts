/** Accounts as administrators see them. */
import type { User } from '@service/contract';

type Flags = Pick<User, 'is_active' | 'is_superuser' | 'is_verified' | 'is_guest' | 'profile_id'>;

const KINDS: Record<string, (user: Flags) => boolean> = {
  superuser: (user) => user.is_superuser,
  guest: (user) => user.is_guest,
  unverified: (user) => !user.is_verified,
  inactive: (user) => !user.is_active,
  'without-profile': (user) => user.profile_id === null,
  /** Signed in, and cannot work yet. */
  pending: (user) => user.is_active && !user.is_superuser && (!user.is_verified || user.profile_id === null),
};

/** Oneself first, then administrators, then by e-mail. */
export function listedUsers<U extends Flags & Pick<User, 'id' | 'email'>>(
  users: readonly U[],
  self: number,
  { wanted = '', kind = '' },
): U[] {
  const rank = (user: U) => (user.id === self ? 0 : user.is_superuser ? 1 : 2);
  const text = wanted.trim().toLowerCase();
  return users
    .filter((user) => user.email.toLowerCase().includes(text) && (KINDS[kind]?.(user) ?? true))
    .sort((a, b) => rank(a) - rank(b) || a.email.localeCompare(b.email));
}

export interface Tag {
  word: string;
  look?: 'done' | 'warning' | 'stopped' | 'failed';
}

/** What is worth saying about an account; an ordinary one is just active. */
export function userTags(user: Flags & Pick<User, 'id'>, self: number): Tag[] {
  const tags: (Tag | false)[] = [
    user.id === self && { word: 'You' },
    user.is_superuser && { word: 'Administrator' },
    user.is_guest && { word: 'Guest account' },
    !user.is_active && { word: 'Not active', look: 'stopped' },
    !user.is_verified && { word: 'Not verified', look: 'warning' },
    user.profile_id === null && { word: 'No profile', look: 'warning' },
  ];
  const found = tags.filter((tag) => tag !== false);
  return found.length === 0 ? [{ word: 'Active' }] : found;
}

/** What the form of an account holds. */
export interface UserValues {
  email: string;
  password: string;
  repeated: string;
  is_active: boolean;
  is_superuser: boolean;
  is_verified: boolean;
  is_guest: boolean;
  profile_id: number | null;
  project_dirs: string[];
  slurm_accounts: string[];
  group_ids: number[];
}

export const valuesOf = (user: User): UserValues => ({
  email: user.email,
  password: '',
  repeated: '',
  is_active: user.is_active,
  is_superuser: user.is_superuser,
  is_verified: user.is_verified,
  is_guest: user.is_guest,
  profile_id: user.profile_id,
  project_dirs: [...user.project_dirs],
  slurm_accounts: [...user.slurm_accounts],
  group_ids: (user.group_ids_names ?? []).map(([id]) => id),
});

/** What is wrong before anything is sent, by field. */
export function valueProblems(values: UserValues, isNew: boolean): Record<string, string> {
  const problems: Record<string, string> = {};
  if (values.email.trim() === '') problems['email'] = 'Enter an e-mail address.';
  if (isNew && values.password === '') problems['password'] = 'Enter a password.';
  if (values.password !== values.repeated) problems['repeated'] = 'The two passwords differ.';
  if (values.project_dirs.every((dir) => dir.trim() === '')) problems['project_dirs.0'] = 'Enter at least one folder.';
  return problems;
}

type UserBody = Partial<Omit<UserValues, 'repeated' | 'group_ids'>>;

const filled = (list: string[]) => list.map((one) => one.trim()).filter((one) => one !== '');

/** The fields of an account that differ from the stored ones. */
export function changedFields(before: UserValues, now: UserValues): UserBody {
  const { password } = now;
  const cleaned = {
    email: now.email,
    is_active: now.is_active,
    is_superuser: now.is_superuser,
    is_verified: now.is_verified,
    is_guest: now.is_guest,
    profile_id: now.profile_id,
    project_dirs: filled(now.project_dirs),
    slurm_accounts: filled(now.slurm_accounts),
  };
  const changed = Object.entries(cleaned).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key as keyof UserValues]),
  );
  return { ...Object.fromEntries(changed), ...(password === '' ? {} : { password }) };
}

export const sameGroups = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((id) => b.includes(id));

/** A sentence that one page leaves for the next one, such as what is still to be done with a new account. */
let left: string | undefined;

export function leaveWord(text: string): void {
  left = text;
}

export function takeWord(): string | undefined {
  const text = left;
  left = undefined;
  return text;
}
