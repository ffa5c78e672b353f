/**
 * What the reader sees and has set: place, planes, channels, labels, comparison. Everything that an address can carry, and
 * what follows from it.
 */
import { percentiles, type Limits } from '@service/contract/ome';
import { untrack } from 'svelte';

import { type Camera, fit, inOther, moved, type Point, type Size, toImage, within, zoomAt } from '../pixels/camera.ts';
import type { Facts } from '../pixels/facts.ts';
import { samplesOf } from '../pixels/histogram.ts';
import type { Pane } from '../pixels/paint/scene.ts';
import type { Palette } from '../pixels/palette.ts';
import type { Ruler } from '../pixels/scale-bar.ts';
import { type ChannelSetting, drawnChannels, type LabelSetting, newLabels, settingsOf } from '../pixels/settings.ts';
import { levelFor } from '../pixels/tiles.ts';
import { channelsOfAddress, type Comparison, type ViewState } from './address.ts';
import { isCut, type Sight } from './frame.ts';
import { type Kept, type Preset, withKept } from './kept.ts';
import { createSubject, type Subject } from './subject.svelte.ts';

/** From here on pixels are squares. */
const SQUARES = 4;

/** The line between two halves, in parts of the whole. */
const MIDDLE = 0.5;

export type Tool = 'move' | 'ruler';

export type View = ReturnType<typeof createView>;

export function createView(given: ViewState, kept: Kept) {
  const main = createSubject();
  const other = createSubject();
  let camera = $state.raw<Camera | undefined>(given.camera);
  let screen = $state.raw<Size>({ width: 0, height: 0 });
  let ratio = $state(1);
  let z = $state<number | 'max' | undefined>(given.z);
  let t = $state(given.t);
  let settings = $state.raw<ChannelSetting[]>([]);
  let labels = $state.raw<LabelSetting>(given.labels ?? newLabels(undefined));
  let palette = $state.raw<Palette>();
  let alone = $state<number>();
  let labelsHidden = $state(false);
  let compare = $state.raw(given.compare);
  let split = $state(MIDDLE);
  let pointer = $state.raw<Point>();
  /** Keys reach the picture: a cross in its middle stands for the pointer. */
  let hasCross = $state(false);
  let tool = $state<Tool>('move');
  let ruler = $state.raw(given.ruler);
  let marks = $state.raw(given.marks);
  /** One end of the ruler goes with the pointer or the cross. */
  let isMeasuring = $state(false);
  /** What the reader has set stays for the next image; until then, files decide. */
  let isSet = given.channels.size > 0;
  let opened: Facts | undefined;

  const facts = $derived(main.reader?.facts);
  /** Of one image: half of the screen where two lie beside each other. */
  const area = $derived.by<Size>(() =>
    compare?.how === 'side' ? { ...screen, width: Math.floor(screen.width / 2) } : screen,
  );
  const shownCamera = $derived.by(() =>
    facts && area.width > 0 ? within(camera ?? fit(facts, area), facts, area) : undefined,
  );
  const sight = $derived.by<Sight | undefined>(() => {
    if (!facts || !shownCamera) return undefined;
    const plane = z ?? Math.floor(facts.planes / 2);
    return {
      camera: shownCamera,
      screen: area,
      ratio,
      z: plane === 'max' ? plane : Math.min(plane, facts.planes - 1),
      t: Math.min(t, facts.times - 1),
    };
  });
  /** Of this image: none in the moment in which an image with other channels has come, and those of the one before are left. */
  const ownSettings = $derived(settings.length === facts?.channels.length ? settings : []);
  const channels = $derived(drawnChannels(ownSettings, alone));
  const areLabelsShown = $derived.by(() => labels.shown && labels.name !== undefined && !labelsHidden);

  /** Of the second image: the same place of the same scene. */
  const otherSight = $derived.by<Sight | undefined>(() => {
    const own = other.reader?.facts;
    if (!own || !facts || !sight) return undefined;
    return {
      ...sight,
      camera: inOther(sight.camera, facts, own),
      z: sight.z === 'max' ? 'max' : own.planes === facts.planes ? sight.z : Math.floor(own.planes / 2),
      t: Math.min(sight.t, own.times - 1),
    };
  });
  const otherChannels = $derived.by(() => {
    const count = other.reader?.facts.channels.length ?? 0;
    return channels.filter(({ channel }) => channel < count);
  });

  /** Whether labels are shown stays from image to image; a plate has its own beginning. */
  function labelsFor({ labelsAtFirst }: Facts, before: Facts | undefined): Partial<LabelSetting> {
    if (before) return before.labelsAtFirst === labelsAtFirst ? labels : { ...labels, shown: labelsAtFirst };
    return given.labels ?? { ...kept.labels, ...(labelsAtFirst ? {} : { shown: false }) };
  }

  /** With another image, its channels may have other names; settings go by their place. */
  function takeOver(next: Facts) {
    const fresh = withKept(settingsOf(next.channels), next.channels, kept.channels);
    const before = opened;
    const isAlike = before?.channels.length === next.channels.length;
    settings = fresh.map((setting, at) => {
      if (before && isAlike && isSet) return settings[at]!;
      return given.channels.get(at) ?? setting;
    });
    if (before && before.width !== next.width && camera) camera = inOther(camera, before, next);
    const name = labels.name !== undefined && next.labels.includes(labels.name) ? labels.name : next.labels[0];
    labels = { ...newLabels(name), ...labelsFor(next, before), name };
    opened = next;
  }

  function autoLimits(channel: number): Limits | undefined {
    if (!sight) return undefined;
    const { tiles, whole } = main.coarse(sight, channel);
    return whole ? percentiles([samplesOf(tiles)]) : undefined;
  }

  const setChannel = (channel: number, change: Partial<ChannelSetting>) => {
    isSet = true;
    settings = settings.map((setting, at) => (at === channel ? { ...setting, ...change } : setting));
  };

  /** Call it once, while the component is made. */
  function follow() {
    $effect(() => {
      const next = facts;
      if (next && next !== opened) untrack(() => takeOver(next));
    });
    $effect(() => {
      void main.reader;
      main.showLabels(labels.shown ? labels.name : undefined);
      if (other.reader) {
        const has = labels.name !== undefined && other.reader.facts.labels.includes(labels.name);
        other.showLabels(labels.shown && has ? labels.name : undefined);
      }
    });
    $effect(() => {
      if (!sight) return;
      void main.labels;
      main.look(sight, channels, labels.shown);
    });
    $effect(() => {
      if (!otherSight) return;
      void other.labels;
      other.look(otherSight, otherChannels, labels.shown);
    });
    // contrast that nobody names is found in the pixels, as soon as some are there
    $effect(() => {
      void main.version;
      const open = settings.flatMap(({ shown, limits }, at) => (shown && limits === undefined ? [at] : []));
      if (open.length === 0 || !sight) return;
      for (const channel of open) {
        const limits = autoLimits(channel);
        if (limits) settings = settings.map((one, at) => (at === channel ? { ...one, limits } : one));
      }
    });
  }

  function paneOf(
    subject: Subject,
    at: Sight,
    left: number,
    clip: { left: number; width: number },
    withLabels: boolean,
  ): Pane {
    void subject.version;
    return {
      camera: at.camera,
      area: { left, top: 0, width: area.width, height: area.height },
      clip: { left: clip.left, top: 0, width: clip.width, height: area.height },
      tiles: subject.tiles(at, subject === main ? channels : otherChannels),
      labels: withLabels ? subject.labelTiles(at) : [],
      look: labels,
      palette: subject === main ? palette : undefined,
      smooth: at.camera.zoom < SQUARES,
    };
  }

  /** What is on the canvas now. Before is left, after is right. */
  const panes = $derived.by<Pane[]>(() => {
    if (!sight) return [];
    const whole = { left: 0, width: area.width };
    if (!compare) return [paneOf(main, sight, 0, whole, areLabelsShown)];
    const isLabels = compare.with === 'labels';
    const second = isLabels ? main : other;
    const secondSight = isLabels ? sight : otherSight;
    const isSide = compare.how === 'side';
    const line = isSide ? area.width : Math.round(screen.width * split);
    const first = isSide ? whole : { left: 0, width: line };
    const rest = isSide ? { left: line, width: area.width } : { left: line, width: screen.width - line };
    return [
      ...(secondSight ? [paneOf(second, secondSight, 0, first, areLabelsShown && !isLabels)] : []),
      paneOf(main, sight, isSide ? line : 0, rest, areLabelsShown),
    ];
  });

  /** A point of the screen, in the pane that it lies in. */
  const inPane = (point: Point): Point => (compare?.how === 'side' ? { ...point, x: point.x % area.width } : point);
  const set = (next: Camera) => {
    if (facts) camera = within(next, facts, area);
  };
  const imagePoint = (point: Point) => shownCamera && toImage(shownCamera, area, inPane(point));
  const isCrossShown = $derived(hasCross && pointer === undefined);
  const shownRuler = $derived.by<Ruler | undefined>(() => {
    const end = isMeasuring ? pointedAt() : undefined;
    return ruler && end ? { ...ruler, to: end } : ruler;
  });

  function pointedAt(): Point | undefined {
    const at = pointer ?? (isCrossShown ? { x: area.width / 2, y: area.height / 2 } : undefined);
    return at && imagePoint(at);
  }

  return {
    main,
    other,
    follow,
    get facts() {
      return facts;
    },
    get camera() {
      return shownCamera;
    },
    get sight() {
      return sight;
    },
    get screen() {
      return screen;
    },
    get area() {
      return area;
    },
    get ratio() {
      return ratio;
    },
    get level() {
      return facts && shownCamera ? levelFor(facts, shownCamera.zoom, ratio) : 0;
    },
    get isCut() {
      return facts !== undefined && sight !== undefined && isCut(facts, sight);
    },
    get z() {
      return sight?.z ?? 0;
    },
    get t() {
      return sight?.t ?? 0;
    },
    get settings() {
      return ownSettings;
    },
    get channels() {
      return channels;
    },
    get labels() {
      return labels;
    },
    get compare() {
      return compare;
    },
    get split() {
      return split;
    },
    get panes() {
      return panes;
    },
    get pointer() {
      return pointer;
    },
    /** What the pointer or the cross is over, in pixels of the image. */
    get pointed(): Point | undefined {
      const at = pointedAt();
      if (!at || !facts) return undefined;
      return at.x >= 0 && at.y >= 0 && at.x < facts.width && at.y < facts.height ? at : undefined;
    },
    /** The number of the object there: 0 is none, undefined is not known. */
    get pointedLabel(): number | undefined {
      void main.version;
      const { pointed } = this;
      return pointed && sight && labels.shown ? main.labelAt(sight, pointed.x, pointed.y) : undefined;
    },
    get isCrossShown() {
      return isCrossShown;
    },
    get tool() {
      return tool;
    },
    get marks() {
      return marks;
    },
    get ruler() {
      return shownRuler;
    },
    get isMeasuring() {
      return isMeasuring;
    },
    /** Everything that an address carries. */
    get state(): Omit<ViewState, 'image' | 'plate'> {
      return {
        camera,
        z,
        t,
        channels: channelsOfAddress(settings),
        labels: labels.name === undefined ? undefined : labels,
        compare,
        ruler: shownRuler,
        marks,
      };
    },
    resize(next: Size, pixels: number) {
      [screen, ratio] = [next, pixels];
    },
    point: (at: Point | undefined) => (pointer = at),
    showCross: (shown: boolean) => (hasCross = shown),
    /** Another tool begins without what the last one left. */
    setTool(next: Tool) {
      [tool, isMeasuring] = [next, false];
      if (next === 'move') ruler = undefined;
    },
    /** Of the screen; without an end, a new one begins. */
    measure(from: Point, to: Point = from) {
      const [start, end] = [imagePoint(from), imagePoint(to)];
      if (start && end) [tool, ruler, isMeasuring] = ['ruler', { from: start, to: end }, false];
    },
    /** By keys: begins at the pointer or the cross, and ends there the next time. */
    measureHere() {
      const here = pointedAt();
      if (!here) return;
      if (isMeasuring) [ruler, isMeasuring] = [shownRuler, false];
      else [tool, ruler, isMeasuring] = ['ruler', { from: here, to: here }, true];
    },
    move: (by: Point) => shownCamera && set(moved(shownCamera, by)),
    zoomBy(factor: number, at?: Point) {
      const middle = { x: area.width / 2, y: area.height / 2 };
      if (shownCamera) set(zoomAt(shownCamera, area, at ? inPane(at) : middle, factor));
    },
    zoomTo: (zoom: number) => shownCamera && set({ ...shownCamera, zoom }),
    goTo: (next: Partial<Camera>) => shownCamera && set({ ...shownCamera, ...next }),
    fit: () => (camera = undefined),
    setPlane(next: number | 'max') {
      if (facts) z = next === 'max' ? next : Math.min(Math.max(next, 0), facts.planes - 1);
    },
    setTime(next: number) {
      if (facts) t = Math.min(Math.max(next, 0), facts.times - 1);
    },
    setChannel,
    showAlone: (channel: number | undefined) => (alone = channel),
    autoContrast() {
      isSet = true;
      settings = settings.map((setting, at) => ({ ...setting, limits: autoLimits(at) ?? setting.limits }));
    },
    /** Limits of the plate for channels whose files say nothing, as long as the reader has set nothing. */
    takeLimits(limits: readonly (Limits | undefined)[], anyway: boolean) {
      if (isSet && !anyway) return;
      settings = settings.map((setting, at) => ({ ...setting, limits: limits[at] ?? setting.limits }));
    },
    /** What was kept under a name. */
    applyPreset(preset: Preset) {
      if (!facts) return;
      isSet = true;
      settings = withKept(settings, facts.channels, preset.channels);
    },
    setColours(colours: readonly ChannelSetting['colour'][]) {
      isSet = true;
      settings = settings.map((setting, at) => ({ ...setting, colour: colours[at % colours.length]! }));
    },
    setLabels: (change: Partial<LabelSetting>) => (labels = { ...labels, ...change }),
    colourLabels: (next: Palette | undefined) => (palette = next),
    hideLabels: (hidden: boolean) => (labelsHidden = hidden),
    setCompare: (next: { with: string; how: Comparison } | undefined) => (compare = next),
    setSplit: (next: number) => (split = Math.min(Math.max(next, 0.02), 0.98)),
    /** After going back or a new address: all of it. */
    take(state: ViewState) {
      [camera, z, t, compare, ruler] = [state.camera, state.z, state.t, state.compare, state.ruler];
      marks = state.marks;
      if (state.channels.size > 0) settings = settings.map((setting, at) => state.channels.get(at) ?? setting);
      if (state.labels) labels = state.labels;
    },
    get isSet() {
      return isSet;
    },
  };
}
