import { error } from '@sveltejs/kit';

import { area } from '#lib/route.ts';

import { guidePage } from '../../guide.ts';
import type { PageServerLoad } from './$types';

export const trailingSlash = 'ignore';

export const load: PageServerLoad = ({ params }) => {
  const page = guidePage(params.path);
  if (page === undefined) error(404, 'The user guide has no such page.');
  // what is followed inside the frame stays without anything around it
  return { guide: { ...page, html: page.html.replaceAll(`href="${area.help}/`, `href="${area.helpMinimal}/`) } };
};
