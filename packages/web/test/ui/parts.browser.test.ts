import { createRawSnippet } from 'svelte';
import { describe, expect, it, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';

import Bar from '../../src/lib/ui/Bar.svelte';
import Dialog from '../../src/lib/ui/Dialog.svelte';
import Menu from '../../src/lib/ui/Menu.svelte';
import Pages from '../../src/lib/ui/Pages.svelte';
import Status from '../../src/lib/ui/Status.svelte';

const snippet = (html: string) => createRawSnippet(() => ({ render: () => html }));

describe('a bar', () => {
  it('tells its counts in words, and shows one failure among thousands', async () => {
    const screen = await render(Bar, { done: 9999, failed: 1, label: 'Images' });
    const bar = screen.getByRole('img');
    await expect.element(bar).toHaveAttribute('aria-label', 'Images: 9\u202f999 done, 1 failed of 10\u202f000');
    const failed = bar.element().querySelector('.failed')!;
    expect(Number(failed.getAttribute('width'))).toBe(8);
    const widths = [...bar.element().querySelectorAll('rect:not(.rest)')].map((one) =>
      Number(one.getAttribute('width')),
    );
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeCloseTo(1000);
  });

  it('that waits is dotted, and one that is full is not', async () => {
    const waiting = await render(Bar, { waiting: 5, total: 10, label: 'Waiting' });
    const dots = waiting
      .getByRole('img', { name: /^Waiting/ })
      .element()
      .querySelectorAll('line');
    expect([...dots].map((line) => [line.getAttribute('x1'), line.getAttribute('x2')])).toEqual([['0', '500']]);
    expect(getComputedStyle(dots[0]!).strokeDasharray).not.toBe('none');
    const full = await render(Bar, { done: 5, label: 'Full' });
    expect(full.getByRole('img', { name: /^Full/ }).element().querySelectorAll('line')).toHaveLength(0);
  });

  it('of nothing says so', async () => {
    const screen = await render(Bar, { total: 5, label: 'Images' });
    await expect.element(screen.getByRole('img')).toHaveAccessibleName('Images: nothing yet of 5');
  });
});

describe('a dialog', () => {
  it('takes the focus, says what is wrong, and closes with Esc', async () => {
    const onclose = vi.fn();
    const children = snippet('<label>Name <input /></label>');
    const screen = await render(Dialog, { title: 'New project', onclose, children, problem: 'Choose another name.' });
    await expect.element(screen.getByRole('dialog', { name: 'New project' })).toBeVisible();
    await expect.element(screen.getByRole('textbox')).toHaveFocus();
    await expect.element(screen.getByRole('alert')).toHaveTextContent('Choose another name.');
    await screen.getByRole('button', { name: 'Close' }).click();
    await vi.waitFor(() => expect(onclose).toHaveBeenCalledOnce());
  });

  it('that is longer than the window has what is wrong in sight, however far down it is scrolled', async () => {
    const children = snippet('<div style="height: 3000px"><button style="margin-top: 2900px">Far below</button></div>');
    const props = { title: 'New project', onclose: vi.fn(), children };
    const screen = await render(Dialog, props);
    const below = screen.getByRole('button', { name: 'Far below' });
    below.element().scrollIntoView();
    await screen.rerender({ ...props, problem: 'Choose another name.' });
    await expect.element(screen.getByRole('alert')).toBeInViewport({ ratio: 1 });
    await expect.element(below).toBeInViewport();
  });
});

describe('a menu', () => {
  it('opens, walks with the arrow keys, and gives the focus back', async () => {
    const children = snippet('<div><button class="item">One</button><button class="item">Two</button></div>');
    const screen = await render(Menu, { label: 'More', children });
    const button = screen.getByRole('button', { name: 'More' });
    await button.click();
    await expect.element(screen.getByText('One')).toHaveFocus();
    const press = (key: string) =>
      document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    press('ArrowDown');
    await expect.element(screen.getByText('Two')).toHaveFocus();
    press('ArrowDown');
    await expect.element(screen.getByText('One')).toHaveFocus();
    press('Escape');
    await expect.element(button).toHaveFocus();
    await expect.element(button).toHaveAttribute('aria-expanded', 'false');
  });

  it('stays open when what has the focus is no longer offered, and closes when the focus goes elsewhere', async () => {
    const children = snippet('<div><button class="item">One</button><button class="item">Two</button></div>');
    const screen = await render(Menu, { label: 'More', children });
    const button = screen.getByRole('button', { name: 'More' });
    await button.click();
    await expect.element(screen.getByText('One')).toHaveFocus();
    screen.getByText('One').element().remove();
    await expect.element(screen.getByText('Two')).toHaveFocus();
    await expect.element(button).toHaveAttribute('aria-expanded', 'true');
    (document.activeElement as HTMLElement).blur();
    await expect.element(button).toHaveAttribute('aria-expanded', 'false');
  });
});

it('a status without its word still says it', async () => {
  const screen = await render(Status, { state: { look: 'failed', word: 'Failed' }, shown: false });
  await expect.element(screen.getByRole('img', { name: 'Failed' })).toBeInTheDocument();
});

it('pages are chosen by number, and another size begins at the first', async () => {
  const onchange = vi.fn();
  const screen = await render(Pages, { page: 2, pageSize: 10, total: 45, onchange });
  await screen.getByRole('button', { name: 'Page 5' }).click();
  await screen.getByRole('combobox').selectOptions('50');
  expect(onchange.mock.calls).toEqual([
    [5, 10],
    [1, 50],
  ]);
});
