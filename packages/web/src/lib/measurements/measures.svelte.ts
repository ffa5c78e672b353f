/**
 * The state of the page of measurements: the rows that were read for what is chosen in the address, and what all plots share,
 * so that an object that is selected in one is marked in all.
 *
 * Between the address and what is counted from a million rows stand texts and single values: what stays the same is not
 * counted again, which a lasso would wait for.
 */
import type { DatasetIds } from '../api/client.ts';
import type { ImagesQuery } from '../images/filters.ts';
import { cellName, readWell } from '../images/plates/plate.ts';
import { address, setSearch } from '../ui/address.svelte.ts';
import { groupsOf, keptRows, objectsOf } from './rows.ts';
import { type Scale, scaleFor, type ScaleKind } from './scale.ts';
import { readShapes, type Selected, selectedRows, selectRows, type Shape, withShape } from './shapes.ts';
import { selectedSpreads, spreadsOf } from './spread.ts';
import { type Asked, shapesIn, withShapes } from './state.ts';
import { rangeOf } from './statistics.ts';
import { type Axes, createTableRows } from './table-rows.svelte.ts';
import { type PerWell, perWellFor, platesOf, wellValues } from './wells.ts';

const NOTHING = new Uint8Array(0);

/** `A01 B03`: the wells that are filtered for. */
const wellsIn = ({ attributes }: ImagesQuery): string =>
  (attributes['well'] ?? [])
    .flatMap((value) => {
      const cell = readWell(value);
      return cell ? [cellName(cell)] : [];
    })
    .join(' ');

const namesIn = (text: string): ReadonlySet<string> => new Set(text === '' ? [] : text.split(' '));

type Scales = Record<'x' | 'y', Scale>;

const wholeScales = ({ xs, ys }: Axes, kept: Uint8Array, x: ScaleKind, y: ScaleKind): Scales => ({
  x: scaleFor(x, ...rangeOf(xs, x, kept)),
  y: scaleFor(y, ...rangeOf(ys, y, kept)),
});

/** The part that is looked at; a logarithm has none below zero. */
function seenScales(whole: Scales | undefined, viewText: string): Scales | undefined {
  if (!whole || viewText === '') return whole;
  const view = JSON.parse(viewText) as NonNullable<Asked['view']>;
  const part = (all: Scale, [from, to]: [number, number]): Scale =>
    all.kind === 'log' && from <= 0 ? all : { kind: all.kind, from, to };
  return { x: part(whole.x, view.x), y: part(whole.y, view.y) };
}

function selectionOf(axes: Axes | undefined, kept: Uint8Array, scales: Scales | undefined, shapes: Shape[]): Selected {
  if (!axes || !scales || shapes.length === 0) return { flags: new Uint8Array(kept.length), count: 0 };
  const kinds = { x: scales.x.kind, y: scales.y.kind };
  return selectRows({ xs: axes.xs, ys: axes.ys, kept, kinds }, shapes);
}

function spreadsFor(axes: Axes | undefined, whole: Scales | undefined, group: string | undefined, kept: Uint8Array) {
  const groups = axes ? groupsOf(axes.rows, group, kept) : [];
  return { groups, spreads: axes && whole ? spreadsOf(groups, axes.ys, whole.y) : [] };
}

/** Only shares change with the selection. */
const wellsOf = (axes: Axes | undefined, plate: string | undefined, per: PerWell, flags: Uint8Array) =>
  axes && plate !== undefined
    ? wellValues(axes.rows, plate, axes.ys, per, { selected: flags, compared: axes.compared })
    : undefined;

export type Measures = ReturnType<typeof createMeasures>;

/** Call it while a component is made. */
export function createMeasures(ids: () => DatasetIds) {
  const search = $derived(address.search);
  const table = createTableRows(ids, () => search);
  const axes = $derived(table.axes);

  const wellText = $derived(wellsIn(table.query));
  const wellNames = $derived(namesIn(wellText));
  const kept = $derived(axes ? keptRows(axes.rows, wellNames) : NOTHING);
  const numKept = $derived(kept.reduce((sum, one) => sum + one, 0));

  const kindX = $derived(table.asked.kinds.x);
  const kindY = $derived(table.asked.kinds.y);
  const whole = $derived(axes && wholeScales(axes, kept, kindX, kindY));
  const viewText = $derived(JSON.stringify(table.asked.view) ?? '');
  const scales = $derived(seenScales(whole, viewText));

  const shapeText = $derived(shapesIn(search).join('\n'));
  const shapes = $derived(readShapes(shapeText.split('\n')));
  const selected = $derived(selectionOf(axes, kept, whole, shapes));
  const chosenRows = $derived(selectedRows(selected));

  const distribution = $derived(spreadsFor(axes, whole, table.group, kept));
  const chosenSpreads = $derived(
    axes && whole && selected.count > 0
      ? selectedSpreads(distribution.groups, axes.ys, whole.y, selected.flags)
      : undefined,
  );
  const plates = $derived(axes ? platesOf(axes.rows) : []);
  const plate = $derived(plates.find((one) => one === table.asked.plate) ?? plates[0]);
  const offered = $derived(perWellFor(selected.count > 0, axes?.compared !== undefined));
  const per = $derived(offered.find((one) => one === table.asked.per) ?? offered[0]!);
  const wells = $derived(wellsOf(axes, plate, per, per === 'share' ? selected.flags : NOTHING));

  return {
    table,
    get axes() {
      return axes;
    },
    /** The wells that are kept; none: all. */
    get wellNames() {
      return wellNames;
    },
    /** One for each row that is kept. */
    get kept() {
      return kept;
    },
    get numKept() {
      return numKept;
    },
    /** Of all values, and of the part that is looked at. */
    get whole() {
      return whole;
    },
    get scales() {
      return scales;
    },
    get shapes() {
      return shapes;
    },
    get selected() {
      return selected;
    },
    /** Rows that are selected. */
    get chosenRows() {
      return chosenRows;
    },
    get spreads() {
      return distribution.spreads;
    },
    /** Undefined while nothing is selected. */
    get selectedSpreads() {
      return chosenSpreads;
    },
    get plates() {
      return plates;
    },
    get plate() {
      return plate;
    },
    /** What wells can be coloured by. */
    get offered() {
      return offered;
    },
    get per() {
      return per;
    },
    get wells() {
      return wells;
    },
    select: (shape: Shape) => setSearch((before) => withShapes(before, withShape(shapes, shape))),
    clear: () => setSearch((before) => withShapes(before, [])),
    objectsOf: (rows: Iterable<number>) => axes && objectsOf(axes.rows, rows),
  };
}
