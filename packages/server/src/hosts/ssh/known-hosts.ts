/**
 * The keys by which hosts prove who they are, in a file as OpenSSH keeps it.
 *
 * The key of a host that was never seen is trusted and kept. After that only this key will do: another one may be
 * somebody in between. Lines that an administrator wrote count as well: several names, patterns, hashed names, revoked keys.
 */
import { createHash, createHmac, randomUUID } from 'node:crypto';
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import { HostAway } from '../host.ts';
import { type Address, knownAs } from './address.ts';

/** What the file says of a host. */
export interface KnownKey {
  type: string;
  key: Buffer;
  revoked: boolean;
  line: number;
}

const pattern = (text: string) =>
  new RegExp(
    `^${text
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'i',
  );

function isHashOf(hashed: string, name: string): boolean {
  const [salt, hash] = hashed.slice('|1|'.length).split('|');
  if (salt === undefined || hash === undefined) return false;
  return createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest('base64') === hash;
}

function namesMatch(names: string, name: string): boolean {
  if (names.startsWith('|1|')) return isHashOf(names, name);
  const patterns = names.split(',');
  const matches = (one: string) => pattern(one).test(name);
  if (patterns.some((one) => one.startsWith('!') && matches(one.slice(1)))) return false;
  return patterns.some((one) => !one.startsWith('!') && matches(one));
}

/** The lines of a known-hosts file that concern a host. Lines for authorities are left out: ssh2 knows no certificates. */
function keysOf(text: string, address: Address): KnownKey[] {
  const name = knownAs(address);
  return text.split('\n').flatMap((content, index) => {
    const words = content.trim().split(/\s+/);
    const marker = words[0]!.startsWith('@') ? words.shift() : undefined;
    const [names, type, key] = words;
    if (names === undefined || names.startsWith('#') || key === undefined || marker === '@cert-authority') return [];
    if (!namesMatch(names, name)) return [];
    return [{ type: type!, key: Buffer.from(key, 'base64'), revoked: marker === '@revoked', line: index + 1 }];
  });
}

/** As `ssh-keygen -l` shows it, so that two people can compare it. */
const fingerprint = (key: Buffer) => `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;

/** A key begins with the length and the letters of its type. */
const typeOf = (key: Buffer) => key.subarray(4, 4 + key.readUInt32BE(0)).toString('latin1');

export interface KnownHosts {
  /** What is known of a host. */
  of(address: Address): Promise<KnownKey[]>;
  /** Keeps the key of a host that was not known. */
  keep(address: Address, key: Buffer): Promise<void>;
  /** Words for a host that shows another key than the one that is known; without `key` it shows none of the kinds. */
  refusal(address: Address, known: KnownKey[], key?: Buffer): HostAway;
}

export function knownHosts(file: string): KnownHosts {
  let writing: Promise<void> = Promise.resolve();
  const read = () =>
    readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw new HostAway(`The known hosts in ${file} cannot be read: ${error.message}`, {
        needsPerson: true,
        cause: error,
      });
    });

  async function add(address: Address, key: Buffer): Promise<void> {
    const text = await read();
    if (keysOf(text, address).some((known) => known.key.equals(key))) return;
    const begun = text === '' || text.endsWith('\n') ? text : `${text}\n`;
    const target = await realpath(file).catch(() => file);
    const draft = `${target}.${randomUUID()}`;
    try {
      const line = `${knownAs(address)} ${typeOf(key)} ${key.toString('base64')}\n`;
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      await writeFile(draft, begun + line, { mode: 0o600, flush: true });
      await rename(draft, target);
    } catch (error) {
      await rm(draft, { force: true });
      throw new HostAway(`The key of ${knownAs(address)} cannot be kept in ${file}: ${(error as Error).message}`, {
        cause: error,
        needsPerson: true,
      });
    }
  }

  return {
    of: async (address) => keysOf(await read(), address),
    keep: (address, key) => (writing = writing.catch(() => undefined).then(() => add(address, key))),
    refusal(address, known, key) {
      const name = knownAs(address);
      const shown = key && `${fingerprint(key)} (${typeOf(key)})`;
      if (key && known.some((one) => one.revoked && one.key.equals(key))) {
        return new HostAway(
          `${name} shows the key ${shown}, which ${file} marks as revoked. Ask the administrators of ${name}.`,
          { needsPerson: true },
        );
      }
      const lines = known.filter((one) => !one.revoked).map((one) => one.line);
      return new HostAway(
        `${name} does not show the host key that we know. ` +
          (shown ? `It shows ${shown}. ` : `It has none of the kind that we know. `) +
          `The machine was set up anew, or someone is intercepting the connection. Ask the administrators of ${name} for the fingerprint of its key. ` +
          `If it is really theirs, remove line ${lines.join(' and line ')} of ${file}; the key is then learned again.`,
        { needsPerson: true },
      );
    },
  };
}
