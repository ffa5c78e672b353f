/**
 * What tables say about the objects of the image that is shown: the values of each, and colours by one of their features. The
 * colours are those of the whole plate, so that wells can be compared.
 */
import type { DatasetIds } from '../api/client.ts';
import { createAnswer } from '../images/answer.svelte.ts';
import { newQuery } from '../images/filters.ts';
import { askGroups, askRows, askTables } from '../measurements/ask.ts';
import { numbersOf, type Rows } from '../measurements/rows.ts';
import { featuresOf, type ListedTable, tableOfLabels } from '../measurements/state.ts';
import { whiskersOf } from '../measurements/statistics.ts';
import { type Legend, legendBetween, legendOf } from '../pixels/colour-map.ts';
import { paletteOf } from '../pixels/palette.ts';

interface Asked {
  ids: DatasetIds;
  image: string;
  /** The plate of the image, where it is in one. */
  plate: string | undefined;
  /** The label image that is shown, and the feature that it is coloured by. */
  labels: string | undefined;
  by: string | undefined;
  /** Counts how often the image was read again. */
  version: number;
}

/** Values that are read of one image at most; of tables with many objects the first features only. */
const MOST_VALUES = 4_000_000;

function columnsFor(table: ListedTable, by: string | undefined): string[] {
  const rows = Math.max(1, table.num_rows / Math.max(1, table.num_images));
  const names = [...(by === undefined ? [] : [by]), ...table.columns.map(({ name }) => name)];
  return [...new Set(names)].slice(0, Math.max(4, Math.floor(MOST_VALUES / rows)));
}

/** Row by the number of the object; undefined where a table names its objects by words. */
function rowsByLabel(rows: Rows): Map<number, number> | undefined {
  const labels = numbersOf(rows, rows.index ?? undefined);
  return labels && new Map(Array.from(labels, (label, row) => [label, row]));
}

export interface ObjectValue {
  name: string;
  value: number | string;
}

export type ViewedObjects = ReturnType<typeof createViewedObjects>;

/** Call it while a component is made. Undefined: nothing that has objects is shown. */
export function createViewedObjects(asked: () => Asked | undefined) {
  const tables = createAnswer(() => {
    const now = asked();
    return now?.labels === undefined ? undefined : { ids: now.ids, version: now.version };
  }, askTables);
  const table = $derived.by(() => {
    const labels = asked()?.labels;
    return labels === undefined || !tables.value ? undefined : tableOfLabels(tables.value, labels);
  });
  const features = $derived(table ? featuresOf(table) : []);
  const by = $derived(features.find((one) => one === asked()?.by));

  const answer = createAnswer(() => {
    const now = asked();
    if (!now || !table) return undefined;
    const { name, level } = table;
    const columns = columnsFor(table, by);
    return {
      ids: now.ids,
      table: { name, level },
      query: newQuery(),
      zarr_urls: [now.image],
      ranges: [],
      columns,
      version: now.version,
    };
  }, askRows);
  /** Not those of the image before. */
  const rows = $derived(answer.of?.zarr_urls[0] === asked()?.image ? answer.value : undefined);
  const byLabel = $derived(rows && rowsByLabel(rows));

  const ofPlate = createAnswer(() => {
    const now = asked();
    if (by === undefined || !table || now?.plate === undefined) return undefined;
    const { name, level } = table;
    const query = newQuery({ attributes: { plate: [now.plate] } });
    return {
      ids: now.ids,
      table: { name, level },
      query,
      ranges: [],
      columns: [by],
      by: ['plate'],
      version: now.version,
    };
  }, askGroups);
  const legend = $derived.by((): Legend | undefined => {
    if (by === undefined || !rows) return undefined;
    const counted = ofPlate.of?.columns[0] === by ? ofPlate.value?.groups[0]?.columns[0] : undefined;
    const ends = counted && whiskersOf(counted);
    return ends ? legendBetween(ends) : legendOf('sequential', [...(numbersOf(rows, by) ?? [])]);
  });
  const palette = $derived.by(() => {
    const labels = rows && numbersOf(rows, rows.index ?? undefined);
    const values = rows && numbersOf(rows, by);
    return labels && values && legend ? paletteOf(labels, values, legend) : undefined;
  });

  return {
    /** Whose objects; undefined where no table says anything about them. */
    get table() {
      return byLabel || !rows ? table : undefined;
    },
    /** What labels can be coloured by. */
    get features() {
      return byLabel ? features : [];
    },
    get by() {
      return byLabel ? by : undefined;
    },
    get legend() {
      return legend;
    },
    get palette() {
      return palette;
    },
    get problem() {
      return answer.problem;
    },
    /** Everything that is known of an object, what it is coloured by first; undefined where nothing is. */
    valuesOf(label: number): ObjectValue[] | undefined {
      const row = byLabel?.get(label);
      if (row === undefined || !rows) return undefined;
      const values = rows.header.columns.flatMap(({ name, type, texts }): ObjectValue[] => {
        const value = rows.arrays.get(name)![row]!;
        if (name === rows.index) return [];
        const text = texts?.[value];
        if (type === 'text') return text === undefined ? [] : [{ name, value: text }];
        if (type === 'boolean') return Number.isNaN(value) ? [] : [{ name, value: value === 0 ? 'no' : 'yes' }];
        return [{ name, value }];
      });
      const isBy = ({ name }: ObjectValue) => name === by;
      return [...values.filter(isBy), ...values.filter((one) => !isBy(one))];
    },
  };
}
