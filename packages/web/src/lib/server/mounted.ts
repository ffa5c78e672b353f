/**
 * The web client as a part of the service: `npm start` runs both in one process and on one port. Before the service loads
 * the build it leaves here what the client needs of it, and finds here afterwards what it needs of the client. On its own
 * the web server finds nothing, and reads everything from its variables.
 */
import type { Log } from './log-lines.ts';

export interface Handover {
  /** Where lines go. */
  log: Pick<Log, 'debug' | 'warn' | 'error'>;
  /** Proof that a call comes from this process: only then is believed for whom and for which page it is. */
  pass: string;
  /** The folder that it is loaded from. */
  build: string;
  /** What the client says of itself when it is ready. */
  client?: {
    /** For the answer to a request, by its address and whether it came over TLS. */
    headers: (address: string, overTls: boolean) => Record<string, string>;
    /** The origin that people use, where it is fixed. */
    origin: string | undefined;
    sessionCookie: string;
  };
}

/** Also the name under which the service leaves it. */
const HANDOVER = Symbol.for('service.web');
const PASS_HEADER = 'x-service-pass';

export const service = (globalThis as { [HANDOVER]?: Handover })[HANDOVER];

export interface Visit {
  url: URL;
  getClientAddress(): string;
}

/**
 * For whom a call is made, and under which address people see the service: guesses of passwords are counted by address, and
 * pages are told from those of other sites by their host. The API believes it with the pass, and otherwise where its
 * settings trust this web server as a proxy.
 */
export const onBehalfOf = ({ url, getClientAddress }: Visit): Record<string, string> => ({
  'x-forwarded-for': getClientAddress(),
  'x-forwarded-host': url.host,
  'x-forwarded-proto': url.protocol.slice(0, -1),
  ...(service === undefined ? {} : { [PASS_HEADER]: service.pass }),
});
