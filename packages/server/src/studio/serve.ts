/**
 * A process that reads people's files, seen from inside: of low priority, with bounded memory, and replaced when it dies, so
 * that neither the API nor jobs feel it. It is told what to make, keeps the result as a file and says where.
 *
 *     node program.ts FOLDER LARGEST_SIZE
 */
import { createHash } from 'node:crypto';
import { constants, setPriority } from 'node:os';

import { guarded } from '../guard.ts';
import { readableFolders } from '../folders/index.ts';
import { createMetadataCache } from '../zarr/metadata-cache.ts';
import { newSources } from '../zarr/sources.ts';
import type { Reading } from '../zarr/store.ts';
import { Unreadable } from '../zarr/unreadable.ts';
import type { Done, FromStudio, Made, Order, ToStudio } from './order.ts';
import { openShelf } from './shelf.ts';

/** `tooLarge` is said where a file asks for more memory than there is. */
export function serveOrders<Ask>(
  make: (ask: Ask, reading: Reading) => Promise<Made>,
  { tooLarge }: { tooLarge: string },
): void {
  // requests come first; the lowest priority of all would never have its turn beside jobs that use every core
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

  const [folder, largest] = process.argv.slice(2) as [string, string];
  const shelf = openShelf(folder, Number(largest));
  const running = new Map<number, AbortController>();
  const metadata = createMetadataCache();

  async function carryOut({ key, ask, folders: list, state }: Order<Ask>, signal: AbortSignal): Promise<Done> {
    try {
      const folders = readableFolders(list);
      const before = await shelf.find(key, signal);
      const mine = before && (await Promise.all(before.folders.map((one) => folders.holding(one))));
      if (before && mine!.every((one) => one !== undefined)) return { kept: before };
      const sources = newSources();
      const reading = {
        folders,
        metadata,
        reader: createHash('sha256')
          .update(JSON.stringify([list, state]))
          .digest('base64'),
        sources,
        signal,
      };
      return { kept: await shelf.put(key, await make(ask, reading), sources, signal) };
    } catch (error) {
      if (signal.aborted) return { cancelled: true };
      if (error instanceof Unreadable) return { problem: error.text };
      if (error instanceof RangeError) return { problem: tooLarge };
      return { defect: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  }

  function take(message: ToStudio<Ask>): void {
    if ('cancel' in message) return running.get(message.cancel)?.abort();
    const { order } = message;
    const controller = new AbortController();
    running.set(order.id, controller);
    void carryOut(order, controller.signal).then((done) => {
      running.delete(order.id);
      process.send!({ id: order.id, done } satisfies FromStudio);
    });
  }

  // what is not understood ends it: the service tells who asked, and starts another one
  const giveUp = () => process.exit(1);
  process.on('message', guarded(take, giveUp));
  // the service is gone
  process.on(
    'disconnect',
    guarded(() => process.exit(0), giveUp),
  );
}
