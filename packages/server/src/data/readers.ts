/**
 * Who asks, and which folders they may read. A viewer asks for hundreds of small files in a second, so the answer is kept
 * for a moment; whatever changes accounts, shares or folders through this server makes it forgotten at once.
 */
import type { IncomingHttpHeaders } from 'node:http';

import type { User } from '@service/contract';

import { type Folders, readableFolders, type ReadableFolder } from '../folders/index.ts';
import type { Caller } from '../http/index.ts';

const KEPT_MS = 3000;
const MOST_KEPT = 2000;

export interface Reader {
  caller: Caller;
  folders: Folders;
}

export interface Readers {
  /** Undefined without a valid token. */
  read(headers: IncomingHttpHeaders): Promise<Reader | undefined>;
  /** Everything that is kept may be wrong. */
  forget(): void;
}

export interface ReaderParts {
  authenticate(headers: IncomingHttpHeaders): Promise<Caller | undefined>;
  foldersOf(user: User): Promise<ReadableFolder[]>;
}

interface Kept {
  reader: Promise<Reader | undefined>;
  until: number;
}

export function createReaders({ authenticate, foldersOf }: ReaderParts): Readers {
  const kept = new Map<string, Kept>();

  async function find(headers: IncomingHttpHeaders): Promise<Reader | undefined> {
    const caller = await authenticate(headers);
    return caller && { caller, folders: readableFolders(await foldersOf(caller.user)) };
  }

  function keep(key: string, reader: Promise<Reader | undefined>): void {
    const mine = { reader, until: Date.now() + KEPT_MS };
    kept.delete(key);
    kept.set(key, mine);
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
    const drop = () => {
      if (kept.get(key) === mine) kept.delete(key);
    };
    // wrong tokens are many, and cost nothing to look at again
    reader.then((found) => found ?? drop(), drop);
  }

  return {
    async read(headers) {
      const { authorization, cookie } = headers;
      if (authorization === undefined && cookie === undefined) return undefined;
      const key = JSON.stringify([authorization, cookie]);
      const before = kept.get(key);
      const isFresh = before !== undefined && before.until > Date.now();
      const reader = isFresh ? before.reader : find(headers);
      if (!isFresh) keep(key, reader);
      const found = await reader;
      return found && found.caller.expires * 1000 > Date.now() ? found : undefined;
    },
    forget: () => kept.clear(),
  };
}
