/** The rows of the table that is chosen: which tables there are, what is asked for, and the values of both axes when they are there. */
import type { DatasetIds } from '../api/client.ts';
import { createAnswer } from '../images/answer.svelte.ts';
import { type ImagesQuery, newQuery, readQuery } from '../images/filters.ts';
import { paramsOf } from '../ui/query.ts';
import { askRows, askTables, type Question } from './ask.ts';
import { type Matched, matchedValues, pairImages } from './match.ts';
import { numbersOf, type Rows } from './rows.ts';
import { type Asked, type Chosen, chosenOf, readAsked } from './state.ts';
import type { Numbers } from './statistics.ts';
import type { Compared } from './wells.ts';

interface RowsQuestion extends Question {
  feature: string;
  over: string;
  group: string | undefined;
  columns: string[];
}

/** All filters but that of the wells, which is applied here: the map shows the others too. */
function withoutWells({ attributes, types }: ImagesQuery): Question['query'] {
  const { well: _, ...others } = attributes;
  return { attributes: others, types };
}

function questionFor(
  ids: DatasetIds,
  chosen: Chosen | undefined,
  query: ImagesQuery,
  { ranges }: Asked,
): RowsQuestion | undefined {
  if (chosen?.feature === undefined || chosen.over === undefined) return undefined;
  const { table, feature, over, group } = chosen;
  const inTable = table.columns.flatMap(({ name }) => (name === group ? [name] : []));
  const { name, level } = table;
  const columns = [...new Set([feature, over, ...inTable])];
  return { ids, table: { name, level }, query: withoutWells(query), ranges, feature, over, group, columns };
}

/** The same feature of another run, of all its images. */
function otherQuestionFor(
  { project_id }: DatasetIds,
  chosen: Chosen | undefined,
  { with: other }: Asked,
): (Question & { columns: string[] }) | undefined {
  if (!other || chosen?.feature === undefined) return undefined;
  const { dataset: dataset_id, name, level } = other;
  const ids = { project_id, dataset_id };
  return { ids, table: { name, level }, query: newQuery(), ranges: [], columns: [chosen.feature] };
}

/** The values of both axes. */
export interface Axes {
  rows: Rows;
  feature: string;
  over: string;
  ys: Numbers;
  xs: Numbers;
  /** The horizontal axis is the same feature of another run. */
  compared?: (Compared & { matched: Matched; rows: Rows }) | undefined;
}

function axesOf(rows: Rows | undefined, of: RowsQuestion | undefined): Axes | undefined {
  if (!rows || !of) return undefined;
  const [ys, xs] = [numbersOf(rows, of.feature), numbersOf(rows, of.over)];
  return ys && xs ? { rows, feature: of.feature, over: of.over, ys, xs } : undefined;
}

/** Objects of this run over the same ones of another; undefined until both are there. */
function comparedAxes(own: Axes | undefined, other: Rows | undefined, column: string | undefined): Axes | undefined {
  if (!own || !other || column !== own.feature) return undefined;
  const [pairs, values] = [pairImages(own.rows, other), numbersOf(other, own.feature)];
  const matched = matchedValues(own.rows, other, own.feature, pairs);
  if (!values || !matched) return undefined;
  return { ...own, over: own.feature, xs: matched.values, compared: { values, pairs, matched, rows: other } };
}

/** Call it while a component is made. `search` is that of the address. */
export function createTableRows(ids: () => DatasetIds, search: () => string) {
  const asked = $derived(readAsked(paramsOf(search())));
  const query = $derived(readQuery(paramsOf(search())));
  const list = createAnswer(() => ({ ids: ids() }), askTables);
  const chosen = $derived(list.value && chosenOf(list.value, asked));
  const question = $derived(questionFor(ids(), chosen, query, asked));
  const answer = createAnswer(() => question, askRows);
  const otherQuestion = $derived(otherQuestionFor(ids(), chosen, asked));
  const other = createAnswer(() => otherQuestion, askRows);
  const isCompared = $derived(asked.with !== undefined);
  const own = $derived(axesOf(answer.value, answer.of));
  const axes = $derived(isCompared ? comparedAxes(own, other.value, other.of?.columns[0]) : own);
  return {
    list,
    answer,
    /** The run that this one is compared with. */
    other,
    /** Why two runs cannot be compared, though both are there. */
    get mismatch() {
      if (!isCompared || !own || !other.value || other.busy || axes) return undefined;
      return 'These tables don’t name their objects, so objects can’t be matched. Choose another table.';
    },
    get asked() {
      return asked;
    },
    get query() {
      return query;
    },
    get chosen() {
      return chosen;
    },
    get question(): Question | undefined {
      return question;
    },
    get axes() {
      return axes;
    },
    /** What the rows that are there are grouped by. */
    get group() {
      return answer.of?.group;
    },
  };
}
