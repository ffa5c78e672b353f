/** A workflow beside the template it came from, position by position. */
import type { WorkflowExport } from '@service/contract';

import { sameJson } from '#lib/json.ts';
import { ofPhase, phasesIn } from '#lib/phases.ts';

import { type Difference, differences } from './differences.ts';

type Item = WorkflowExport['task_list'][number];

export interface Identity {
  name: string;
  version: string;
  pkg_name: string;
}

export interface ComparedTask {
  position: number;
  /** Same task and arguments; other arguments; another task; only on one side. */
  kind: 'same' | 'arguments' | 'other' | 'only-template' | 'only-workflow';
  template: Identity | undefined;
  workflow: Identity | undefined;
  /** What the two identities differ in. */
  unlike: (keyof Identity)[];
  blocks: { block: string; list: Difference[] }[];
  /** What differs besides the arguments, in words. */
  notes: { what: string; list: Difference[] }[];
}

const IDENTITY = ['pkg_name', 'name', 'version'] as const;

/** Nothing set and an empty group are the same. */
const orEmpty = (value: unknown) => value ?? {};

/** The block of a task that has none is absent on both sides. */
function phaseParts(kind: 'args' | 'meta', what: string, template: Item, workflow: Item) {
  const phases = phasesIn(template, workflow);
  return phases
    .map((phase) => {
      const key = `${kind}_${phase}` as const;
      return { what: ofPhase(what, phase, phases), list: differences(orEmpty(template[key]), orEmpty(workflow[key])) };
    })
    .filter(({ list }) => list.length > 0);
}

function textNote(what: string, before: string | null, after: string | null) {
  if (before === after) return [];
  const kind = before === null ? 'added' : after === null ? 'removed' : 'changed';
  const list: Difference[] = [{ path: '', kind, before, after }];
  return [{ what, list }];
}

function compareTask(template: Item | undefined, workflow: Item | undefined, position: number): ComparedTask {
  const both = { position, template: template?.task, workflow: workflow?.task };
  if (template === undefined || workflow === undefined) {
    const kind = template === undefined ? 'only-workflow' : 'only-template';
    return { ...both, kind, unlike: [], blocks: [], notes: [] };
  }
  const unlike = IDENTITY.filter((key) => !sameJson(template.task[key], workflow.task[key]));
  if (unlike.length > 0) return { ...both, kind: 'other', unlike: [...unlike], blocks: [], notes: [] };
  const blocks = phaseParts('args', 'Arguments', template, workflow).map(({ what, list }) => ({ block: what, list }));
  const filters = differences(orEmpty(template.type_filters), orEmpty(workflow.type_filters));
  const notes = [
    ...textNote('Alias', template.alias, workflow.alias),
    ...textNote('Description', template.description, workflow.description),
    ...phaseParts('meta', 'Resources', template, workflow),
    ...(filters.length > 0 ? [{ what: 'Type filters', list: filters }] : []),
  ];
  return { ...both, kind: blocks.length > 0 ? 'arguments' : 'same', unlike: [], blocks, notes };
}

export const compareTasks = (template: readonly Item[], workflow: readonly Item[]): ComparedTask[] =>
  Array.from({ length: Math.max(template.length, workflow.length) }, (_, index) =>
    compareTask(template[index], workflow[index], index + 1),
  );

const COUNTED: Record<ComparedTask['kind'], string> = {
  same: 'the same',
  arguments: 'with other arguments',
  other: 'another task or version',
  'only-template': 'only in the template',
  'only-workflow': 'only here',
};

/** `4 the same, 1 with other arguments` */
export const comparisonWords = (tasks: readonly ComparedTask[]): string =>
  (Object.keys(COUNTED) as ComparedTask['kind'][])
    .map((kind) => ({ kind, count: tasks.filter((task) => task.kind === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${COUNTED[kind]}`)
    .join(', ');
