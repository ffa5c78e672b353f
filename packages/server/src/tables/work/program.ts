/** The process that reads tables: see serve.ts for how it is asked. */
import { serveOrders } from '../../studio/serve.ts';
import type { Made } from '../../studio/order.ts';
import type { Reading } from '../../zarr/store.ts';
import type { Ask } from '../ask.ts';
import { datasetContents } from './contents.ts';
import { columnsFile } from './columns-file.ts';
import { csvFile } from './csv-file.ts';
import { tableGroups } from './groups.ts';
import { tableList } from './list.ts';
import { tablePage } from './page.ts';
import { parquetFile } from './parquet-file.ts';

const asJson = (value: object, facts: Made['facts'] = {}): Made => ({
  content: Buffer.from(JSON.stringify(value)),
  facts: { 'content-type': 'application/json', ...facts },
});

const withProblems = (value: { num_problems: number }): Made =>
  asJson(value, { 'x-table-problems': String(value.num_problems) });

async function make(ask: Ask, reading: Reading): Promise<Made> {
  switch (ask.kind) {
    case 'contents':
      return asJson(await datasetContents(ask, reading));
    case 'list':
      return withProblems(await tableList(ask, reading));
    case 'page':
      return withProblems(await tablePage(ask, reading));
    case 'columns':
      return columnsFile(ask, reading);
    case 'csv':
      return csvFile(ask, reading);
    case 'parquet':
      return parquetFile(ask, reading);
    case 'groups':
      return withProblems(await tableGroups(ask, reading));
  }
}

serveOrders(make, { tooLarge: 'This needs more memory than reading tables may take. Choose fewer columns or images.' });
