/**
 * The layers of a picture that the service makes: one grey picture for each channel, and the numbers of objects. Colours and
 * contrast are mixed in the page, so that changing them asks for nothing; only a contrast that needs other shades does.
 */
import type { Limits } from '@service/contract/ome';
import { untrack } from 'svelte';

import type { LabelTile, Tile } from '../../pixels/facts.ts';
import type { PaintedChannel } from '../../pixels/paint/scene.ts';
import { isSameRange, rangeFor } from '../../pixels/range.ts';
import { readNumbers, readPicture } from '../../pixels/read/picture.ts';
import type { DrawnChannel } from '../../pixels/settings.ts';

interface Source {
  /** What it is a picture of: while it is the same, the picture before stays until the next is there. */
  of: string;
  /** Everything that changes its pixels: size, plane, and how often files may have changed. */
  key: string;
  channel: (channel: number, limits: Limits) => string;
  labels: (name: string) => string;
}

interface Question {
  source: Source;
  channels: readonly DrawnChannel[];
  /** The contrast that all wells share. */
  told: (channel: number) => Limits;
  labels: string | undefined;
  onproblem: (problem: string | undefined) => void;
}

interface Layer<T> {
  of: string;
  key: string;
  tile: T;
}

/** While a handle is moved, nothing is asked for. */
const PAUSE_MS = 200;

/** Call it while a component is made. */
export function createLayers(question: () => Question) {
  let tiles = $state.raw<Record<number, Layer<Tile>>>({});
  let numbers = $state.raw<Layer<LabelTile>>();

  /** What to ask for; undefined where what was read serves. */
  function missing({ source, told }: Question, { channel, limits }: DrawnChannel): Limits | undefined {
    const before = tiles[channel];
    const isCurrent = before?.of === source.of && before.key === source.key;
    const range = rangeFor(limits, told(channel), isCurrent ? before.tile.range : undefined);
    return isCurrent && isSameRange(before.tile.range!, range) ? undefined : range;
  }

  async function read<T>(asked: Question, signal: AbortSignal, reading: Promise<T>, take: (layer: Layer<T>) => void) {
    try {
      const tile = await reading;
      if (signal.aborted) return;
      take({ of: asked.source.of, key: asked.source.key, tile });
      asked.onproblem(undefined);
    } catch (error) {
      if (!signal.aborted) asked.onproblem((error as Error).message);
    }
  }

  $effect(() => {
    const asked = question();
    const { source } = asked;
    const wanted = untrack(() =>
      asked.channels.flatMap((one) => {
        const range = missing(asked, one);
        return range ? [{ channel: one.channel, range }] : [];
      }),
    );
    if (wanted.length === 0) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const isFirst = untrack(() => wanted.some(({ channel }) => tiles[channel]?.key !== source.key));
    const begin = () => {
      for (const { channel, range } of wanted) {
        const reading = readPicture(source.channel(channel, range), signal);
        void read(asked, signal, reading, (layer) => (tiles = { ...tiles, [channel]: layer }));
      }
    };
    const timer = isFirst ? undefined : setTimeout(begin, PAUSE_MS);
    if (isFirst) begin();
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });

  const labelKey = $derived(`${question().source.key} ${question().labels}`);
  $effect(() => {
    const key = labelKey;
    const asked = untrack(question);
    const { source, labels } = asked;
    if (labels === undefined || untrack(() => numbers?.of === source.of && numbers.key === key)) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    void read(asked, signal, readNumbers(source.labels(labels), signal), (layer) => (numbers = { ...layer, key }));
    return () => controller.abort();
  });

  return {
    /** The channels that are there, all of one size. */
    get channels(): PaintedChannel[] {
      const { source, channels } = question();
      const there = channels.flatMap(({ channel, colour, limits }) => {
        const layer = tiles[channel];
        return layer?.of === source.of && limits ? [{ layer, painted: { tile: layer.tile, colour, limits } }] : [];
      });
      const first = there.find(({ layer }) => layer.key === source.key) ?? there[0];
      return there.flatMap(({ painted }) => (painted.tile.width === first!.layer.tile.width ? [painted] : []));
    },
    get labels(): LabelTile | undefined {
      const { source, labels } = question();
      return labels !== undefined && numbers?.of === source.of ? numbers.tile : undefined;
    },
    /** Changes with what is read, not with every contrast. */
    tileOf(channel: number): Tile | undefined {
      const layer = tiles[channel];
      return layer?.of === untrack(question).source.of ? layer.tile : undefined;
    },
  };
}
