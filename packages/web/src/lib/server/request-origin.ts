/**
 * Under which scheme and host the web server is asked. Kit's server assumes https unless two headers say otherwise, and
 * then refuses every form on plain http. So each request gets the two headers from us, whatever a client put into them.
 */
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

const SCHEME = 'x-service-scheme';
const HOST = 'x-service-host';

/** What the server of Kit has to find in the environment when it starts. Empty values are taken as unset. */
export function serverEnvironment(environment: Record<string, string | undefined>): Record<string, string | undefined> {
  const isSet = (name: string) => Boolean(environment[name]?.trim());
  const fixed = isSet('ORIGIN');
  return {
    PORT: isSet('PORT') ? environment['PORT'] : undefined,
    HOST: isSet('HOST') ? environment['HOST'] : undefined,
    BODY_SIZE_LIMIT: isSet('BODY_SIZE_LIMIT') ? environment['BODY_SIZE_LIMIT'] : 'Infinity',
    // a proxy in front may tell both in headers of its own; a given origin is stronger
    PROTOCOL_HEADER: !fixed && isSet('PROTOCOL_HEADER') ? environment['PROTOCOL_HEADER'] : SCHEME,
    HOST_HEADER: !fixed && isSet('HOST_HEADER') ? environment['HOST_HEADER'] : HOST,
    PORT_HEADER: fixed || !isSet('PORT_HEADER') ? undefined : environment['PORT_HEADER'],
  };
}

/** The scheme that people use, where `serverEnvironment` says that it stands. */
export function schemeOf(
  { headers }: Pick<IncomingMessage, 'headers'>,
  environment: Record<string, string | undefined>,
): string | undefined {
  return headers[(environment['PROTOCOL_HEADER'] ?? SCHEME).toLowerCase()]?.toString();
}

export function nameOrigin(request: Pick<IncomingMessage, 'headers' | 'socket'>, origin: string | undefined): void {
  const fixed = origin === undefined ? undefined : new URL(origin);
  const { headers } = request;
  headers[SCHEME] = fixed?.protocol.slice(0, -1) ?? ((request.socket as TLSSocket).encrypted ? 'https' : 'http');
  const host = fixed?.host ?? headers.host;
  if (host === undefined) delete headers[HOST];
  else headers[HOST] = host;
}
