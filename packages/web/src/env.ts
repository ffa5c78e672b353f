/** The start-time variables. They are read when the web server starts, never at build time. */
import { defineEnvVars } from '@sveltejs/kit/env';

const LOCAL_API = 'http://127.0.0.1:8000';

function readBaseUrl(value: string | undefined): string {
  const text = value?.trim() || LOCAL_API;
  const protocol = URL.parse(text)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new Error(`"${text}" is not an absolute URL such as ${LOCAL_API}.`);
  }
  return text.replace(/\/$/, '');
}

export const variables = defineEnvVars({
  SERVICE_SERVER_HOST: { description: 'Base URL of the API server, without slash at the end.', schema: readBaseUrl },
});
