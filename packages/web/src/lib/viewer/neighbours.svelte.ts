/** The next well and the fields beside this one are read before anybody asks for them, once there is nothing else to read. */
import { viewers } from '../images/configured.ts';
import { dataAddress } from '../images/viewers.ts';
import type { TilePlace } from '../pixels/facts.ts';
import { readAhead } from '../pixels/read/reader.ts';
import { placesAhead } from './frame.ts';
import type { View } from './view.svelte.ts';
import type { Where } from './where.svelte.ts';

const IDLE_MS = 400;

/** Call it while a component is made. */
export function readNeighbours(view: View, where: Where, isImage: () => boolean): void {
  async function readAll(places: TilePlace[], signal: AbortSignal) {
    const wellBeside = (step: 1 | -1) => {
      const well = where.beside(step);
      return well && where.imageOf(well);
    };
    for (const next of [where.fieldBeside(1), wellBeside(1), where.fieldBeside(-1), wellBeside(-1)]) {
      const url = (await Promise.resolve(next).catch(() => undefined))?.zarr_url;
      const address = url === undefined ? undefined : dataAddress(viewers, url);
      if (signal.aborted) return;
      if (address !== undefined) await readAhead(address, places, signal);
    }
  }

  $effect(() => {
    const { main, facts, sight, channels } = view;
    if (!isImage() || !facts || !sight || main.busy || main.missing > 0) return undefined;
    const places = placesAhead(
      facts,
      sight,
      channels.map(({ channel }) => channel),
    );
    const controller = new AbortController();
    const timer = setTimeout(() => void readAll(places, controller.signal), IDLE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  });
}
