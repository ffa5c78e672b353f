/** The plate in the colours of a feature: which table and feature, one value for each well, and what the map says of it. */
import type { TableList } from '@service/contract';

import type { DatasetIds } from '#lib/api/client.ts';
import { type Answered, createAnswer } from '#lib/images/answer.svelte.ts';
import type { ImagesQuery } from '#lib/images/filters.ts';
import type { Well } from '#lib/images/plates/plate.ts';
import { askGroups, type TablesQuestion } from '#lib/measurements/ask.ts';
import { chosenOf, featuresToTell, readAsked } from '#lib/measurements/state.ts';
import { wellsOfGroups } from '#lib/measurements/well-groups.ts';
import {
  countUnmeasured,
  isAlone,
  legendOfWells,
  lookOfWell,
  shownWords,
  type WellValue,
  wellWords,
} from '#lib/measurements/wells.ts';
import { axisWords } from '#lib/measurements/words.ts';
import { address } from '#lib/ui/address.svelte.ts';

export type Tables = Answered<TablesQuestion, TableList>;

interface Given {
  ids: DatasetIds;
  tables: Tables;
  /** Of the plate, with the filters of the page. */
  query: ImagesQuery | undefined;
  /** Counts what may have changed the files. */
  version: number | string;
  isShown: boolean;
}

/** So many features are told of a well, with the one that the map shows. */
const TOLD = 4;

/** One value of all wells of the plate, to see where some of them lie. */
export interface Strip {
  name: string;
  /** The exact name of the column. */
  title: string;
  wells: ReadonlyMap<string, WellValue>;
}

export type PlateMeasure = ReturnType<typeof createPlateMeasure>;

/** Call it while a component is made. Nothing is read until it is shown. */
export function createPlateMeasure(given: () => Given) {
  const asked = $derived(readAsked(address.params));
  const list = $derived(given().tables.value);
  const chosen = $derived(list && chosenOf(list, asked));
  const per = $derived(isAlone(asked.per) ? asked.per : 'median');
  const columns = $derived(chosen ? featuresToTell(chosen, TOLD) : []);
  const answer = createAnswer(() => {
    const { ids, query, version, isShown } = given();
    if (!isShown || !query || !chosen) return undefined;
    const { name, level } = chosen.table;
    return { ids, table: { name, level }, query, ranges: [], columns, version };
  }, askGroups);

  /** What was counted for another feature says nothing about this one. */
  const groups = $derived(
    chosen?.feature !== undefined && answer.of?.columns.includes(chosen.feature) ? answer.value : undefined,
  );
  const wells = $derived(groups && wellsOfGroups(groups, { column: chosen!.feature!, per }));
  const legend = $derived(wells && legendOfWells(wells, per));
  const strips = $derived.by((): Strip[] => {
    if (!groups) return [];
    const count = wellsOfGroups(groups, { column: '', per: 'count' });
    return [
      { name: 'Objects', title: 'Objects', wells: count },
      ...answer.of!.columns.map((column) => ({
        name: axisWords(column),
        title: column,
        wells: wellsOfGroups(groups, { column, per: 'median' as const }),
      })),
    ];
  });

  return {
    get list() {
      return list;
    },
    get chosen() {
      return chosen;
    },
    get per() {
      return per;
    },
    get legend() {
      return legend;
    },
    get strips() {
      return strips;
    },
    get unmeasured() {
      return wells ? countUnmeasured(wells) : 0;
    },
    get problem() {
      return given().tables.problem ?? answer.problem;
    },
    get busy() {
      return answer.busy || (given().isShown && given().tables.busy);
    },
    /** `Median of Area, µm²` */
    get shown() {
      return chosen?.feature === undefined ? undefined : shownWords(per, axisWords(chosen.feature));
    },
    /** For the address of the page of measurements. */
    get query() {
      return chosen && { table: chosen.table.name, level: chosen.table.level, feature: chosen.feature, per };
    },
    look: ({ name }: Well) => (wells ? lookOfWell(legend, wells.get(name)) : undefined),
    words: ({ name }: Well) => (wells ? (wells.has(name) ? wellWords(per, wells.get(name)) : 'not measured') : ''),
  };
}
