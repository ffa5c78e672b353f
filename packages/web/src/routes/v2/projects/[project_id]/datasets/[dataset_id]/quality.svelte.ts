/** What the service is asked for the look over all plates, and when: tables are large, and this is on a page that opens often. */
import { call, type CallOptions, type DatasetIds } from '#lib/api/client.ts';
import { counted } from '#lib/format.ts';
import { createAnswer } from '#lib/images/answer.svelte.ts';
import { newQuery } from '#lib/images/filters.ts';
import { askGroups } from '#lib/measurements/ask.ts';
import { qualityOf } from '#lib/measurements/quality.ts';
import { brightnessOf, chosenOf, readAsked } from '#lib/measurements/state.ts';

import type { Tables } from './plate-measure.svelte.ts';

interface Given {
  ids: DatasetIds;
  task: number | undefined;
  tables: Tables;
  /** Changes with every answer of the page, and when tables may have been written again. */
  version: number;
  measured: number | string;
}

/** Larger tables are read when somebody asks for it. */
const MOST_ROWS = 2_000_000;
/** The same for tables that don't say how long they are. */
const MOST_UNCOUNTED = 1000;
const UNCOUNTED = new Set(['csv', 'json']);

const NOTHING_ASKED = readAsked(new URLSearchParams());

const askWells = ({ ids, task }: { ids: DatasetIds; task: number | undefined }, options: CallOptions) =>
  call(
    'jobs.countImageGroups',
    {
      params: { project_id: ids.project_id },
      query: { dataset_id: ids.dataset_id, workflowtask_id: task },
      body: { by: ['plate', 'well'] },
    },
    options,
  );

/** Call it while a component is made. */
export function createQuality(given: () => Given) {
  let isWanted = $state(false);
  const table = $derived.by(() => {
    const list = given().tables.value;
    const chosen = list && chosenOf(list, NOTHING_ASKED);
    return chosen?.table.level === 'image' ? chosen.table : undefined;
  });
  const column = $derived(table && brightnessOf(table));
  const isUncounted = $derived(table?.backends.some((backend) => UNCOUNTED.has(backend)) ?? false);
  const isLarge = $derived(
    table !== undefined && (table.num_rows > MOST_ROWS || (isUncounted && table.num_images > MOST_UNCOUNTED)),
  );
  const wells = createAnswer(() => {
    const { ids, task, version } = given();
    return { ids, task, version };
  }, askWells);
  const answer = createAnswer(() => {
    if (!table || (isLarge && !isWanted)) return undefined;
    const { ids, measured } = given();
    const { name, level } = table;
    const columns = column === undefined ? [] : [column];
    return { ids, table: { name, level }, query: newQuery(), ranges: [], columns, version: measured };
  }, askGroups);
  const plates = $derived(
    wells.value && qualityOf(wells.value.groups, answer.value && { answer: answer.value, column }),
  );

  return {
    get table() {
      return table;
    },
    get column() {
      return column;
    },
    get plates() {
      return plates;
    },
    get problem() {
      return wells.problem ?? answer.problem ?? given().tables.problem;
    },
    /** Objects are not looked at yet. */
    get isPending() {
      return answer.value === undefined && (answer.busy || given().tables.busy);
    },
    /** Too many to be read without being asked for. */
    get waitsFor() {
      if (!table || !isLarge || isWanted) return undefined;
      return isUncounted ? counted(table.num_images, 'table') : counted(table.num_rows, 'object');
    },
    want: () => (isWanted = true),
  };
}
