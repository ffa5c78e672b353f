/** A form for the arguments of a parallel task, and what it says. */
import { vi } from 'vitest';
import { render } from 'vitest-browser-svelte';

import ArgumentsForm from '#lib/form/ArgumentsForm.svelte';
import { type ArgumentsChange } from '#lib/form/blocks.ts';
import { type DataNames } from '#lib/form/names.ts';
import '#lib/styles/index.css';

interface Given {
  values?: unknown;
  dialect?: string;
  extra?: object;
  readOnly?: boolean;
  names?: DataNames;
}

export async function show(
  properties: object,
  { values = {}, dialect = 'pydantic_v2', extra = {}, readOnly = false, names }: Given = {},
) {
  const onchange = vi.fn<(change: ArgumentsChange) => void>();
  const screen = await render(ArgumentsForm, {
    schemas: {
      type: 'parallel',
      args_schema_version: dialect,
      args_schema_non_parallel: null,
      args_schema_parallel: { type: 'object', properties, ...extra },
    },
    values: { args_parallel: values },
    readOnly,
    names,
    onchange,
  });
  const last = () => onchange.mock.lastCall![0];
  return { screen, onchange, last, sent: () => last().values.args_parallel };
}
