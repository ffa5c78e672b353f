/** Forms for arguments in a real browser: what is seen and done. */
import { describe, expect, test, vi } from 'vitest';
import { render } from 'vitest-browser-svelte';
import { userEvent } from 'vitest/browser';

import ArgumentsForm from '#lib/form/ArgumentsForm.svelte';
import { type ArgumentsChange } from '#lib/form/blocks.ts';
import { parseJson, writeJson } from '#lib/json.ts';
import { type DataNames } from '#lib/form/names.ts';

import { show } from './show.ts';

const UNION = {
  title: 'Filter',
  oneOf: [{ $ref: '#/$defs/Gauss' }, { $ref: '#/$defs/Median' }],
  discriminator: { propertyName: 'kind', mapping: {} },
};
const VARIANTS = {
  required: ['filter'],
  $defs: {
    Gauss: {
      title: 'Gaussian',
      type: 'object',
      properties: { kind: { const: 'gauss' }, sigma: { type: 'number', title: 'Sigma', default: 2 } },
      additionalProperties: false,
    },
    Median: {
      title: 'Median filter',
      type: 'object',
      properties: {
        kind: { const: 'median', description: 'Removes speckles.' },
        size: { type: 'integer', title: 'Size' },
      },
      additionalProperties: false,
    },
  },
};

describe('scalars', () => {
  test('text: empty is null, the description and the message belong to the field', async () => {
    const { screen, sent, last } = await show(
      { a: { type: 'string', title: 'Name', description: 'Letters *only*.', pattern: '^[a-z]*$' } },
      { extra: { required: ['a'] } },
    );
    const input = screen.getByRole('textbox', { name: 'Name (required)' });
    await expect.element(input).toHaveAccessibleDescription('Letters only. This is required.');
    await input.fill('A1');
    await expect.element(input).toHaveAccessibleDescription(/Does not fit the pattern/);
    await expect.element(input).toHaveAttribute('aria-invalid', 'true');
    await input.fill('abc');
    await expect.element(input).toHaveAccessibleDescription('Letters only.');
    expect(sent()).toEqual({ a: 'abc' });
    expect(last().valid).toBe(true);
    await input.fill('');
    await expect.poll(sent).toEqual({});
  });

  test('a constant is locked', async () => {
    const { screen, sent } = await show({ a: { type: 'string', const: 'fixed', title: 'Constant' } });
    const input = screen.getByRole('textbox', { name: 'Constant' });
    await expect.element(input).toHaveValue('fixed');
    await expect.element(input).toHaveAttribute('readonly');
    expect(sent()).toEqual({ a: 'fixed' });
  });

  test('a number keeps what was typed, and what is no number is kept and said', async () => {
    const { screen, sent, last } = await show(
      { a: { type: 'number', title: 'Size' } },
      { values: parseJson('{"a":1.0}') },
    );
    const input = screen.getByRole('textbox', { name: 'Size' });
    await expect.element(input).toHaveValue('1.0');
    expect(writeJson(sent())).toBe('{"a":1.0}');
    expect(last().changed).toBe(false);
    await input.fill('2.50');
    await expect.poll(() => writeJson(sent())).toBe('{"a":2.50}');
    await input.fill('12abc');
    await expect.element(input).toHaveAccessibleDescription(/Enter a number/);
    await expect.element(input).toHaveValue('12abc');
    expect(sent()).toEqual({ a: '12abc' });
    await input.fill('1.0');
    await expect.poll(() => last().changed).toBe(false);
  });

  test('a switch: unset, on, off, and unset again in legacy dialects', async () => {
    const { screen, sent } = await show({ a: { type: 'boolean', title: 'Flag' } });
    const flag = screen.getByRole('checkbox', { name: 'Flag' });
    await expect.element(flag).toHaveAttribute('aria-checked', 'mixed');
    await flag.click();
    await expect.element(flag).toHaveAttribute('aria-checked', 'true');
    await expect.poll(sent).toEqual({ a: true });
    await flag.click();
    await expect.poll(sent).toEqual({ a: false });
    await screen.getByRole('button', { name: 'Unset Flag' }).click();
    await expect.element(flag).toHaveAttribute('aria-checked', 'mixed');
    await expect.poll(sent).toEqual({});
  });

  test('no way back to unset where null is a value', async () => {
    const { screen } = await show(
      { a: { type: 'boolean', title: 'Flag', default: true } },
      { dialect: 'fractal_schema_v1' },
    );
    await expect.element(screen.getByRole('checkbox', { name: 'Flag' })).toHaveAttribute('aria-checked', 'true');
    expect(screen.getByRole('button', { name: 'Unset Flag' }).query()).toBeNull();
  });

  test('a choice keeps the type of its values; an unlisted one stays', async () => {
    const { screen, sent } = await show({ a: { enum: ['x', 0, 1], title: 'Choice' } }, { values: { a: 7 } });
    const select = screen.getByRole('combobox', { name: 'Choice' });
    await expect.element(select).toHaveDisplayValue('7 (not in the list)');
    await expect.element(select).toHaveAccessibleDescription('Choose one of the listed values.');
    await select.selectOptions('0');
    await expect.poll(sent).toEqual({ a: 0 });
    await expect.element(select).toHaveDisplayValue('0');
    await select.selectOptions('not set');
    await expect.poll(sent).toEqual({});
  });

  test('with a default the empty choice is only there until a choice is made', async () => {
    const { screen } = await show(
      { a: { enum: ['x', 'y'], default: 'x', title: 'Choice' }, b: {} },
      { values: { b: 1 } },
    );
    const select = screen.getByRole('combobox', { name: 'Choice' });
    await expect.element(select).toHaveDisplayValue('x (default)');
    await select.selectOptions('y');
    await expect.element(screen.getByRole('option', { name: 'x (default)' })).not.toBeInTheDocument();
  });
});

describe('blocks', () => {
  const group = { type: 'object', title: 'Group', properties: { a: { type: 'integer', title: 'A', default: 3 } } };

  test('a nullable block has a switch', async () => {
    const { screen, sent } = await show(
      { g: { anyOf: [group, { type: 'null' }], default: null, title: 'Outer' } },
      { dialect: 'fractal_schema_v1' },
    );
    expect(sent()).toEqual({ g: null });
    await expect.element(screen.getByRole('button', { name: 'Outer' })).toHaveAttribute('aria-disabled', 'true');
    const use = screen.getByRole('switch', { name: 'Use Outer' });
    await use.click();
    await expect.element(screen.getByRole('textbox', { name: 'A' })).toHaveValue('3');
    await expect.poll(sent).toEqual({ g: { a: 3 } });
    await use.click();
    await expect.element(screen.getByRole('textbox', { name: 'A' })).not.toBeInTheDocument();
    await expect.poll(sent).toEqual({ g: null });
  });

  test('what no form can show is edited as JSON, the rest works', async () => {
    const { screen, sent, last } = await show(
      { a: { anyOf: [{ type: 'integer' }, { type: 'string' }], title: 'Odd' }, b: { type: 'string', title: 'Plain' } },
      { values: { a: 1, b: 'x' } },
    );
    await expect.element(screen.getByText('No form for this field (/a). Edit as JSON.')).toBeVisible();
    const odd = screen.getByRole('textbox', { name: 'Odd' });
    await odd.fill('"te');
    await expect.element(odd).toHaveAccessibleDescription(/Line 1, column 4/);
    await expect.poll(() => last().readable).toBe(false);
    await odd.fill('"text"');
    await screen.getByRole('textbox', { name: 'Plain' }).fill('y');
    await expect.poll(sent).toEqual({ a: 'text', b: 'y' });
    expect(last().readable).toBe(true);
  });

  test('required blocks are open, optional ones folded, and one with a mistake inside is marked', async () => {
    const { screen } = await show(
      { open: { ...group, title: 'Open' }, shut: { ...group, title: 'Shut' } },
      { extra: { required: ['open'] }, values: { open: { a: 1 }, shut: { a: 'q' } } },
    );
    await expect.element(screen.getByRole('button', { name: /^Open/ })).toHaveAttribute('aria-expanded', 'true');
    const shut = screen.getByRole('button', { name: /^Shut/ });
    await expect.element(shut).toHaveAttribute('aria-expanded', 'false');
    await expect.element(shut).toMatchTextContent(/needs attention/);
    await shut.click();
    await expect.element(screen.getByRole('textbox', { name: 'A' }).nth(1)).toHaveValue('q');
  });

  test('entries with names of their own: add, refuse, remove', async () => {
    const record = { type: 'object', title: 'Sizes', additionalProperties: { type: 'integer', default: 5 } };
    const { screen, sent } = await show({ r: record }, { extra: { required: ['r'] } });
    const name = screen.getByRole('textbox', { name: 'Name of the new entry of Sizes' });
    const add = screen.getByRole('button', { name: 'Add entry to Sizes' });
    await add.click();
    await expect.element(name).toHaveAccessibleDescription('Enter a name first.');
    await name.fill('first');
    await userEvent.keyboard('{Enter}');
    await expect.element(screen.getByRole('textbox', { name: 'first' })).toHaveValue('5');
    await name.fill('first');
    await add.click();
    await expect.element(name).toHaveAccessibleDescription('“first” exists already. Use another name.');
    await expect.poll(sent).toEqual({ r: { first: 5 } });
    await screen.getByRole('button', { name: 'Remove first' }).click();
    await expect.poll(sent).toEqual({});
  });

  test('any extra value can be added, edited and removed', async () => {
    const { screen, sent, last } = await show(
      { o: { type: 'object', title: 'Bag' } },
      { extra: { required: ['o'] }, values: { o: { n: [1, null] } } },
    );
    await expect.element(screen.getByRole('textbox', { name: 'Value of n 1' })).toHaveValue('1');
    await screen.getByRole('textbox', { name: 'Value of n 1' }).fill('-2e3');
    await screen.getByRole('textbox', { name: 'Name of the new entry of Bag' }).fill('more');
    await screen.getByRole('button', { name: 'Add entry to Bag' }).click();
    await screen.getByRole('textbox', { name: 'Value of more' }).fill('x');
    await expect.poll(() => writeJson(sent())).toBe('{"o":{"n":[-2e3],"more":"x"}}');
    expect(last().valid).toBe(true);
    await screen.getByRole('button', { name: 'Remove n', exact: true }).click();
    await expect.poll(sent).toEqual({ o: { more: 'x' } });
  });

  test('an unexpected value is shown, said and removable', async () => {
    const { screen, sent, last } = await show(
      { a: { type: 'string' } },
      { extra: { additionalProperties: false }, values: { old: { deep: 1 } } },
    );
    const block = screen.getByRole('group', { name: /^old/ });
    await expect.element(block).toHaveAccessibleDescription('Not expected here. Remove it.');
    await expect.element(screen.getByRole('textbox', { name: 'Value of deep' })).toHaveValue('1');
    expect(last().valid).toBe(false);
    await screen.getByRole('button', { name: 'Remove old' }).click();
    await expect.poll(() => last().valid).toBe(true);
    expect(sent()).toEqual({});
  });

  test('a value of a wrong kind is shown, said and replaceable', async () => {
    const { screen, sent } = await show({ g: group }, { values: { g: 'text' } });
    await expect
      .element(screen.getByRole('group', { name: /^Group/ }))
      .toHaveAccessibleDescription('A group of named values is expected here.');
    await expect.element(screen.getByRole('textbox', { name: 'Value of Group' })).toHaveValue('text');
    await screen.getByRole('button', { name: 'Replace Group by its default' }).click();
    await expect.poll(sent).toEqual({ g: { a: 3 } });
  });
});

describe('lists and tuples', () => {
  const list = { type: 'array', title: 'Levels', items: { type: 'integer' }, minItems: 1, maxItems: 3 };
  const numbers = (screen: Awaited<ReturnType<typeof show>>['screen']) =>
    screen
      .getByRole('textbox')
      .elements()
      .map((input) => (input as HTMLInputElement).value);

  test('add, remove, move, with the keyboard too; the limits are told', async () => {
    const { screen, sent } = await show({ l: list }, { extra: { required: ['l'] }, values: { l: [1, 2] } });
    await expect.element(screen.getByRole('textbox', { name: 'Levels 2' })).toHaveValue('2');
    await screen.getByRole('button', { name: 'Add to Levels' }).click();
    await screen.getByRole('textbox', { name: 'Levels 3' }).fill('3');
    const add = screen.getByRole('button', { name: 'Add to Levels' });
    await expect.element(add).toHaveAttribute('aria-disabled', 'true');
    await expect.element(add).toHaveAccessibleDescription('At most 3 items.');
    const up = screen.getByRole('button', { name: 'Move Levels 3 up' });
    (up.element() as HTMLElement).focus();
    await userEvent.keyboard('{Enter}');
    await expect.poll(sent).toEqual({ l: [1, 3, 2] });
    await expect.element(screen.getByRole('button', { name: 'Move Levels 2 up' })).toHaveFocus();
    await userEvent.keyboard('{Enter}');
    await expect.poll(sent).toEqual({ l: [3, 1, 2] });
    await screen.getByRole('button', { name: 'Remove Levels 1' }).click();
    await screen.getByRole('button', { name: 'Remove Levels 1' }).click();
    await expect.poll(sent).toEqual({ l: [2] });
    await expect
      .element(screen.getByRole('button', { name: 'Remove Levels 1' }))
      .toHaveAttribute('aria-disabled', 'true');
  });

  test('messages follow an item that moves', async () => {
    const { screen } = await show({ l: list }, { values: { l: [1, 'q'] } });
    await expect
      .element(screen.getByRole('textbox', { name: 'Levels 2' }))
      .toHaveAccessibleDescription('Enter a whole number.');
    await screen.getByRole('button', { name: 'Move Levels 2 up' }).click();
    await expect
      .element(screen.getByRole('textbox', { name: 'Levels 1' }))
      .toHaveAccessibleDescription('Enter a whole number.');
    await expect.element(screen.getByRole('textbox', { name: 'Levels 2' })).not.toHaveAttribute('aria-describedby');
    expect(numbers(screen)).toEqual(['q', '1']);
  });

  test('an optional legacy tuple is added and removed', async () => {
    const tuple = {
      type: 'array',
      title: 'Pair',
      items: [{ type: 'integer', default: 4 }, { type: 'string' }],
      minItems: 2,
      maxItems: 2,
    };
    const { screen, sent } = await show({ t: tuple }, { dialect: 'pydantic_v1' });
    await screen.getByRole('button', { name: 'Add Pair' }).click();
    await expect.element(screen.getByRole('textbox', { name: 'Pair 1' })).toHaveValue('4');
    await expect.poll(sent).toEqual({ t: [4, null] });
    await screen.getByRole('button', { name: 'Remove Pair' }).click();
    await expect.poll(sent).toEqual({});
  });

  test('elsewhere all positions are always there', async () => {
    const triple = { type: 'array', title: 'Triple', items: { type: 'number' }, minItems: 3, maxItems: 3 };
    const { screen, sent } = await show({ t: triple }, { dialect: 'fractal_schema_v1' });
    await screen.getByRole('textbox', { name: 'Triple 3' }).fill('1.5');
    await expect.poll(sent).toEqual({ t: [null, null, 1.5] });
    expect(screen.getByRole('button', { name: 'Remove Triple' }).query()).toBeNull();
  });

  test('values beyond the last position are shown and removable', async () => {
    const tuple = { type: 'array', title: 'Pair', items: [{ type: 'integer' }], minItems: 1, maxItems: 1 };
    const { screen, sent, last } = await show({ t: tuple }, { dialect: 'pydantic_v1', values: { t: [1, 'more'] } });
    await expect.element(screen.getByRole('textbox', { name: 'Value of Pair 2' })).toHaveValue('more');
    await screen.getByRole('button', { name: 'Remove Pair 2' }).click();
    await expect.poll(sent).toEqual({ t: [1] });
    expect(last().valid).toBe(true);
  });
});

describe('variants', () => {
  test('choosing replaces the value, and going back loses nothing', async () => {
    const { screen, sent } = await show({ filter: UNION }, { extra: VARIANTS });
    const select = screen.getByRole('combobox', { name: 'Kind of Filter' });
    await expect.element(select).toHaveDisplayValue('Gaussian');
    expect(screen.getByRole('textbox', { name: 'kind' }).query()).toBeNull();
    await screen.getByRole('textbox', { name: 'Sigma' }).fill('9');
    await select.selectOptions('Median filter');
    await expect.element(select).toHaveAccessibleDescription('Removes speckles.');
    await expect.poll(sent).toEqual({ filter: { kind: 'median' } });
    await screen.getByRole('textbox', { name: 'Size' }).fill('3');
    await select.selectOptions('Gaussian');
    await expect.element(screen.getByRole('textbox', { name: 'Sigma' })).toHaveValue('9');
    await expect.poll(sent).toEqual({ filter: { kind: 'gauss', sigma: 9 } });
    await select.selectOptions('Median filter');
    await expect.element(screen.getByRole('textbox', { name: 'Size' })).toHaveValue('3');
  });

  test('in a list the title is that of the variant', async () => {
    const { screen } = await show(
      { filters: { type: 'array', title: 'Filters', items: { ...UNION, title: undefined } } },
      { extra: { $defs: VARIANTS.$defs }, values: { filters: [{ kind: 'median', size: 1 }] } },
    );
    await expect.element(screen.getByRole('button', { name: 'Median filter Filters 1' })).toBeVisible();
  });

  test('an unknown tag: choose; what is left over is shown', async () => {
    const { screen, sent, last } = await show(
      { filter: UNION },
      { extra: VARIANTS, values: { filter: { kind: 'mean', radius: 4 } } },
    );
    const select = screen.getByRole('combobox', { name: 'Kind of Filter' });
    await expect.element(select).toHaveDisplayValue('choose');
    await expect.element(screen.getByRole('textbox', { name: 'Value of radius' })).toHaveValue('4');
    expect(last().valid).toBe(false);
    await select.selectOptions('Gaussian');
    await expect.poll(sent).toEqual({ filter: { kind: 'gauss', sigma: 2 } });
    expect(last().valid).toBe(true);
  });

  test('without a tag the stored value chooses, and the person can', async () => {
    const union = {
      title: 'Either',
      oneOf: [
        {
          title: 'By number',
          type: 'object',
          properties: { n: { type: 'integer', title: 'N' } },
          required: ['n'],
          additionalProperties: false,
        },
        {
          title: 'By name',
          type: 'object',
          properties: { s: { type: 'string', title: 'S' } },
          required: ['s'],
          additionalProperties: false,
        },
      ],
    };
    const { screen, last } = await show({ u: union }, { extra: { required: ['u'] }, values: { u: { s: 'a' } } });
    const select = screen.getByRole('combobox', { name: 'Kind of Either' });
    await expect.element(select).toHaveDisplayValue('By name');
    await select.selectOptions('By number');
    await screen.getByRole('textbox', { name: 'N (required)' }).fill('q');
    await expect
      .element(screen.getByRole('textbox', { name: 'N (required)' }))
      .toHaveAccessibleDescription('Enter a whole number.');
    await expect.element(select).toHaveDisplayValue('By number');
    expect(last().valid).toBe(false);
  });
});

describe('what is not set', () => {
  const properties = {
    text: { type: 'string', title: 'Text', default: 'FOV_ROI_table' },
    number: { type: 'number', title: 'Number', default: 2.5 },
    flag: { type: 'boolean', title: 'Flag', default: true },
  };

  test('shows the default that will be used, in grey, where it will be', async () => {
    const { screen, sent } = await show(properties, { values: { other: 1 } });
    await expect.element(screen.getByRole('textbox', { name: 'Text' })).toHaveAttribute('placeholder', 'FOV_ROI_table');
    await expect.element(screen.getByRole('textbox', { name: 'Number' })).toHaveAttribute('placeholder', '2.5');
    await expect.element(screen.getByText('On (default)')).toBeVisible();
    await expect.element(screen.getByRole('checkbox', { name: 'Flag' })).toHaveAccessibleDescription('On (default)');
    expect(sent()).toEqual({ other: 1 });
  });

  test('shows nothing where null is sent as it is', async () => {
    const { screen } = await show(properties, { values: { text: null }, dialect: 'fractal_schema_v1' });
    await expect.element(screen.getByRole('textbox', { name: 'Text' })).not.toHaveAttribute('placeholder');
    await expect.element(screen.getByText('Not set')).toBeVisible();
  });
});

describe('what is in sight', () => {
  test('a number takes the room of a number', async () => {
    const { screen } = await show({ n: { type: 'number', title: 'Sigma' }, t: { type: 'string', title: 'Folder' } });
    const width = (name: string) => screen.getByRole('textbox', { name }).element().getBoundingClientRect().width;
    expect(width('Sigma')).toBeLessThan(180);
    expect(width('Folder')).toBeGreaterThan(180);
  });

  test('a block opens by itself where something in it must be filled in or names the data', async () => {
    const block = (properties: object, extra: object = {}) => ({ type: 'object', properties, ...extra });
    const { screen } = await show(
      {
        must: block({ a: { type: 'string', title: 'Must' } }, { required: ['a'] }),
        data: block({ label_name: { type: 'string', title: 'Label' } }),
        rest: block({ a: { type: 'string', title: 'Rest' } }),
      },
      { values: { must: {}, data: {}, rest: {} } },
    );
    await expect.element(screen.getByRole('textbox', { name: 'Must (required)' })).toBeVisible();
    await expect.element(screen.getByRole('textbox', { name: 'Label' })).toBeVisible();
    await expect.element(screen.getByRole('textbox', { name: 'Rest' })).not.toBeInTheDocument();
  });

  test('a folded variant says which one it is', async () => {
    const { screen } = await show({ filter: UNION }, { extra: { $defs: VARIANTS.$defs } });
    await expect.element(screen.getByRole('button', { name: 'Filter Gaussian' })).toBeVisible();
  });

  test('help that only repeats the label is left out', async () => {
    const { screen } = await show({
      overwrite: { type: 'string', title: 'Overwrite', description: 'Overwrite.' },
      label_name: { type: 'string', title: 'Label Name', description: 'Name of the label' },
    });
    for (const name of ['Overwrite', 'Label Name']) {
      await expect.element(screen.getByRole('textbox', { name })).not.toHaveAttribute('aria-describedby');
    }
  });

  test('a list of anything is edited as JSON where it is', async () => {
    const { screen, sent } = await show(
      { l: { type: 'array', title: 'Anything', items: {} } },
      { values: { l: [1, 'a'] } },
    );
    const editor = screen.getByRole('textbox', { name: 'Anything' });
    await editor.fill('[{"a": 1}, null]');
    await expect.poll(sent).toEqual({ l: [{ a: 1 }] });
    await expect.element(screen.getByText('No form for this field (/l). Edit as JSON.')).toBeVisible();
  });
});

describe('an argument that names the data', () => {
  const names: DataNames = {
    contents: {
      channels: [
        { label: 'DAPI', wavelength_id: 'A01_C01' },
        { label: 'GFP', wavelength_id: 'A02_C02' },
      ],
      labels: ['nuclei'],
      tables: [],
    },
    attributes: { acquisition: [0, 1] },
  };
  const channel = {
    type: 'object',
    title: 'Channel',
    properties: {
      mode: { enum: ['label', 'wavelength_id', 'index'], title: 'Mode', default: 'label' },
      identifier: { type: 'string', title: 'Identifier' },
    },
    required: ['identifier'],
  };

  test('offers what the dataset has, also when a wrong name is there, and takes anything typed', async () => {
    const { screen, sent } = await show(
      { channel },
      { names, values: { channel: { mode: 'label', identifier: 'DPI' } }, extra: { required: ['channel'] } },
    );
    const input = screen.getByRole('combobox', { name: 'Identifier (required)' });
    await expect.element(input).toHaveAccessibleDescription('No channel “DPI” in this dataset.');
    await expect.element(input).toHaveAttribute('aria-invalid', 'false');
    await input.click();
    await expect.element(screen.getByRole('option', { name: 'GFP A02_C02' })).toBeVisible();
    await userEvent.keyboard('{ArrowDown}{Enter}');
    await expect.poll(sent).toEqual({ channel: { mode: 'label', identifier: 'DAPI' } });
    await expect.element(screen.getByRole('listbox')).not.toBeInTheDocument();
    await input.fill('tubulin');
    await expect.poll(sent).toEqual({ channel: { mode: 'label', identifier: 'tubulin' } });
    // by the other name of channels
    await screen.getByRole('combobox', { name: 'Mode' }).selectOptions('wavelength_id');
    await input.fill('a02');
    await expect.element(screen.getByRole('option', { name: 'A02_C02 GFP' })).toBeVisible();
    await userEvent.keyboard('{Escape}');
    await expect.element(screen.getByRole('listbox')).not.toBeInTheDocument();
    await screen.getByRole('button', { name: 'Use A02_C02' }).click();
    await expect.poll(sent).toEqual({ channel: { mode: 'wavelength_id', identifier: 'A02_C02' } });
  });

  test('is the same field before and after the dataset is known, and numbers are numbers', async () => {
    const given = { reference_acquisition: { type: 'integer', title: 'Acquisition' } };
    const { screen, sent } = await show(given);
    const plain = screen.getByRole('textbox', { name: 'Acquisition' }).element();
    plain.focus();
    await screen.rerender({ names });
    const input = screen.getByRole('combobox', { name: 'Acquisition' });
    expect(input.element()).toBe(plain);
    await expect.element(input).toHaveFocus();
    await userEvent.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}{Enter}');
    await expect.poll(sent).toEqual({ reference_acquisition: 1 });
  });

  test('may be the name of an entry', async () => {
    const constants = {
      type: 'object',
      title: 'Constants',
      description: 'Dictionary where keys match the "wavelength_id" of channels.',
      additionalProperties: { type: 'integer' },
    };
    const { screen, sent } = await show({ constants }, { names, extra: { required: ['constants'] } });
    await screen.getByRole('combobox', { name: 'Name of the new entry of Constants' }).click();
    await screen.getByRole('option', { name: 'A01_C01 DAPI' }).click();
    await screen.getByRole('button', { name: 'Add entry to Constants' }).click();
    await screen.getByRole('textbox', { name: 'A01_C01' }).fill('7');
    await expect.poll(sent).toEqual({ constants: { A01_C01: 7 } });
  });

  test('offers nothing where it cannot be changed', async () => {
    const { screen } = await show(
      { label_name: { type: 'string', title: 'Label' } },
      { names, readOnly: true, values: { label_name: 'nuclej' } },
    );
    await screen.getByRole('combobox', { name: 'Label' }).click();
    await expect.element(screen.getByRole('listbox')).not.toBeInTheDocument();
    await expect.element(screen.getByRole('button', { name: 'Use nuclei' })).not.toBeInTheDocument();
  });
});

describe('the form as a whole', () => {
  test('Reset brings the default back', async () => {
    const { screen, sent } = await show(
      { l: { type: 'array', title: 'List', items: { type: 'integer' }, default: [1, 2] } },
      { values: { l: [9] } },
    );
    await screen.getByRole('button', { name: 'Reset List' }).click();
    await expect.poll(sent).toEqual({ l: [1, 2] });
    await expect.element(screen.getByRole('button', { name: 'Reset List' })).not.toBeInTheDocument();
  });

  test('a schema with a mistake: it is said, and the arguments are edited as JSON', async () => {
    const { screen, sent } = await show({ a: { $ref: '#/$defs/Away' } }, { values: { a: 1 } });
    await expect
      .element(screen.getByRole('alert'))
      .toMatchTextContent(/at #\/properties\/a\/\$ref: nothing is at #\/\$defs\/Away/);
    await screen.getByRole('textbox', { name: 'Arguments as JSON' }).fill('{"a": 2.0}');
    await expect.poll(() => writeJson(sent())).toBe('{"a":2.0}');
  });

  test('what belongs to no field stands above the form', async () => {
    const { screen } = await show(
      { a: { type: 'string' }, b: { type: 'string' } },
      { extra: { minProperties: 2 }, values: { a: 'x' } },
    );
    await expect.element(screen.getByRole('alert')).toMatchTextContent('Give at least 2 entries.');
  });

  test('read-only: values are seen, blocks unfold, nothing changes', async () => {
    const { screen, sent } = await show(
      {
        t: { type: 'string', title: 'Text' },
        f: { type: 'boolean', title: 'Flag' },
        c: { enum: ['x'], title: 'Choice' },
        l: {
          type: 'array',
          title: 'List',
          items: { type: 'object', title: 'Item', properties: { a: { type: 'string', title: 'A' } } },
        },
      },
      { readOnly: true, values: { t: 'a', f: true, c: 'x', l: [{ a: 'deep' }] } },
    );
    await expect.element(screen.getByRole('textbox', { name: 'Text' })).toHaveAttribute('readonly');
    await expect.element(screen.getByRole('combobox', { name: 'Choice' })).toBeDisabled();
    const flag = screen.getByRole('checkbox', { name: 'Flag' });
    (flag.element() as HTMLElement).click();
    await expect.element(flag).toHaveAttribute('aria-checked', 'true');
    expect(screen.getByRole('button', { name: /Move|Remove|Add|Unset|Reset/ }).elements()).toEqual([]);
    await expect.element(screen.getByRole('textbox', { name: 'A' })).toHaveValue('deep');
    expect(sent()).toEqual({ t: 'a', f: true, c: 'x', l: [{ a: 'deep' }] });
  });

  test('defaults that nobody saved are shown, with a note, and can be saved', async () => {
    const { screen, last } = await show({ a: { type: 'integer', default: 3, title: 'A' } });
    await expect.element(screen.getByText('Task defaults, not saved yet.')).toBeVisible();
    expect(last()).toMatchObject({ changed: true, valid: true, values: { args_parallel: { a: 3 } } });
  });

  test('Advanced folds optional arguments at their default, and opens for a mistake', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'integer', default: 1 }]));
    const { screen } = await show(properties, {
      extra: { required: ['a'] },
      values: { a: 1, b: 2, c: 1, d: 1, e: 1, f: 1, g: 1 },
    });
    const advanced = screen.getByRole('button', { name: 'Advanced, 5 arguments at their defaults' });
    await expect.element(screen.getByRole('textbox', { name: 'b' })).toBeVisible();
    expect(screen.getByRole('textbox', { name: 'c' }).query()).toBeNull();
    await advanced.click();
    await screen.getByRole('textbox', { name: 'c' }).fill('q');
    const opened = screen.getByRole('button', { name: 'Advanced, 5 arguments' });
    (opened.element() as HTMLElement).click();
    await expect.element(screen.getByRole('textbox', { name: 'c' })).toBeVisible();
  });

  test('JSON beside the form: both show the same values, and a mistake has a line and a column', async () => {
    const { screen, sent, last } = await show(
      { a: { type: 'number', title: 'A' } },
      { values: parseJson('{"a":1.0}') },
    );
    await screen.getByRole('button', { name: 'JSON' }).click();
    const text = screen.getByRole('textbox', { name: 'Arguments as JSON' });
    await expect.element(text).toHaveValue('{\n  "a": 1.0\n}');
    await text.fill('{\n  "a": 1.0,\n}');
    await expect.element(text).toHaveAccessibleDescription(/Line 3, column 1/);
    await expect.poll(() => last().readable).toBe(false);
    await text.fill('{"a": null, "b": ""}');
    await expect.poll(sent).toEqual({});
    await expect.element(text).toHaveValue('{"a": null, "b": ""}');
    await text.fill('{"a": 5.0, "b": 1}');
    await expect.poll(() => writeJson(sent())).toBe('{"a":5.0,"b":1}');
    await screen.getByRole('button', { name: 'Form' }).click();
    await expect.element(screen.getByRole('textbox', { name: 'A', exact: true })).toHaveValue('5.0');
  });

  test('after a save nothing is changed any more, and a draft is gone on with', async () => {
    const onchange = vi.fn<(change: ArgumentsChange) => void>();
    const schemas = {
      type: 'parallel' as const,
      args_schema_version: 'pydantic_v2',
      args_schema_non_parallel: null,
      args_schema_parallel: { type: 'object', properties: { a: { type: 'integer', title: 'A' } } },
    };
    const values = { args_parallel: { a: 1 } };
    const screen = await render(ArgumentsForm, { schemas, values, draft: { args_parallel: { a: 2 } }, onchange });
    await expect.element(screen.getByRole('textbox', { name: 'A' })).toHaveValue('2');
    expect(onchange.mock.lastCall![0].changed).toBe(true);
    await screen.rerender({ values: { args_parallel: { a: 2 } } });
    await expect.poll(() => onchange.mock.lastCall![0].changed).toBe(false);
  });

  test('compound tasks have two blocks with headings', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string', title: 'A' } } };
    const screen = await render(ArgumentsForm, {
      schemas: {
        type: 'compound',
        args_schema_version: 'pydantic_v2',
        args_schema_non_parallel: schema,
        args_schema_parallel: schema,
      },
      values: {},
    });
    const headings = screen
      .getByRole('heading')
      .elements()
      .map((heading) => heading.textContent);
    expect(headings).toEqual(['Init arguments', 'Compute arguments']);
  });

  test('a task without arguments says so', async () => {
    const { screen } = await show({ zarr_url: { type: 'string' } });
    await expect.element(screen.getByText('This task has no arguments.')).toBeVisible();
  });

  test('without a schema the arguments are free-form', async () => {
    const onchange = vi.fn<(change: ArgumentsChange) => void>();
    const screen = await render(ArgumentsForm, {
      schemas: {
        type: 'parallel',
        args_schema_version: null,
        args_schema_non_parallel: null,
        args_schema_parallel: null,
      },
      values: { args_parallel: { a: null } },
      onchange,
    });
    await screen.getByRole('combobox', { name: 'Type of a' }).selectOptions('number');
    const value = screen.getByRole('textbox', { name: 'Value of a' });
    await value.fill('-');
    await expect.element(value).toHaveAccessibleDescription('Enter a number, for example -2.5 or 1e3.');
    expect(onchange.mock.lastCall![0]).toMatchObject({ readable: false, values: { args_parallel: { a: null } } });
    await value.fill('-1.0');
    await expect.poll(() => writeJson(onchange.mock.lastCall![0].values.args_parallel)).toBe('{"a":-1.0}');
    await screen.getByRole('button', { name: 'Add to Arguments' }).click();
    await expect.element(screen.getByText('Enter a name.')).toBeVisible();
    await screen.getByRole('textbox', { name: 'Name of new entry of Arguments' }).fill('a');
    await expect.element(screen.getByText('“a” exists already. Use another name.')).toBeVisible();
  });
});
