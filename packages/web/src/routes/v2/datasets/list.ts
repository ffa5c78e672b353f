/** Which datasets are listed, as the address says. */
import { PAGE_SIZES } from '#lib/ui/pages.ts';

const FIRST_SIZE = 10;

const text = (value: string | null) => (value === null || value.trim() === '' ? undefined : value.trim());

export function queryOf(search: Pick<URLSearchParams, 'get'>) {
  const page = Number(search.get('page'));
  const size = Number(search.get('page_size'));
  return {
    project_name: text(search.get('project')),
    dataset_name: text(search.get('dataset')),
    only_owned: search.get('owned') === 'true',
    page: Number.isInteger(page) && page > 0 ? page : 1,
    page_size: PAGE_SIZES.includes(size) ? size : FIRST_SIZE,
  };
}

export const isFiltered = ({ project_name, dataset_name, only_owned }: ReturnType<typeof queryOf>): boolean =>
  only_owned || project_name !== undefined || dataset_name !== undefined;
