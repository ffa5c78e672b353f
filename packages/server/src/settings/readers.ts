/** Readers of single settings: each takes what was written, or nothing, and gives a typed value or refuses in one line. */
import { readAbsolutePath, readEmail } from '@service/contract';
import { ServiceError } from '@service/contract/errors';

/** A setting that cannot be used; its message is the one line an operator sees. */
export class SettingsError extends ServiceError {
  readonly kind = 'settings';
  /** Of the web client, where it is not the service that cannot be started with it. */
  readonly of: 'service' | 'web';

  constructor(message: string, { of = 'service', ...options }: ErrorOptions & { of?: SettingsError['of'] } = {}) {
    super(message, options);
    this.of = of;
  }
}

/** Reads one variable; `undefined` means that it is not set. */
export type Read<T> = (written: string | undefined, name: string) => T;

const refuse = (name: string, must: string): never => {
  throw new SettingsError(`${name} must be ${must}.`);
};

/** A whole number. */
export function integer<F extends number | null>(fallback: F, least?: number): Read<number | F> {
  return (written, name) => {
    if (written === undefined) return fallback;
    const value = Number(written);
    if (!/^\s*[+-]?\d+\s*$/.test(written) || !Number.isSafeInteger(value)) return refuse(name, 'a whole number');
    return least !== undefined && value < least ? refuse(name, `${least} or more`) : value;
  };
}

/** A number of seconds, fractions allowed. */
export function seconds(fallback: number): Read<number> {
  return (written, name) => {
    if (written === undefined) return fallback;
    const value = Number(written);
    return written.trim() === '' || !Number.isFinite(value) ? refuse(name, 'a number of seconds') : value;
  };
}

const BYTES: Record<string, number> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/** Timers count milliseconds in 31 bits. */
const LONGEST_LIMIT = 2_000_000;

/** How many seconds something may take; 0 for as long as it likes. */
export function timeLimit(fallback: number): Read<number> {
  const read = seconds(fallback);
  return (written, name) => {
    const value = read(written, name);
    return value < 0 || value > LONGEST_LIMIT ? refuse(name, `from 0, which is no limit, to ${LONGEST_LIMIT}`) : value;
  };
}

/** A size such as `64M` or `1048576`. */
export function size(fallback: number): Read<number> {
  return (written, name) => {
    if (written === undefined) return fallback;
    const match = /^(\d+)\s*([kmg]?)b?$/i.exec(written.trim());
    return match ? Number(match[1]) * BYTES[match[2]!.toLowerCase()]! : refuse(name, 'a size such as 64M');
  };
}

/** Flags are texts on the wire too. */
export type Flag = 'true' | 'false';

export function flag(fallback: Flag): Read<Flag> {
  return (written, name) => {
    if (written === undefined) return fallback;
    return written === 'true' || written === 'false' ? written : refuse(name, 'true or false');
  };
}

export function oneOf<const T extends string, F extends T | null>(values: readonly T[], fallback: F): Read<T | F> {
  return (written, name) => {
    if (written === undefined) return fallback;
    return values.includes(written as T) ? (written as T) : refuse(name, values.join(' or '));
  };
}

/** Any text, also an empty one. */
export const anyText: Read<string | null> = (written) => written ?? null;

/** A text without the white space around it; an empty one is refused. */
export function someText<F extends string | null>(fallback: F): Read<string | F> {
  return (written, name) => {
    if (written === undefined) return fallback;
    return written.trim() === '' ? refuse(name, 'left unset or given a value') : written.trim();
  };
}

export const url: Read<string | null> = (written, name) => {
  if (written === undefined) return null;
  const parsed = URL.canParse(written) ? new URL(written) : undefined;
  return parsed && /^https?:$/.test(parsed.protocol) ? parsed.href : refuse(name, 'an http or https address');
};

const originOf = (written: string): string | undefined => {
  const parsed = URL.parse(written.trim());
  const isAlone = parsed?.pathname === '/' && parsed.search === '' && parsed.hash === '' && parsed.username === '';
  return isAlone && /^https?:$/.test(parsed.protocol) ? parsed.origin : undefined;
};

/** The address that people use; empty means unset, as for all variables of the web client. */
export const origin: Read<string | null> = (written, name) => {
  if (written === undefined || written.trim() === '') return null;
  return originOf(written) ?? refuse(name, 'an origin such as https://lab.example.org, without a path');
};

export const origins: Read<string[]> = (written, name) =>
  (written ?? '')
    .split(',')
    .filter((one) => one.trim() !== '')
    .map((one) => originOf(one) ?? refuse(name, 'origins such as https://lab.example.org, separated by commas'));

export const emailAddress: Read<string | null> = (written, name) => {
  if (written === undefined) return null;
  const reading = readEmail(written);
  return 'value' in reading ? reading.value : refuse(name, 'an e-mail address');
};

export const absoluteFolder: Read<string | null> = (written, name) => {
  if (written === undefined) return null;
  const reading = readAbsolutePath(written);
  return 'value' in reading ? reading.value : refuse(name, 'an absolute path');
};

/** Names of environment variables, separated by commas; a star at the end stands for every ending. */
export const variableNames: Read<string | null> = (written, name) => {
  if (written === undefined) return null;
  const isName = (one: string) => /^[A-Za-z_]\w*\*?$/.test(one.trim());
  return written.split(',').every(isName) ? written : refuse(name, 'names of variables such as HF_HOME,CELLPOSE_*');
};

/** Where packages come from: unset for what pip is set up for, an address, or `none` for nowhere. */
export const packageIndex: Read<string | null> = (written, name) => {
  if (written === undefined || written === 'none') return written ?? null;
  return URL.canParse(written) ? written : refuse(name, 'the address of a package index, or none');
};

/** First parts of addresses that the API or the client has. */
const TAKEN = ['api', 'auth', 'admin', 'docs', 'redoc', 'openapi.json', 'metrics', '_app', 'v2', 'alive', 'demo'];
const TAKEN_BY_PAGES = ['healthcheck', 'help', 'manual', 'profile', 'viewer-paths', 'favicon.ico'];
const BASE_PATH = /^\/?[\w.~-]+(\/[\w.~-]+)*\/?$/;

/** Where a part of the service answers, `/data/`; `none` where it is switched off; null when nobody said. */
export const basePath: Read<string | null> = (written, name) => {
  if (written === undefined || written === 'none') return written ?? null;
  const path = written.trim();
  const parts = path.split('/').filter((part) => part !== '');
  if (!BASE_PATH.test(path) || parts.some((part) => /^\.+$/.test(part)))
    return refuse(name, 'a path such as /data/, or none');
  if ([...TAKEN, ...TAKEN_BY_PAGES].includes(parts[0]!.toLowerCase())) {
    return refuse(name, `a path that the service does not use otherwise; /${parts[0]!} is taken`);
  }
  return `/${parts.join('/')}/`;
};
