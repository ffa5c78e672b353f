import { afterEach, expect, test, vi } from 'vitest';

import { createRuns } from '../../src/routes/v2/projects/[project_id]/workflows/[workflow_id]/runs.svelte.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

test('an older answer about runs does not take the place of a newer one', async () => {
  const answers: PromiseWithResolvers<Response>[] = [];
  vi.spyOn(globalThis, 'fetch').mockImplementation(() => {
    answers.push(Promise.withResolvers<Response>());
    return answers.at(-1)!.promise;
  });
  const runs = createRuns(1);
  const idsOf = () => runs.of(2, 3)?.list?.map(({ id }) => id);
  const [first, second, third] = [runs.load(2, 3), runs.load(2, 3), runs.load(2, 3)];
  answers[1]!.resolve(Response.json([{ id: 1 }, { id: 2 }]));
  await second;
  expect(idsOf()).toBeUndefined();
  answers[2]!.resolve(Response.json([{ id: 1 }, { id: 2 }, { id: 3 }]));
  await third;
  expect(idsOf()).toEqual([1, 2, 3]);
  answers[0]!.resolve(Response.json({ detail: 'No.' }, { status: 409 }));
  await first;
  expect(idsOf()).toEqual([1, 2, 3]);
  expect(runs.of(2, 3)?.problem).toBeUndefined();
});
