/**
 * One output from those of the processes of a task. Equal updates count once; an image that is updated in two ways, or
 * updated and removed, is a mistake of the task.
 */
import type { ImageUpdateOutput, TaskOutput } from './outputs.ts';
import { shownValue } from './text.ts';
import { valueKey } from './values.ts';

export interface MergedOutput {
  updates: ImageUpdateOutput[];
  removals: string[];
  /** No output said anything: the images count as updated, without a change of their own. */
  silent: boolean;
}

interface Outputs {
  /** Of the processes that ended well, in their order. */
  outputs: TaskOutput[];
  /** The images that count as updated, without any change, when no output says anything. */
  silentUrls: string[];
}

const unchanged = (zarr_url: string): ImageUpdateOutput => ({ zarr_url, origin: null, attributes: {}, types: {} });

/** `attributes {"k":1} and {"k":2}` */
function difference(one: ImageUpdateOutput, other: ImageUpdateOutput): string {
  const members = (['origin', 'attributes', 'types'] as const).filter(
    (member) => valueKey(one[member]) !== valueKey(other[member]),
  );
  return members.map((member) => `${member} ${shownValue(one[member])} and ${shownValue(other[member])}`).join(', ');
}

function distinctUpdates(outputs: TaskOutput[]): { updates: ImageUpdateOutput[] } | { problem: string } {
  const first = new Map<string, ImageUpdateOutput>();
  for (const { image_list_updates } of outputs) {
    for (const update of image_list_updates) {
      const before = first.get(update.zarr_url);
      if (before === undefined) first.set(update.zarr_url, update);
      else if (valueKey(before) !== valueKey(update)) {
        return {
          problem: `The output of the task updates ${update.zarr_url} twice, in different ways: ${difference(before, update)}. Each image may be updated once.`,
        };
      }
    }
  }
  return { updates: [...first.values()] };
}

export function mergeOutputs({ outputs, silentUrls }: Outputs): MergedOutput | { problem: string } {
  const distinct = distinctUpdates(outputs);
  if ('problem' in distinct) return distinct;
  const { updates } = distinct;
  const removals = new Set<string>();
  for (const { image_list_removals } of outputs) for (const url of image_list_removals) removals.add(url);
  const both = updates.find(({ zarr_url }) => removals.has(zarr_url));
  if (both)
    return { problem: `The output of the task both updates and removes ${both.zarr_url}. Only one is possible.` };
  const silent = outputs.length > 0 && updates.length === 0 && removals.size === 0;
  return { updates: silent ? silentUrls.map(unchanged) : updates, removals: [...removals], silent };
}
