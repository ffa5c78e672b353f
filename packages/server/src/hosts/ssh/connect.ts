/**
 * One attempt to log in: this key file and nothing else, no agent, no passwords, no forwarding.
 *
 * What goes wrong is a `HostAway` in words that an administrator can act on.
 */
import { setMaxListeners } from 'node:events';

import ssh2, { type Client, type PublicKeyAuthMethod } from 'ssh2';

import { guarded } from '../../guard.ts';
import { HostAway } from '../host.ts';
import { type Address, knownAs, readAddress } from './address.ts';
import { readKeyFile } from './key-file.ts';
import type { KnownHosts, KnownKey } from './known-hosts.ts';
import type { SshLimits } from './limits.ts';

export interface SshIdentity {
  /** `name`, `name:port` or `[address]:port`. */
  host: string;
  username: string;
  keyPath: string;
}

interface ClientError extends Error {
  code?: string;
  level?: string;
}

/** The forms of signature that a host with these keys can give; a host with none of them is not the one we know. */
function signaturesFor(known: KnownKey[]) {
  const types = known.filter((one) => !one.revoked).map((one) => one.type);
  if (types.length === 0) return undefined;
  return [...new Set(types.flatMap((type) => (type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type])))];
}

function inWords(error: ClientError, identity: SshIdentity, address: Address): HostAway {
  const name = knownAs(address);
  const person = { cause: error, needsPerson: true };
  if (error.level === 'client-authentication') {
    return new HostAway(
      `${name} does not let "${identity.username}" log in with the key ${identity.keyPath}. ` +
        `Check the user name of the profile, and that the public key is in ~/.ssh/authorized_keys of this account.`,
      person,
    );
  }
  if (error.code === 'ENOTFOUND') {
    return new HostAway(`There is no host "${address.name}". Check the host of the resource.`, person);
  }
  if (error.code === 'EAI_AGAIN') {
    return new HostAway(`The address of "${address.name}" cannot be looked up at the moment.`, { cause: error });
  }
  if (error.code === 'ECONNREFUSED') {
    return new HostAway(`No answer from ${name}: the connection was refused. Is its SSH server running?`, {
      cause: error,
    });
  }
  return new HostAway(`${name} cannot be reached over SSH: ${error.message}`, { cause: error });
}

/** Resolves when the login is done; until then every problem ends the attempt. */
function login(client: Client, limits: SshLimits, begin: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const limit = (ms: number, what: string) =>
      setTimeout(
        guarded(() => reject(new Error(`${what} within ${ms / 1000} s`)), reject),
        ms,
      );
    let timer = limit(limits.connectMs, 'it did not answer');
    const fail = (error: Error) => {
      clearTimeout(timer);
      reject(error);
    };
    const onHandshake = () => {
      clearTimeout(timer);
      timer = limit(limits.loginMs, 'it did not finish the login');
    };
    const onReady = () => {
      clearTimeout(timer);
      resolve();
    };
    client.once('handshake', guarded(onHandshake, fail));
    client.once('ready', guarded(onReady, fail));
    client.once(
      'close',
      guarded(() => fail(new Error('it closed the connection')), reject),
    );
    // stays: after the first one, errors of a connection that is given up are of no interest
    client.on('error', guarded(fail, reject));
    try {
      begin();
    } catch (error) {
      fail(error as Error);
    }
  });
}

export interface Connected {
  client: Client;
  /** Aborted when the connection is no more, with a `HostAway` that says why. */
  broken: AbortSignal;
}

/** Notices the end of a connection that stood, by whichever sign comes first. */
function breakOf(client: Client, name: string, limits: SshLimits): AbortSignal {
  const broken = new AbortController();
  setMaxListeners(0, broken.signal);
  const silent = Math.round((limits.keepAliveMs * (limits.keepAliveMisses + 1)) / 1000);
  const lose = (why: string, cause?: unknown) => {
    broken.abort(new HostAway(`The connection to ${name} broke: ${why}.`, { cause }));
    client.destroy();
  };
  const onError = (error: ClientError) =>
    lose(error.level === 'client-timeout' ? `no sign of life for ${silent} s` : error.message, error);
  const lost = (error: Error) => lose(error.message, error);
  client.on('error', guarded(onError, lost));
  client.once(
    'end',
    guarded(() => lose('it was closed from there'), lost),
  );
  client.once(
    'close',
    guarded(() => lose('it was closed'), lost),
  );
  return broken.signal;
}

export async function connect(identity: SshIdentity, known: KnownHosts, limits: SshLimits): Promise<Connected> {
  const address = readAddress(identity.host);
  const { username } = identity;
  const key = await readKeyFile(identity.keyPath);
  const expected = await known.of(address);
  const signatures = signaturesFor(expected);

  let shown: Buffer | undefined;
  let refused: HostAway | undefined;
  const isExpected = (hostKey: Buffer) => {
    if (shown !== undefined) return shown.equals(hostKey);
    shown = hostKey;
    const same = expected.filter((one) => one.key.equals(hostKey));
    if (same.some((one) => one.revoked) || (signatures !== undefined && same.length === 0)) {
      refused = known.refusal(address, expected, hostKey);
    }
    return refused === undefined;
  };

  const client = new ssh2.Client();
  try {
    await login(client, limits, () =>
      client.connect({
        host: address.name,
        port: address.port,
        username,
        authHandler: [{ type: 'publickey', username, key } as PublicKeyAuthMethod],
        hostVerifier: isExpected,
        ...(signatures && { algorithms: { serverHostKey: signatures as never } }),
        keepaliveInterval: limits.keepAliveMs,
        keepaliveCountMax: limits.keepAliveMisses,
        readyTimeout: 0,
      }),
    );
    const broken = breakOf(client, knownAs(address), limits);
    client.setNoDelay(true);
    // by now the host has proved that the key is its own
    if (signatures === undefined) await known.keep(address, shown!);
    return { client, broken };
  } catch (error) {
    client.destroy();
    if (refused !== undefined) throw refused;
    if (error instanceof HostAway) throw error;
    if (/no matching host key format/.test((error as Error).message)) throw known.refusal(address, expected);
    throw inWords(error as ClientError, identity, address);
  }
}
