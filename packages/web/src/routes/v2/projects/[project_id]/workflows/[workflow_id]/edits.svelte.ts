/**
 * Edits that are not saved yet. Whatever would lose them asks first and goes on afterwards, after Save as after Discard.
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
  /** Does it at once, or after the question what becomes of the edits. */
  first: (action: Action) => void;
  save: () => Promise<boolean>;
  discard: () => void;
  stay: () => void;
}

export const [useEdits, provideEdits] = createContext<Edits>();

export function createEdits(): Edits {
  let editor = $state.raw<Editor>();
  let waiting = $state.raw<Action>();

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
    first(action) {
      if (editor?.changed) waiting = action;
      else action();
    },
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
