import { describe, expect, it, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { render } from 'vitest-browser-svelte';

import FilterChip from '../../src/lib/images/FilterChip.svelte';
import Picker from '../../src/lib/ui/Picker.svelte';
import SearchBox from '../../src/lib/ui/SearchBox.svelte';

const options = ['A01', 'A02', 'B01'].map((name) => ({ value: name, name }));

describe('a picker', () => {
  it('opens at what is chosen, is searched by typing, and chooses with Enter', async () => {
    const onchange = vi.fn();
    const screen = await render(Picker, { label: 'Well', options, picked: ['A02'], onchange });
    const button = screen.getByRole('button', { name: 'Well: A02' });
    await button.click();
    const search = screen.getByRole('combobox', { name: 'Search in Well' });
    await expect.element(search).toHaveFocus();
    const activeOption = () => document.getElementById(search.element().getAttribute('aria-activedescendant')!)!;
    expect(activeOption().textContent.trim()).toBe('A02');
    await userEvent.keyboard('{ArrowDown}');
    expect(activeOption().textContent.trim()).toBe('B01');
    await userEvent.keyboard('a0{Enter}');
    expect(onchange).toHaveBeenCalledExactlyOnceWith(['A01']);
    await expect.element(button).toHaveFocus();
    await expect.element(screen.getByRole('listbox')).not.toBeInTheDocument();
  });

  it('takes a choice back, and closes with Esc', async () => {
    const onchange = vi.fn();
    const screen = await render(Picker, { label: 'Well', options, picked: ['A02'], onchange });
    await screen.getByRole('button', { name: 'Well: A02' }).click();
    await screen.getByRole('button', { name: 'Clear' }).click();
    expect(onchange).toHaveBeenCalledExactlyOnceWith([]);
    await screen.getByRole('button', { name: 'Well: A02' }).click();
    await userEvent.keyboard('zzz');
    await expect.element(screen.getByText('Nothing matches.')).toBeVisible();
    await userEvent.keyboard('{Escape}');
    await expect.element(screen.getByRole('button', { name: 'Well: A02' })).toHaveFocus();
    expect(onchange).toHaveBeenCalledTimes(1);
  });
});

describe('a chip', () => {
  it('chooses all that are found, and stays open for more', async () => {
    const onchange = vi.fn();
    const screen = await render(FilterChip, { name: 'well', several: true, options, picked: ['B01'], onchange });
    await screen.getByRole('button', { name: 'Filter by well B01' }).click();
    await userEvent.keyboard('a0');
    await screen.getByRole('button', { name: 'All' }).click();
    expect(onchange).toHaveBeenLastCalledWith(['B01', 'A01', 'A02']);
    await screen.getByRole('option', { name: 'A02' }).click();
    expect(onchange).toHaveBeenLastCalledWith(['B01', 'A02']);
    await expect.element(screen.getByRole('listbox')).toBeVisible();
  });

  it('with two choices is walked without a search', async () => {
    const onchange = vi.fn();
    const two = [
      { value: 'true', name: 'True' },
      { value: 'false', name: 'False' },
    ];
    const screen = await render(FilterChip, { name: 'is_3D', options: two, picked: [], onchange });
    await screen.getByRole('button', { name: 'Filter by is_3D' }).click();
    await expect.element(screen.getByRole('listbox')).toHaveFocus();
    await userEvent.keyboard('{ArrowDown} ');
    expect(onchange).toHaveBeenCalledExactlyOnceWith(['false']);
    await expect.element(screen.getByRole('button', { name: 'Filter by is_3D' })).toHaveFocus();
  });

  it('that is locked says why and does not open', async () => {
    const locked = 'The task takes these images only.';
    const screen = await render(FilterChip, { name: 'is_3D', options, picked: ['A01'], onchange: vi.fn(), locked });
    const button = screen.getByRole('button', { name: 'Filter by is_3D A01' });
    await expect.element(button).toHaveAccessibleDescription(locked);
    await button.click({ force: true });
    await expect.element(screen.getByRole('listbox')).not.toBeInTheDocument();
  });
});

describe('a search box', () => {
  it('keeps what is typed when a value comes that was asked for before', async () => {
    const onsearch = vi.fn();
    const props = { label: 'Search', value: '', onsearch, pause: 60_000 };
    const screen = await render(SearchBox, props);
    const input = screen.getByRole('searchbox', { name: 'Search' });
    await input.click();
    await userEvent.keyboard('nuclei {Enter}');
    expect(onsearch).toHaveBeenLastCalledWith('nuclei');
    await userEvent.keyboard('in 3D');
    await screen.rerender({ ...props, value: 'nuclei' });
    await expect.element(input).toHaveValue('nuclei in 3D');
    await userEvent.tab();
    expect(onsearch).toHaveBeenLastCalledWith('nuclei in 3D');
    await screen.rerender({ ...props, value: '' });
    await expect.element(input).toHaveValue('');
    expect(onsearch).toHaveBeenCalledTimes(2);
  });
});
