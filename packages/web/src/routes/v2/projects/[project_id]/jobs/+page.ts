/** The jobs of a project are those of the list of all jobs, narrowed to it. */
import { redirect } from '@sveltejs/kit';

import { route } from '#lib/route.ts';
import type { PageLoad } from './$types';

export const load: PageLoad = ({ params }) => {
  redirect(307, route.jobs({ project: params.project_id }));
};
