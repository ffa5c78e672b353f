/** In the browser: what the error page gets to know when a page cannot be loaded. */
import type { HandleClientError } from '@sveltejs/kit/hooks';

import { ApiProblem } from '#lib/api/problem.ts';

const DEFECT = 'Something went wrong in this page. Try again; if it keeps happening, contact your administrator.';

export const handleError: HandleClientError = (caught) => {
  if (caught.kind !== 'unknown') return {};
  if (!(caught.error instanceof ApiProblem)) {
    console.error(caught.error);
    return { message: DEFECT };
  }
  const { status, message, requestId } = caught.error;
  return { status: status || 503, message, ...(requestId === undefined ? {} : { id: requestId }) };
};
