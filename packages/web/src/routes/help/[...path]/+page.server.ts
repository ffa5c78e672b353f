import { error } from '@sveltejs/kit';

import { guideContents, guidePage, manualAddress } from '../guide.ts';
import type { PageServerLoad } from './$types';

export const trailingSlash = 'ignore';

export const load: PageServerLoad = ({ params }) => {
  const page = guidePage(params.path);
  if (page === undefined) error(404, 'The user guide has no such page.');
  return { guide: page, contents: guideContents(), manual: manualAddress() };
};
