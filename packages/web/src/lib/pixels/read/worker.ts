/**
 * Reads beside the page. Unpacking takes time, and the codecs that images are packed with make code while they run, which
 * the security policy of pages forbids; a worker has none of its own.
 */
import type { Message, Reply } from '../../ask-worker.ts';
import type { TilePlace } from '../facts.ts';
import { openImage, type OpenImage, openLabels, type OpenLabels } from './image.ts';
import { readNumbers, readPicture } from './picture.ts';
import { type ProblemKind, problemOf } from './problem.ts';
import { readLabelTile, readTile } from './region.ts';

export type Ask =
  | { what: 'open'; address: string }
  | { what: 'tile'; address: string; place: TilePlace }
  | { what: 'labels'; address: string; name: string }
  | { what: 'label tile'; address: string; name: string; place: TilePlace }
  | { what: 'picture' | 'numbers'; address: string }
  /** An image that may be looked at next, and what would be in sight of it. */
  | { what: 'ahead'; address: string; places: TilePlace[] };

export interface Problem {
  problem: string;
  kind: ProblemKind;
}

const MOST_OPEN = 24;
/** What was opened ahead is taken as it is for so long; later it may have been written again. */
const AHEAD_MS = 20_000;

/** Opened once, the newest last. Signals end with who asked, so what is shared has none. */
function createShelf<T>(openOne: (key: string, signal: AbortSignal) => Promise<T>) {
  const opened = new Map<string, Promise<T>>();
  const ahead = new Map<string, number>();
  return {
    ahead(key: string): Promise<T> {
      const before = opened.get(key);
      if (before) return before;
      const opening = this.fresh(key);
      ahead.set(key, Date.now());
      return opening;
    },
    fresh(key: string): Promise<T> {
      const before = opened.get(key);
      const isAhead = Date.now() - (ahead.get(key) ?? 0) < AHEAD_MS;
      ahead.delete(key);
      if (before && isAhead) return before;
      const opening = openOne(key, AbortSignal.timeout(60_000));
      opened.delete(key);
      opened.set(key, opening);
      opening.catch(() => opened.get(key) === opening && opened.delete(key));
      for (const oldest of opened.keys()) {
        if (opened.size <= MOST_OPEN) break;
        opened.delete(oldest);
        ahead.delete(oldest);
      }
      return opening;
    },
    get(key: string): Promise<T> {
      return opened.get(key) ?? this.fresh(key);
    },
  };
}

const images = createShelf<OpenImage>(openImage);
const labelImages = createShelf<OpenLabels>((key, signal) => {
  const [address, name] = JSON.parse(key) as [string, string];
  return openLabels(address, name, signal);
});

async function answer(ask: Ask, signal: AbortSignal): Promise<unknown> {
  switch (ask.what) {
    case 'open':
      // it may have been written again since
      return (await images.fresh(ask.address)).facts;
    case 'tile': {
      const { levels } = await images.get(ask.address);
      return readTile(levels[ask.place.level]!, ask.place, signal);
    }
    case 'labels':
      return (await labelImages.fresh(JSON.stringify([ask.address, ask.name]))).facts;
    case 'label tile': {
      const { levels } = await labelImages.get(JSON.stringify([ask.address, ask.name]));
      return readLabelTile(levels[ask.place.level]!, ask.place, signal);
    }
    case 'ahead': {
      const { levels } = await images.ahead(ask.address);
      // chunks stay for a while, which is all that is wanted; who looks at something else now comes first
      for (const place of ask.places) {
        const level = levels[place.level];
        if (level && !signal.aborted) await readTile(level, place, signal);
      }
      return {};
    }
    case 'picture':
      return readPicture(ask.address, signal);
    case 'numbers':
      return readNumbers(ask.address, signal);
  }
}

const underWay = new Map<number, AbortController>();

/** Numbers of a tile go to the page as they are, without a copy. */
const movable = (value: unknown): Transferable[] =>
  Object.values(value as object).flatMap((part: unknown) =>
    ArrayBuffer.isView(part) ? [part.buffer as ArrayBuffer] : [],
  );

self.onmessage = ({ data }: MessageEvent<Message<Ask>>) => {
  if ('cancel' in data) {
    underWay.get(data.cancel)?.abort();
    return;
  }
  const { id, ask } = data;
  const controller = new AbortController();
  underWay.set(id, controller);
  answer(ask, controller.signal)
    .then(
      (value) => self.postMessage({ id, value } satisfies Reply<Problem>, { transfer: movable(value) }),
      (error: unknown) => {
        const { kind, message } = problemOf(error, 'The image');
        self.postMessage({ id, problem: message, kind } satisfies Reply<Problem>);
      },
    )
    .finally(() => underWay.delete(id));
};
