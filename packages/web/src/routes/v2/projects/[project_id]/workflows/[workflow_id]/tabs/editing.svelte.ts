/**
 * What the forms of a task have in common: edits are kept as a draft until they are saved or discarded, a save says which
 * revision it began with, and whoever was overtaken is told so.
 */
import type { WorkflowTask, WorkflowTaskUpdate } from '@service/contract';
import { onMount, untrack } from 'svelte';

import { call } from '#lib/api/client.ts';
import { ApiProblem } from '#lib/api/problem.ts';
import { type Draft, draftsOf, isOutdated } from '#lib/form/drafts.ts';
import { sameJson } from '#lib/json.ts';
import { toast } from '#lib/ui/toasts.svelte.ts';

import { useEdits } from '../edits.svelte.ts';

interface Content<V> {
  /** What would be saved. */
  values: V;
  /** Differs from what is saved, by the doing of the reader. */
  edited: boolean;
  /** Why it cannot be saved. */
  refusal?: string | undefined;
}

interface Options<V> {
  project_id: number;
  task: () => WorkflowTask;
  readOnly: () => boolean;
  part: 'arguments' | 'meta' | 'types';
  /** `the arguments` */
  what: string;
  name: () => string;
  person: string;
  saved: (task: WorkflowTask) => V;
  content: () => Content<V>;
  body: (values: V) => WorkflowTaskUpdate;
  /** `whole` when nothing was typed since it was sent. */
  onsaved: (task: WorkflowTask, whole: boolean) => void;
}

export interface Editing<V> {
  readonly busy: boolean;
  readonly problem: string | undefined;
  /** Edits from before, which the reader has not decided about. */
  readonly offered: (Draft & { outdated: boolean }) | undefined;
  /** What the form begins with instead of what is saved. */
  readonly draft: V | undefined;
  /** The form is drawn anew when it changes. */
  readonly drawing: number;
  /** What somebody else saved meanwhile. */
  readonly overtaken: WorkflowTask | undefined;
  /** Tells that something was typed. */
  touch: () => void;
  save: () => Promise<boolean>;
  discard: () => void;
  takeDraft: () => void;
  dropDraft: () => void;
  /** Of two who edited the same: the values of the other one. */
  takeTheirs: () => void;
  keepMine: () => Promise<boolean>;
}

/** Call it while a component is made. */
export function createEditing<V>(options: Options<V>): Editing<V> {
  const { project_id, task, part, person } = options;
  const edits = useEdits();
  let saving = $state.raw<Promise<boolean>>();
  const busy = $derived(saving !== undefined);
  let problem = $state<string>();
  let offered = $state.raw<Editing<V>['offered']>();
  let draft = $state.raw<V>();
  let drawing = $state(0);
  let overtaken = $state.raw<WorkflowTask>();
  let revision = untrack(() => task().revision);
  let looked = false;

  const subject = () => ({ workflowTask: task().id, part });
  const drafts = () => draftsOf(person, localStorage);

  onMount(() => {
    looked = true;
    if (options.readOnly()) return;
    const found = drafts().find(subject());
    if (!found) return;
    if (sameJson(found.values, options.saved(task()))) drafts().drop(subject());
    else offered = { ...found, outdated: isOutdated(found, task().revision) };
  });

  // somebody else, or another part of the page, saved something
  $effect(() => {
    const now = task();
    untrack(() => {
      if (now.revision === revision || busy) return;
      if (options.content().edited) return;
      revision = now.revision;
      draft = undefined;
      drawing += 1;
    });
  });

  $effect(() =>
    edits.attach({
      get what() {
        return `${options.what} of ${options.name()}`;
      },
      get changed() {
        return !options.readOnly() && options.content().edited;
      },
      get saving() {
        return saving;
      },
      save: () => save(),
      discard,
    }),
  );

  function touch() {
    if (options.readOnly()) return;
    const { values, edited, refusal } = options.content();
    if (refusal === undefined) problem = undefined;
    // a draft that waits for a decision is not written over by a form that was only looked at
    if (edited) {
      offered = undefined;
      drafts().keep({ ...subject(), revision }, values);
    } else if (looked && !offered) drafts().drop(subject());
  }

  async function send(values: V, with_revision: number): Promise<boolean> {
    try {
      const { id, workflow_id } = task();
      const saved = await call(
        'projects.updateWorkflowTask',
        {
          params: { project_id, workflow_id, workflow_task_id: id },
          query: { revision: with_revision },
          body: options.body(values),
        },
        { exact: true },
      );
      ({ revision } = saved);
      overtaken = undefined;
      const sent = sameJson(options.content().values, values);
      options.onsaved(saved, sent);
      // what was typed meanwhile is still to be saved
      if (sent) drafts().drop(subject());
      else touch();
      toast(`${options.what[0]!.toUpperCase()}${options.what.slice(1)} of ${options.name()} are saved.`);
      return true;
    } catch (error) {
      await explain(error);
      return false;
    }
  }

  /** One save at a time: who asks while one is under way saves what was typed since. */
  async function save(with_revision?: number): Promise<boolean> {
    if (saving) {
      await saving;
      if (!options.content().edited) return true;
      return save();
    }
    const { values, refusal } = options.content();
    problem = refusal;
    if (refusal !== undefined) return false;
    saving = send(values, with_revision ?? revision);
    try {
      return await saving;
    } finally {
      saving = undefined;
    }
  }

  async function explain(error: unknown) {
    if (!(error instanceof ApiProblem)) throw error;
    if (error.status !== 409) {
      problem = error.message;
      return;
    }
    const { id, workflow_id } = task();
    const params = { project_id, workflow_id, workflow_task_id: id };
    try {
      overtaken = await call('projects.getWorkflowTask', { params }, { exact: true });
    } catch {
      problem = error.message;
    }
  }

  function discard() {
    drafts().drop(subject());
    offered = undefined;
    overtaken = undefined;
    problem = undefined;
    draft = undefined;
    ({ revision } = task());
    drawing += 1;
  }

  return {
    get busy() {
      return busy;
    },
    get problem() {
      return problem;
    },
    get offered() {
      return offered;
    },
    get draft() {
      return draft;
    },
    get drawing() {
      return drawing;
    },
    get overtaken() {
      return overtaken;
    },
    touch,
    save: () => save(),
    discard,
    takeDraft() {
      draft = offered?.values as V;
      offered = undefined;
      drawing += 1;
    },
    dropDraft() {
      drafts().drop(subject());
      offered = undefined;
    },
    takeTheirs() {
      const theirs = overtaken!;
      overtaken = undefined;
      drafts().drop(subject());
      draft = undefined;
      ({ revision } = theirs);
      options.onsaved(theirs, true);
      drawing += 1;
    },
    keepMine: () => save(overtaken!.revision),
  };
}
