/**
 * Edits that are not saved yet. Whatever would lose them waits for a save under way, else asks first; then it is done, after
 * Save as after Discard.
 *
 *     const edits = useEdits();
 *     edits.first(() => select(task));
 */
import { createContext, untrack } from 'svelte';

/** A form, or a text, that is open. */
interface Editor {
  /** `the arguments of Segment nuclei` */
  what: string;
  readonly changed: boolean;
  /** A save under way. */
  readonly saving: Promise<unknown> | undefined;
  /** True when everything is saved. */
  save: () => Promise<boolean>;
  discard: () => void;
}

type Action = () => void;

export interface Edits {
  readonly changed: boolean;
  readonly what: string;
  /** Something waits for the answer. */
  readonly asking: boolean;
  /** Gives back what takes the form away again. */
  attach: (editor: Editor) => () => void;
  /** Does it at once, after a save under way, or after the question what becomes of the edits. */
  first: (action: Action) => void;
  /** Does it at once or after a save under way, for what takes the saved values and loses no edits. */
  afterSave: (action: Action) => void;
  save: () => Promise<boolean>;
  discard: () => void;
  stay: () => void;
}

export const [useEdits, provideEdits] = createContext<Edits>();

/** `the alias of A and the description of A` */
const inWords = (things: string[]): string =>
  things.length < 2 ? things.join() : `${things.slice(0, -1).join(', ')} and ${things.at(-1)!}`;

export function createEdits(): Edits {
  let editors = $state.raw<readonly Editor[]>([]);
  let waiting = $state.raw<Action>();
  /** What was asked for last while a save is under way; what was asked for before it is not wanted any longer. */
  let next: Action | undefined;
  const changed = () => editors.filter((editor) => editor.changed);

  async function resume(saving: Promise<unknown>) {
    await saving;
    const action = next;
    next = undefined;
    if (action) afterSave(action);
  }

  function afterSave(action: Action) {
    const saving = editors.find((editor) => editor.saving !== undefined)?.saving;
    if (saving) {
      if (next === undefined) void resume(saving);
      next = action;
    } else action();
  }

  const first = (action: Action) =>
    afterSave(() => {
      if (changed().length > 0) waiting = action;
      else action();
    });

  function goOn() {
    const action = waiting;
    waiting = undefined;
    action?.();
  }

  return {
    get changed() {
      return changed().length > 0;
    },
    get what() {
      return inWords(changed().map(({ what }) => what));
    },
    get asking() {
      return waiting !== undefined;
    },
    attach(editor) {
      editors = [...untrack(() => editors), editor];
      return () => (editors = untrack(() => editors).filter((other) => other !== editor));
    },
    first,
    afterSave,
    async save() {
      // one after the other: each save may change what the next one is compared with
      for (const editor of changed()) if (!(await editor.save())) return false;
      goOn();
      return true;
    },
    discard() {
      for (const editor of editors) editor.discard();
      goOn();
    },
    stay() {
      waiting = undefined;
    },
  };
}
