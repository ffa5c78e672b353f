/** All rows as CSV that spreadsheets open, and only read. */
import { csvLine } from '@service/contract';

import type { Made } from '../../studio/order.ts';
import type { Reading } from '../../zarr/store.ts';
import type { ExportAsk } from '../ask.ts';
import { cellsOf } from '../reading/columns.ts';
import { openSelection, readParts, shownColumns } from './parts.ts';
import { attributeColumns } from './shown.ts';

const LINES_AT_ONCE = 2000;

export async function csvFile(ask: ExportAsk, reading: Reading): Promise<Made> {
  const open = await openSelection(ask, reading);
  const shown = shownColumns(open).map(({ name }) => name);
  const attributes = attributeColumns(open);
  const facts: Record<string, string> = { 'content-type': 'text/csv; charset=utf-8' };

  async function* lines(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(csvLine([...attributes.map(({ name }) => name), ...shown]));
    for await (const { image, rows, columns } of readParts(open, shown)) {
      const ofImage = attributes.map(({ valueOf }) => valueOf(image));
      const cells = shown.map((name) => {
        const column = columns.get(name);
        return column ? cellsOf(column) : () => null;
      });
      for (let from = 0; from < rows; from += LINES_AT_ONCE) {
        let text = '';
        for (let row = from; row < Math.min(rows, from + LINES_AT_ONCE); row++)
          text += csvLine([...ofImage, ...cells.map((cell) => cell(row))]);
        yield Buffer.from(text);
      }
    }
    facts['x-table-problems'] = String(open.problems.told().num_problems);
  }

  return { content: lines(), facts };
}
