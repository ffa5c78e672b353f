/**
 * What should be known of the chosen images before a job, looked up while the dialog is open: whenever other images are
 * chosen, and once more for those who press the button before it was there.
 */
import { untrack } from 'svelte';

import { ApiProblem } from '#lib/api/problem.ts';

import { type Checked, checkImages } from './requests.ts';
import { type ImageChecks, NOTHING_FOUND } from './settings.ts';

/** Call it while a component is made. Undefined is asked for while nobody knows which images are chosen. */
export function createImageChecks(asked: () => Checked | undefined) {
  let known = $state.raw<{ key: string; found: ImageChecks }>();

  const key = $derived.by(() => {
    const now = asked();
    if (now === undefined) return undefined;
    const { types, attributes, status } = now.query;
    return JSON.stringify([now.dataset_id, now.workflowtask_id, types, attributes, status]);
  });
  // while other images are on their way the page stays as it is
  const found = $derived.by(() =>
    known !== undefined && (key === undefined || known.key === key) ? known.found : NOTHING_FOUND,
  );

  async function look(): Promise<void> {
    const [wanted, given] = [key, asked()];
    if (wanted === undefined || given === undefined || known?.key === wanted) return;
    const answer = await checkImages(given);
    if (wanted === key) known = { key: wanted, found: answer };
  }

  $effect(() => {
    if (key === undefined) return;
    void untrack(look).catch((error: unknown) => {
      // whoever presses the button is told
      if (!(error instanceof ApiProblem)) throw error;
    });
  });

  return {
    get found() {
      return found;
    },
    /** False when something was found only now: then it is to be read before a job is started. */
    async areShown(): Promise<boolean> {
      if (known?.key === key) return true;
      await look();
      return found.mixed.length + found.unprocessed.length === 0;
    },
  };
}
