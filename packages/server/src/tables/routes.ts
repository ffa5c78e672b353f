/** Tables on the wire. */
import type { FastifyReply } from 'fastify';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { type Dataset, type DatasetContents, projects, type TableQuery, type User } from '@service/contract';

import type { Database } from '../db/index.ts';
import { readableFolders, type ReadableFolder } from '../folders/index.ts';
import { type Api, createLine, refuse, untilGone } from '../http/index.ts';
import { openDataset, stateOfFiles } from '../projects/index.ts';
import { sendKept } from '../studio/keep.ts';
import type { Asker } from '../studio/maker.ts';
import type { Ask, Selection } from './ask.ts';
import { chooseImages, type ImageChoice, sampleImages } from './images.ts';
import { BUSY, type TableMaker } from './maker.ts';
import { isName } from '../zarr/names.ts';

export interface TableParts {
  db: Database;
  maker: TableMaker;
  foldersOf(user: User): Promise<ReadableFolder[]>;
}

/** The list of a large plate takes the thread that answers everybody a tenth of a second, and some ten megabytes. */
const LISTS_AT_ONCE = { slots: 2, longest: 2000, longestOfOne: 200, busy: BUSY };
const NO_NAME = 'A table has a name without slashes, such as nuclei.';

/** Of a dataset without images. */
const EMPTY: DatasetContents = { num_images: 0, channels: [], labels: [], tables: [], problem: null };

interface Shown {
  format: 'json' | 'csv' | 'parquet' | 'columns';
  sort?: string | undefined;
  page: number;
  page_size: number;
  precision: 'full' | 'single';
}

interface Address {
  params: { project_id: number; dataset_id: number };
  user: User;
  reply: FastifyReply;
}

const choiceOf = ({ plate, images }: { plate?: string | undefined; images: ImageChoice['images'] }): TableQuery => ({
  attribute_filters: plate === undefined ? {} : { plate: [plate] },
  type_filters: {},
  images,
  ranges: [],
  values: [],
});

const sortOf = (sort: string | undefined) =>
  sort === undefined ? undefined : { column: sort.replace(/^-/, ''), descending: sort.startsWith('-') };

function shownAs(selection: Selection, { format, sort, page, page_size, precision }: Shown): Ask {
  switch (format) {
    case 'json':
      return { kind: 'page', ...selection, sort: sortOf(sort), page, page_size };
    case 'columns':
      return { kind: 'columns', ...selection, precision };
    default:
      return { kind: format, ...selection };
  }
}

/** What a browser calls a file that it saves. */
const fileName = (dataset: Dataset, table: string, format: Shown['format']) =>
  `${dataset.id}_${table.replace(/[^\w.-]/g, '_').slice(0, 100)}.${format}`;

export function tableRoutes(api: Api, { db, maker, foldersOf }: TableParts): void {
  const line = createLine(LISTS_AT_ONCE);

  /** Who asks, and in which dataset. */
  async function enter({ user, params, reply }: Address) {
    const dataset = await openDataset(db, user, params.project_id, params.dataset_id, 'r');
    const [list, state] = await Promise.all([foldersOf(user), stateOfFiles(db, dataset.id)]);
    const asker = { person: user.id, folders: readableFolders(list), state, signal: untilGone(reply) } satisfies Asker;
    return { dataset, asker };
  }

  /** The same, and for which images. */
  async function open(address: Address, choice: ImageChoice) {
    const { dataset, asker } = await enter(address);
    const choose = async () => {
      const chosen = await chooseImages(db, dataset, choice, asker.folders);
      // a turn for everybody else in between
      await nextTurn();
      return chosen;
    };
    return { dataset, asker, ...(await line.take(asker.person, choose, asker.signal)) };
  }

  async function select(address: Address, table: string, level: 'image' | 'plate', query: TableQuery) {
    if (!isName(table)) throw refuse(422, NO_NAME);
    const { dataset, asker, images, plates, problems } = await open(address, query);
    const { ranges, values, objects, columns } = query;
    const isImage = level === 'image';
    const selection = { table, images: isImage ? images : plates, problems: isImage ? problems : [] };
    return { dataset, asker, selection: { ...selection, ranges, values, objects, columns } };
  }

  async function show(address: Address, table: string, level: 'image' | 'plate', query: TableQuery, shown: Shown) {
    const { dataset, asker, selection } = await select(address, table, level, query);
    const answer = await sendKept(maker, shownAs(selection, shown), asker);
    if (shown.format !== 'json') {
      answer.headers['content-disposition'] = `attachment; filename="${fileName(dataset, table, shown.format)}"`;
    }
    return answer;
  }

  async function group(
    address: Address,
    table: string,
    query: TableQuery,
    { level, column: of, by }: { level: 'image' | 'plate'; column: string[]; by: string[] },
  ) {
    const { asker, selection } = await select(address, table, level, query);
    return sendKept(maker, { kind: 'groups', ...selection, of, by }, asker);
  }

  api.serve(projects.getDatasetContents, async (address) => {
    const { dataset, asker } = await enter(address);
    const images = await sampleImages(db, dataset, asker.folders);
    return images.length === 0 ? EMPTY : sendKept(maker, { kind: 'contents', images }, asker);
  });

  api.serve(projects.listTables, async ({ query, ...address }) => {
    const { asker, images, plates, problems } = await open(address, choiceOf(query));
    return sendKept(maker, { kind: 'list', images, plates, problems }, asker);
  });

  api.serve(projects.getTable, ({ query, ...address }) =>
    show(address, address.params.name, query.level, { ...choiceOf(query), columns: query.column }, query),
  );

  api.serve(projects.queryTable, ({ query, body, ...address }) =>
    show(address, address.params.name, query.level, body, query),
  );

  api.serve(projects.getTableGroups, ({ query, ...address }) =>
    group(address, address.params.name, choiceOf(query), query),
  );

  api.serve(projects.queryTableGroups, ({ query, body, ...address }) =>
    group(address, address.params.name, body, query),
  );
}
