/** The viewers that the operator of this service has set up. */
import {
  PUBLIC_SERVICE_DATA_URL,
  PUBLIC_SERVICE_FEATURE_EXPLORER_URL,
  PUBLIC_SERVICE_VIZARR_VIEWER_URL,
  PUBLIC_SERVICE_VOLE_VIEWER_URL,
} from '$app/env/public';

import { viewersOf } from './viewers.ts';

/** Viewers elsewhere need the whole address of our own files. */
const whole = (address: string | undefined) =>
  address === undefined || typeof location === 'undefined' ? address : new URL(address, location.href).href;

export const viewers = viewersOf({
  data: whole(PUBLIC_SERVICE_DATA_URL),
  vizarr: PUBLIC_SERVICE_VIZARR_VIEWER_URL,
  vole: PUBLIC_SERVICE_VOLE_VIEWER_URL,
  explorer: PUBLIC_SERVICE_FEATURE_EXPLORER_URL,
});
