/**
 * The web client as a part of the service: `npm start` runs both in one process and on one port. Before the service loads
 * the build it leaves here what the client needs of it, and finds here afterwards what it needs of the client. On its own
 * the web server finds nothing, and reads everything from its variables.
 */
import type { Log } from './log-lines.ts';

export interface Handover {
  /** Where lines go. */
  log: Pick<Log, 'debug' | 'warn' | 'error'>;
  /** Proof that a call comes from this process: only then is the address that it names believed. */
  pass: string;
  /** The folder that it is loaded from. */
  build: string;
  /** What the client says of itself when it is ready. */
  client?: {
    /** For everything that is not an answer of the API. */
    headers: Record<string, string>;
    /** The origin that people use, where it is fixed. */
    origin: string | undefined;
    sessionCookie: string;
  };
}

/** Also the name under which the service leaves it. */
const HANDOVER = Symbol.for('service.web');
const PASS_HEADER = 'x-service-pass';

export const service = (globalThis as { [HANDOVER]?: Handover })[HANDOVER];

/** Guesses of passwords are counted by address; without this all of them would come from this machine. */
export const onBehalfOf = (clientAddress: string): Record<string, string> => ({
  'x-forwarded-for': clientAddress,
  ...(service === undefined ? {} : { [PASS_HEADER]: service.pass }),
});
