/**
 * Edits that are not saved yet. Whatever would lose them waits for a save under way, else asks first; then it is done, after
 * Save as after Discard.
 *
 *     const edits = useEdits();
 *     edits.first(() => select(task));
 */
import { createContext } from 'svelte';

/** The form that is open; there is one at a time. */
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

export function createEdits(): Edits {
  let editor = $state.raw<Editor>();
  let waiting = $state.raw<Action>();
  /** What was asked for last while a save is under way; what was asked for before it is not wanted any longer. */
  let next: Action | undefined;

  async function resume(saving: Promise<unknown>) {
    await saving;
    const action = next;
    next = undefined;
    if (action) afterSave(action);
  }

  function afterSave(action: Action) {
    if (editor?.saving) {
      if (next === undefined) void resume(editor.saving);
      next = action;
    } else action();
  }

  const first = (action: Action) =>
    afterSave(() => {
      if (editor?.changed) waiting = action;
      else action();
    });

  function goOn() {
    const action = waiting;
    waiting = undefined;
    action?.();
  }

  return {
    get changed() {
      return editor?.changed ?? false;
    },
    get what() {
      return editor?.what ?? '';
    },
    get asking() {
      return waiting !== undefined;
    },
    attach(next) {
      editor = next;
      return () => {
        if (editor === next) editor = undefined;
      };
    },
    first,
    afterSave,
    async save() {
      const saved = (await editor?.save()) ?? true;
      if (saved) goOn();
      return saved;
    },
    discard() {
      editor?.discard();
      goOn();
    },
    stay() {
      waiting = undefined;
    },
  };
}
