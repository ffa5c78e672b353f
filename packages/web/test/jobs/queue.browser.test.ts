import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';

import Queue from '#lib/jobs/Queue.svelte';

/** Questions that wait until they are answered, in any order. */
let waiting: { address: string; give: (answer: Response) => void }[];

beforeEach(() => {
  waiting = [];
  vi.stubGlobal('fetch', (address: string) => {
    return new Promise<Response>((give) => waiting.push({ address, give }));
  });
});
afterEach(() => vi.unstubAllGlobals());

async function asked(scope: string) {
  const at = () => waiting.findIndex(({ address }) => address.endsWith(`scope=${scope}`));
  await expect.poll(at).toBeGreaterThan(-1);
  return waiting.splice(at(), 1)[0]!.give;
}

const refusal = () => Response.json({ detail: 'The cluster does not answer.' }, { status: 422 });

/** What was given has been read and drawn. */
async function drawn() {
  await new Promise((resolve) => setTimeout(resolve));
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}

it('shows the jobs that were asked for last, also when an older question is refused later', async () => {
  const screen = await render(Queue, { onclose: vi.fn() });
  const mine = await asked('user');
  await screen.getByRole('button', { name: 'Everything' }).click();
  (await asked('all'))(new Response('JOBID of everybody'));
  const queue = screen.getByRole('region', { name: 'Queue' });
  await expect.element(queue).toHaveTextContent('JOBID of everybody');
  mine(refusal());
  await drawn();
  expect(screen.getByRole('alert').elements()).toHaveLength(0);
  await expect.element(queue).toHaveTextContent('JOBID of everybody');
});

it('is asked again by Refresh, and says why there is no answer', async () => {
  const screen = await render(Queue, { onclose: vi.fn() });
  (await asked('user'))(new Response(''));
  await expect.element(screen.getByText('The queue is empty.')).toBeVisible();
  await screen.getByRole('button', { name: 'Refresh' }).click();
  (await asked('user'))(refusal());
  await expect.element(screen.getByRole('alert')).toHaveTextContent('The cluster does not answer.');
});
