import { expect, it } from 'vitest';
import { page, userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';

import LogView from '../../src/lib/logs/LogView.svelte';
import '../../src/lib/styles/index.css';
import { threadTimeOf } from '../thread-time.ts';

const numbered = (count: number, begin = 'line') =>
  Array.from({ length: count }, (_, index) => `${begin} ${index + 1}`);
const FAILED = [
  'TASK ERROR: task 4 (Segment)',
  ...numbered(300, 'UserWarning: number'),
  'Traceback (most recent call last):',
  '  File "a.py", line 1, in run',
  'ValueError: no pixels',
  'Exit code 1',
].join('\n');

const region = () => page.getByRole('region', { name: 'Log of B/03/0' });
const isInView = (element: Element) => {
  const [line, box] = [element.getBoundingClientRect(), region().element().getBoundingClientRect()];
  return line.top >= box.top && line.bottom <= box.bottom;
};
const props = (text: string, more: object = {}) => ({ text, label: 'Log of B/03/0', file: 'image.log', ...more });

const opened = async (lines: number, text = numbered(lines).join('\n')) => {
  const screen = await render(LogView, props(text));
  const last = screen.getByText(`line ${lines}`, { exact: true });
  await expect.element(last).toBeVisible();
  return { screen, last };
};

it('opens a log of 50 000 lines at its end, at once', async () => {
  const best = { 5000: Infinity, 50_000: Infinity };
  // what is new is slow, and garbage collection falls into some of them: the best of three times counts
  for (let again = 0; again < 3; again++) {
    for (const lines of [5000, 50_000] as const) {
      const text = numbered(lines).join('\n');
      let shown: Awaited<ReturnType<typeof opened>> | undefined;
      const took = await threadTimeOf(async () => (shown = await opened(lines, text)));
      best[lines] = Math.min(best[lines], took);
      await shown!.screen.unmount();
    }
  }
  // to read it takes ten times as long; to draw it, no longer
  expect(best[50_000] / best[5000]).toBeLessThan(10);
  const { screen, last } = await opened(50_000);
  await expect.poll(() => isInView(last.element())).toBe(true);
  // only what is near is drawn
  expect(document.querySelectorAll('li').length).toBeLessThan(500);
  region().element().scrollTop = 0;
  await expect.element(screen.getByText('line 1', { exact: true })).toBeVisible();
});

it('of a failure shows its first line and its error, and the rest on demand', async () => {
  const screen = await render(LogView, props(FAILED, { failed: true }));
  await expect.element(screen.getByText('ValueError: no pixels')).toBeVisible();
  await expect.element(screen.getByText('TASK ERROR: task 4 (Segment)')).toBeVisible();
  expect(screen.getByText('UserWarning: number 7', { exact: true }).query()).toBeNull();
  const fold = screen.getByRole('button', { name: 'Show 302 lines, 300 warnings among them' });
  await fold.click();
  await expect.element(screen.getByText('UserWarning: number 7', { exact: true })).toBeVisible();
  await screen.getByRole('button', { name: 'Hide 302 lines, 300 warnings among them' }).click();
  await expect.element(screen.getByText('UserWarning: number 7', { exact: true })).not.toBeInTheDocument();
});

it('finds what is folded and walks through it', async () => {
  const screen = await render(LogView, props(FAILED, { failed: true }));
  const field = screen.getByRole('textbox', { name: 'Search in Log of B/03/0' });
  await userEvent.fill(field, 'NUMBER 30');
  await expect.element(screen.getByRole('status')).toHaveTextContent('1 of 2');
  await expect.poll(() => isInView(screen.getByText('UserWarning: number 30', { exact: true }).element())).toBe(true);
  await userEvent.keyboard('{Enter}');
  await expect.element(screen.getByRole('status')).toHaveTextContent('2 of 2');
  await expect.poll(() => isInView(screen.getByText('UserWarning: number 300', { exact: true }).element())).toBe(true);
  await userEvent.keyboard('{Shift>}{Enter}{/Shift}');
  await expect.element(screen.getByRole('status')).toHaveTextContent('1 of 2');
  await screen.getByRole('button', { name: 'Next match' }).click();
  await expect.element(screen.getByRole('status')).toHaveTextContent('2 of 2');
  await userEvent.fill(field, 'nowhere');
  await expect.element(screen.getByRole('status')).toHaveTextContent('Not found');
});

it('follows a log that grows until the reader scrolls up', async () => {
  const text = numbered(200).join('\n');
  const screen = await render(LogView, props(text, { following: true }));
  await expect.element(screen.getByText('Following')).toBeVisible();
  await screen.rerender({ text: `${text}\nnews 1` });
  await expect.poll(() => isInView(screen.getByText('news 1').element())).toBe(true);
  region().element().scrollTop = 0;
  const follow = screen.getByRole('button', { name: 'Follow' });
  await expect.element(follow).toBeVisible();
  await screen.rerender({ text: `${text}\nnews 1\nnews 2` });
  await expect.poll(() => isInView(screen.getByText('line 1', { exact: true }).element())).toBe(true);
  await follow.click();
  await expect.poll(() => isInView(screen.getByText('news 2').element())).toBe(true);
});

it('shows another log from its own end', async () => {
  const screen = await render(LogView, props(FAILED, { failed: true }));
  await screen.rerender({ text: numbered(5000, 'other').join('\n'), failed: false });
  await expect.poll(() => isInView(screen.getByText('other 5000', { exact: true }).element())).toBe(true);
});

it('goes to full width and back with Esc', async () => {
  const screen = await render(LogView, props(numbered(400).join('\n')));
  await screen.getByRole('button', { name: 'Full width' }).click();
  await expect.element(screen.getByRole('dialog', { name: 'Log of B/03/0' })).toBeVisible();
  await expect.poll(() => isInView(screen.getByText('line 400', { exact: true }).element())).toBe(true);
  await userEvent.keyboard('{Escape}');
  await expect.element(screen.getByRole('dialog')).not.toBeInTheDocument();
  await expect.element(screen.getByRole('button', { name: 'Full width' })).toHaveFocus();
  await expect.poll(() => isInView(screen.getByText('line 400', { exact: true }).element())).toBe(true);
});
