/**
 * Something that a person asked for and that may be refused: busy while it runs, then done or a problem in words, at the
 * field it is about where there is one.
 *
 *     const saving = createAction(['name']);
 *     await saving.run(() => call('projects.createProject', { body }));
 *     saving.problem, saving.fields['name']
 */
import { tick } from 'svelte';

import { ApiProblem } from '../api/problem.ts';

export interface Action {
  readonly busy: boolean;
  readonly problem: string | undefined;
  /** By the path of the field: `name`, `slurm_accounts.0`. */
  readonly fields: Readonly<Record<string, string>>;
  /** True when it went well. */
  run(work: () => Promise<unknown>): Promise<boolean>;
  /** Says what is wrong before anything is sent. */
  refuse(problem: string | undefined, fields?: Record<string, string>): void;
  clear(): void;
}

/** `known` are the fields that the form shows; what is said about others is shown above it. */
export function createAction(known: string[] = []): Action {
  let busy = $state(false);
  let problem = $state<string>();
  let fields = $state<Record<string, string>>({});

  function explain(error: unknown) {
    if (!(error instanceof ApiProblem)) throw error;
    const at = error.fields.map((field) => ({ ...field, name: field.path.join('.') }));
    const isKnown = ({ path }: { path: (string | number)[] }) => known.includes(String(path[0]));
    if (at.length > 0 && at.every(isKnown)) fields = Object.fromEntries(at.map(({ name, message }) => [name, message]));
    else problem = error.message;
  }

  return {
    get busy() {
      return busy;
    },
    get problem() {
      return problem;
    },
    get fields() {
      return fields;
    },
    async run(work) {
      if (busy) return false;
      busy = true;
      problem = undefined;
      fields = {};
      try {
        await work();
        return true;
      } catch (error) {
        explain(error);
        return false;
      } finally {
        busy = false;
      }
    },
    refuse(words, at = {}) {
      problem = words;
      fields = at;
    },
    clear() {
      problem = undefined;
      fields = {};
    },
  };
}

/** In a long form, what was refused may be out of sight: the first such field gets the focus. */
export async function showFirstProblem(form: HTMLElement): Promise<void> {
  await tick();
  form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}
