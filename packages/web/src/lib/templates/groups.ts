/** The groups that the reader can share a template with. */
import { call } from '../api/client.ts';

export interface Group {
  id: number;
  name: string;
}

export async function ownGroups(): Promise<Group[]> {
  const { group_ids_names } = await call('accounts.currentUser', { query: { group_ids_names: true } });
  return (group_ids_names ?? []).map(([id, name]) => ({ id, name }));
}
