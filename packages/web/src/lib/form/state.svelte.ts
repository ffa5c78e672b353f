/**
 * One form: its data, what is wrong with it, and who is told. The data are never changed in place: a field gets its value
 * and a function that sets another one, so fields know nothing about where they are.
 *
 * Checking follows the typing by a moment, a longer one where checking takes long: a letter is on the screen first.
 */
import { createContext } from 'svelte';

import { completed, initialData } from './initial.ts';
import { type DataNames } from './names.ts';
import { type PreparedSchema } from './schema.ts';
import { type Errors, NO_ERRORS, validateForm } from './validate.ts';

export interface Form {
  readonly prepared: PreparedSchema;
  readonly readOnly: boolean;
  /** What the chosen dataset has, where it is known. */
  readonly names: DataNames | undefined;
  readonly data: unknown;
  readonly errors: Errors;
  /** Some text in the form is no value yet, so the data do not hold it. */
  readonly unreadable: boolean;
  set(data: unknown): void;
  /** Shows other data, as if they were stored. */
  load(data: unknown): void;
  messagesAt(path: string): string;
  isWrongWithin(path: string): boolean;
  /** The variant a person chose for the value at a path; the owner of a choice can take it back. */
  choose(owner: object, path: string, variant: number | undefined): void;
  complain(owner: object, unreadable: boolean): void;
  /** Checks now what is still to be checked. */
  flush(): void;
}

interface Choice {
  owner: object;
  path: string;
  variant: number;
}

export const [getForm, provideForm] = createContext<Form>();

/** How much longer than a check the form waits before the next one. */
const PAUSE = 4;

export interface FormOptions {
  prepared: PreparedSchema;
  stored: unknown;
  /** Edits that were not saved, to go on with. */
  draft: unknown;
  readOnly: () => boolean;
  names: () => DataNames | undefined;
  onchange: () => void;
}

export function createForm({ prepared, stored, draft, readOnly, names, onchange }: FormOptions): Form {
  let data = $state.raw(
    draft === undefined ? initialData(prepared, stored) : completed(draft, prepared.root, prepared),
  );
  let errors = $state.raw(NO_ERRORS);
  let unreadable = $state(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastCheckTook = 0;
  let choices: Choice[] = [];
  let complaints: object[] = [];

  function check() {
    timer = undefined;
    const start = performance.now();
    errors = validateForm(prepared, data, choices);
    lastCheckTook = performance.now() - start;
  }
  function flush() {
    if (timer === undefined) return;
    clearTimeout(timer);
    check();
    onchange();
  }
  const checkSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(flush, Math.min(lastCheckTook * PAUSE, 400));
  };
  check();

  return {
    prepared,
    get readOnly() {
      return readOnly();
    },
    get names() {
      return names();
    },
    get data() {
      return data;
    },
    get errors() {
      return errors;
    },
    get unreadable() {
      return unreadable;
    },
    set(next) {
      data = next;
      checkSoon();
    },
    load(next) {
      data = completed(next, prepared.root, prepared);
      checkSoon();
    },
    messagesAt: (path) => errors.at.get(path)?.join('\n') ?? '',
    isWrongWithin: (path) => errors.within.has(path),
    choose(owner, path, variant) {
      const before = choices.find((choice) => choice.owner === owner);
      if (before?.path === path && before.variant === variant) return;
      if (before === undefined && variant === undefined) return;
      choices = choices.filter((choice) => choice !== before);
      if (variant !== undefined) choices.push({ owner, path, variant });
      checkSoon();
    },
    complain(owner, isUnreadable) {
      if (complaints.includes(owner) === isUnreadable) return;
      complaints = complaints.filter((other) => other !== owner);
      if (isUnreadable) complaints.push(owner);
      unreadable = complaints.length > 0;
      checkSoon();
    },
    flush,
  };
}
