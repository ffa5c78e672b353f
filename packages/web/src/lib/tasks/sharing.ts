/** Who can use what is taken in: a group, or its owner alone. */
export interface Sharing {
  private: boolean;
  user_group_id: number | null;
}

export type UserGroups = readonly (readonly [id: number, name: string])[];

/** The default group, else the only one; with several of others the reader chooses. */
export function initialSharing(groups: UserGroups, defaultGroup: string | undefined): Sharing {
  if (groups.length === 0) return { private: true, user_group_id: null };
  const [id] = groups.find(([, name]) => name === defaultGroup) ?? (groups.length === 1 ? groups[0]! : [null]);
  return { private: false, user_group_id: id };
}

export const sharingProblem = (sharing: Sharing): string | undefined =>
  !sharing.private && sharing.user_group_id === null ? 'Choose a group, or keep it for yourself.' : undefined;

export const sharingQuery = ({
  private: alone,
  user_group_id,
}: Sharing): { private: boolean; user_group_id?: number } =>
  alone || user_group_id === null ? { private: alone } : { private: false, user_group_id };
