import { call } from '#lib/api/client.ts';
import { ApiProblem } from '#lib/api/problem.ts';
import { filtersOf } from '#lib/templates/filters.ts';

import type { PageLoad } from './$types';

export const load: PageLoad = async ({ fetch, url, depends }) => {
  depends('app:templates');
  const filters = filtersOf(url.searchParams);
  try {
    return { filters, answer: await call('projects.listTemplates', { query: filters }, { fetch }) };
  } catch (error) {
    // said above the list, where the filters are at hand
    if (!(error instanceof ApiProblem)) throw error;
    return { filters, problem: error.message };
  }
};
