/**
 * Edits that nobody saved yet, kept in the browser: an expired session, a crash or a closed tab loses nothing.
 *
 *   const drafts = draftsOf('m.keller@example.org', localStorage);
 *   drafts.keep({ workflowTask: 7, revision: 3, part: 'arguments' }, values);
 *
 * A draft belongs to a person and a workflow task. It knows the revision it was made from, so that the page can say when
 * the saved values changed meanwhile.
 */
import { parseJson, writeJson } from '../json.ts';

export type DraftStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

interface DraftOf {
  workflowTask: number;
  /** `arguments`, `meta` … */
  part: string;
}

export interface Draft {
  values: unknown;
  /** Of the workflow task when the edits began. */
  revision: number;
  keptAt: Date;
}

export interface Drafts {
  /** false: the browser has no room, or stores nothing for this page. */
  keep(subject: DraftOf & { revision: number }, values: unknown): boolean;
  find(subject: DraftOf): Draft | undefined;
  drop(subject: DraftOf): void;
  /** How many there are, for the question before a logout. */
  count(): number;
  dropAll(): void;
}

const PREFIX = 'draft:';

export function draftsOf(person: string, storage: DraftStorage, now: () => Date = () => new Date()): Drafts {
  const mine = `${PREFIX}${encodeURIComponent(person)}:`;
  const keyOf = ({ workflowTask, part }: DraftOf) => `${mine}${workflowTask}:${part}`;
  const myKeys = () =>
    Array.from({ length: storage.length }, (_, index) => storage.key(index)).filter((key) => key?.startsWith(mine));

  return {
    keep(subject, values) {
      const text = writeJson({ revision: subject.revision, kept_at: now().toISOString(), values });
      try {
        storage.setItem(keyOf(subject), text);
        return true;
      } catch {
        return false;
      }
    },
    find(subject) {
      const text = storage.getItem(keyOf(subject));
      return text === null ? undefined : readDraft(text);
    },
    drop: (subject) => storage.removeItem(keyOf(subject)),
    count: () => myKeys().length,
    dropAll() {
      for (const key of myKeys()) storage.removeItem(key!);
    },
  };
}

function readDraft(text: string): Draft | undefined {
  try {
    const { revision, kept_at, values } = parseJson(text) as { revision: number; kept_at: string; values: unknown };
    return { revision, keptAt: new Date(kept_at), values };
  } catch {
    return undefined;
  }
}

/** The saved values changed since the draft was begun: the page says so before it offers the draft. */
export const isOutdated = (draft: Draft, revision: number): boolean => draft.revision !== revision;
