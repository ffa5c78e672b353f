/** The same page for the dialog, which shows it in place. */
import { error, json } from '@sveltejs/kit';

import { guidePage } from '../../guide.ts';
import type { RequestHandler } from './$types';

export const GET: RequestHandler = ({ params }) => {
  const page = guidePage(params.path);
  if (page === undefined) error(404, 'The user guide has no such page.');
  return json(page);
};
