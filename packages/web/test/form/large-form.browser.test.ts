/** Forms with many fields, or long lists of them. */
import { expect, test } from 'vitest';

import { painted, threadTimeOf } from '../thread-time.ts';
import { show } from './show.ts';

const fields = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [`f${index}`, { type: 'integer', description: 'Some help.' }]),
  );
const ones = (count: number) => Object.fromEntries(Object.keys(fields(count)).map((key) => [key, 1]));
const list = { l: { type: 'array', title: 'List', items: { type: 'object', properties: fields(4) } } };
const items = (count: number) => ({ l: Array(count).fill({ f0: 1, f1: 1, f2: 1, f3: 1 }) as object[] });

interface Times {
  shown: number;
  typed: number;
}

/** What it takes to show it, and a letter. */
async function timesOf(properties: object, values: object, name: string, item?: string): Promise<Times> {
  let shownForm: Awaited<ReturnType<typeof show>> | undefined;
  const shown = await threadTimeOf(async () => (shownForm = await show(properties, { values })));
  const { screen } = shownForm!;
  if (item !== undefined) {
    (screen.getByRole('button', { name: /^List/ }).first().element() as HTMLElement).click();
    await expect.element(screen.getByRole('button', { name: item, exact: true })).toBeVisible();
    (screen.getByRole('button', { name: item, exact: true }).element() as HTMLElement).click();
  }
  const input = screen.getByRole('textbox', { name, exact: true });
  await expect.element(input).toBeVisible();
  const element = input.element() as HTMLInputElement;
  const typed: number[] = [];
  for (let letter = 0; letter < 10; letter++) {
    typed.push(
      await threadTimeOf(() => {
        element.value += '7';
        element.dispatchEvent(new InputEvent('input', { bubbles: true }));
      }),
    );
  }
  await screen.unmount();
  await painted();
  return { shown, typed: Math.min(...typed) };
}

test.each([
  ['500 fields', () => timesOf(fields(50), ones(50), 'f25'), () => timesOf(fields(500), ones(500), 'f250')],
  [
    'a list of 300 objects',
    () => timesOf(list, items(30), 'f2', 'List 15'),
    () => timesOf(list, items(300), 'f2', 'List 150'),
  ],
])('%s: as quick as a tenth of it, for each field and each letter', { timeout: 120_000 }, async (_, few, many) => {
  const best: Record<'small' | 'large', Times> = {
    small: { shown: Infinity, typed: Infinity },
    large: { shown: Infinity, typed: Infinity },
  };
  // what is new is slow
  await few();
  // ten times as many; what looks at every pair would take a hundred times as long
  const quick = () => best.large.shown / best.small.shown < 25 && best.large.typed / best.small.typed < 5;
  // garbage collection falls into some of them: the best of three times counts
  for (let again = 0; again < 3 && !quick(); again++) {
    for (const [size, times] of [
      ['small', await few()],
      ['large', await many()],
    ] as const) {
      best[size].shown = Math.min(best[size].shown, times.shown);
      best[size].typed = Math.min(best[size].typed, times.typed);
    }
  }
  expect(best.large.shown / best.small.shown).toBeLessThan(25);
  expect(best.large.typed / best.small.typed).toBeLessThan(5);
});
