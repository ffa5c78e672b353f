/** Which templates are shown: the filters as they are in the address, and as the API takes them. */
import type { TemplatePage } from '@service/contract';
import { call } from '../api/client.ts';

export interface TemplateFilters {
  template_id?: number | undefined;
  is_owner?: boolean | undefined;
  user_email?: string | undefined;
  name?: string | undefined;
  version?: number | undefined;
  page: number;
  page_size: number;
}

export const FIRST_PAGE: TemplateFilters = { page: 1, page_size: 10 };

/** A whole number above zero, or nothing. */
function count(text: string | null): number | undefined {
  const number = Number(text);
  return text !== null && Number.isInteger(number) && number > 0 ? number : undefined;
}

export const filtersOf = (search: URLSearchParams): TemplateFilters => ({
  template_id: count(search.get('template_id')),
  is_owner: search.get('is_owner') === 'true' || undefined,
  user_email: search.get('user_email') ?? undefined,
  name: search.get('name') ?? undefined,
  version: count(search.get('version')),
  page: count(search.get('page')) ?? FIRST_PAGE.page,
  page_size: count(search.get('page_size')) ?? FIRST_PAGE.page_size,
});

/** As changes are written into the address: what is as always is left out. */
export const addressQuery = (changes: Partial<TemplateFilters>): Partial<TemplateFilters> =>
  Object.fromEntries(
    Object.entries(changes).map(([key, value]) => [
      key,
      value === FIRST_PAGE[key as keyof TemplateFilters] ? undefined : value,
    ]),
  );

export const CLEARED = {
  template_id: undefined,
  is_owner: undefined,
  user_email: undefined,
  name: undefined,
  version: undefined,
  page: FIRST_PAGE.page,
};

export const isFiltered = (filters: TemplateFilters): boolean =>
  (Object.keys(CLEARED) as (keyof typeof CLEARED)[]).some(
    (key) => key !== 'page' && filters[key] !== undefined && filters[key] !== '',
  );

export interface ChosenTemplate {
  id: number;
  name: string;
  version: number;
  user_email: string;
}

export type TemplateRow = TemplatePage['items'][number];

export const rowKey = ({ user_email, template_name }: TemplateRow): string => `${user_email}\n${template_name}`;

/** The version of a row that its buttons act on: the one that was picked, else the newest. */
export function chosenOf(row: TemplateRow, picked: number | undefined): ChosenTemplate {
  const one = row.templates.find(({ template_id }) => template_id === picked) ?? row.templates[0]!;
  return { id: one.template_id, version: one.template_version, name: row.template_name, user_email: row.user_email };
}

/** The groups that the reader can share a template with. */
export interface Group {
  id: number;
  name: string;
}

export async function ownGroups(): Promise<Group[]> {
  const { group_ids_names } = await call('accounts.currentUser', { query: { group_ids_names: true } });
  return (group_ids_names ?? []).map(([id, name]) => ({ id, name }));
}
