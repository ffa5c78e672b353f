/**
 * Who watches what. A job or project has one watcher in a process, however many streams look at it: it asks the database
 * once a second, and less often where an answer takes long.
 */
import type { Logger } from '../../logging/index.ts';
import type { Feed } from './feeds.ts';
import { type EventStream, eventText, openStream, type StreamOptions } from './stream.ts';

const INTERVAL_MS = 1000;
/** At most this part of the time is spent asking. */
const SHARE = 1 / 5;

interface Watcher {
  streams: Set<EventStream>;
  /** Looks after streams that are behind without waiting for the next second. */
  wake(): void;
  ended: Promise<void>;
}

export interface Watchers {
  /** A stream of what the feed of this name tells. */
  watch(name: string, feed: () => Feed, options: StreamOptions): Pick<EventStream, 'body' | 'end'>;
  /** Ends all streams. */
  close(): Promise<void>;
}

function startWatcher(feed: Feed, log: Logger): Watcher {
  const streams = new Set<EventStream>();
  let woken = false;
  let stopWaiting: () => void = () => undefined;

  function wake(): void {
    woken = true;
    stopWaiting();
  }

  async function until(moment: number): Promise<void> {
    if (!woken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(0, moment - Date.now()));
        stopWaiting = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    woken = false;
  }

  async function tellChanges(): Promise<void> {
    const events = await feed.advance();
    if (events.length === 0) return;
    const position = feed.position();
    const text = eventText(events, position);
    for (const stream of streams) {
      if (!stream.isReady()) stream.behind = true;
      if (stream.behind) continue;
      stream.write(text);
      stream.position = position;
    }
  }

  async function helpThoseBehind(): Promise<void> {
    for (const stream of [...streams].filter((one) => one.behind && one.isReady())) {
      const position = feed.position();
      stream.write(eventText(await feed.catchUp(stream.position), position));
      stream.position = position;
      stream.behind = false;
    }
  }

  async function run(): Promise<void> {
    let next = 0;
    while (streams.size > 0) {
      const began = Date.now();
      try {
        if (began >= next) {
          next = Infinity;
          await tellChanges();
        }
        await helpThoseBehind();
      } catch (error) {
        // what was not told now is told when they have caught up
        for (const stream of streams) stream.behind = true;
        log.warning('Reading what changed in jobs failed; trying again', error);
      }
      const ended = Date.now();
      if (next === Infinity) next = ended + Math.max(INTERVAL_MS, (ended - began) / SHARE);
      await until(next);
    }
  }

  // the first stream joins before the first look
  const ended = Promise.resolve().then(run);
  return { streams, wake, ended };
}

export function createWatchers(log: Logger): Watchers {
  const watchers = new Map<string, Watcher>();
  let closed = false;

  function watcherOf(name: string, feed: () => Feed): Watcher {
    const known = watchers.get(name);
    if (known) return known;
    const watcher = startWatcher(feed(), log);
    watchers.set(name, watcher);
    return watcher;
  }

  return {
    watch(name, feed, options) {
      const watcher = watcherOf(name, feed);
      const stream = openStream(options, (gone) => {
        watcher.streams.delete(gone);
        if (watcher.streams.size === 0 && watchers.get(name) === watcher) watchers.delete(name);
        watcher.wake();
      });
      watcher.streams.add(stream);
      watcher.wake();
      if (closed) stream.end();
      return stream;
    },
    async close() {
      closed = true;
      const all = [...watchers.values()];
      for (const { streams } of all) for (const stream of streams) stream.end();
      await Promise.all(all.map((watcher) => watcher.ended));
    },
  };
}
